// Package engine says what there is to render, and what came of it: a Kustomize build or
// a Helm release, with what comes after a release. It joins the packages kustomize
// and helm, of which neither knows the other.
//
// A Job is a value: equal jobs over equal files give equal results, so that its Key
// is half of what a result can be remembered by; the other half is what was read.
// The room engines does jobs; who asks for them, and who reads what they rendered to, does without it.
package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
)

// version is that of what jobs mean. It changes with the engines, so that nothing
// that an older one rendered is taken for the result of a newer one.
const version = 3

// Job is one thing to render: exactly one of Kustomize and Helm is set.
type Job struct {
	Kustomize *Kustomize `json:"kustomize,omitempty"`
	Helm      *Helm      `json:"helm,omitempty"`
	// Secrets are the values that came from Secrets. No diagnostic shows them.
	Secrets []string `json:"secrets,omitempty"`
	// Masked is the job with other values in their place: what it names alike is not
	// named by a secret. Nil where names may hold secrets.
	Masked *Job `json:"masked,omitempty"`
}

// Kustomize is a build of a folder of the source.
type Kustomize struct {
	Dir     string             `json:"dir"`
	Overlay *kustomize.Overlay `json:"overlay,omitempty"`
	// View arranges the source's files before the build, as Flux's ArtifactGenerator
	// does; nil is the source as it is.
	View []Copy `json:"view,omitempty"`
}

// Helm is a release of a chart.
type Helm struct {
	Chart   Chart        `json:"chart"`
	Release helm.Release `json:"release"`
	NoHooks bool         `json:"noHooks,omitempty"` // hooks are not part of it
	// Post are the post-renderers, applied in order.
	Post []kustomize.Overlay `json:"post,omitempty"`
}

// Copy puts what a pattern of the source names into a folder of the view.
type Copy struct {
	From     string   `json:"from"` // slash-separated; a file, a folder, or a pattern of one
	To       string   `json:"to"`   // ends in a slash if it is a folder
	Exclude  []string `json:"exclude,omitempty"`
	Optional bool     `json:"optional,omitempty"` // From may match nothing
}

// Chart says where a chart is: in a folder of the source, or in a repository.
type Chart struct {
	Path   string      `json:"path,omitempty"`
	Ref    lock.Ref    `json:"ref,omitzero"`
	Locked *lock.Entry `json:"locked,omitempty"` // nil: resolved when it is rendered
}

// Namespace is the one that objects without a namespace get.
func (j Job) Namespace() string {
	if j.Helm != nil {
		return j.Helm.Release.Namespace
	}
	return "default"
}

// Target is the namespace into which the job puts objects whatever their manifests say, or by
// the words of a chart; empty for none.
func (j Job) Target() string {
	switch {
	case j.Helm != nil:
		return j.Helm.Release.Namespace
	case j.Kustomize != nil && j.Kustomize.Overlay != nil:
		return j.Kustomize.Overlay.TargetNamespace
	}
	return ""
}

// Draws reports that the job may draw.
func (j Job) Draws() bool { return j.Helm != nil && j.Helm.Release.Draw != nil }

// DrawsOnce reports that what the job draws from is thrown away.
func (j Job) DrawsOnce() bool { return j.Draws() && j.Helm.Release.Draw.Masked }

// Restless returns a function of time that the job may call, so that its result may be another one each time; empty for none.
func (j Job) Restless() (function string) {
	if j.Helm != nil {
		function, _ = helm.Restless(j.Helm.Release.Allow)
	}
	return function
}

// Chart is the chart of a release; nil for what is none.
func (j Job) Chart() *Chart {
	if j.Helm == nil {
		return nil
	}
	return &j.Helm.Chart
}

// Name is what messages call a job.
func (j Job) Name() string {
	if j.Helm != nil {
		return "release " + j.Helm.Release.Namespace + "/" + j.Helm.Release.Name
	}
	return "kustomization " + j.Kustomize.Dir
}

// Key identifies a job. Of what it draws from, the public part is in it.
func (j Job) Key() string {
	if j.Draws() {
		public := *j.Helm
		of := public.Release.Draw.Public()
		public.Release.Draw, j.Helm = &of, &public
	}
	data, err := json.Marshal(struct {
		Version int
		Job     Job
	}{version, j})
	if err != nil {
		panic("engine: a job is no JSON: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Rendered is the result of a job.
type Rendered struct {
	Manifests []Manifest
	// Diags say what is wrong or worth knowing. Those without a file are about the job
	// itself. With an error among them there is no result.
	Diags []diag.Diagnostic
	// Inputs is equal for equal files of the source that the job read; empty where it read
	// none, or where that is not known.
	Inputs string
	// Lacks are the charts of repositories for want of which the job was not done, where whoever did it
	// lists them instead.
	Lacks []lock.Ref
}

// Failed reports that there is no result.
func (r Rendered) Failed() bool { return diag.HasErrors(r.Diags) }

// Manifest is one object that a job rendered to.
type Manifest struct {
	Object *object.Object
	Hook   *helm.Hook // nil for what is no hook
}
