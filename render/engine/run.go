package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/kustomize/build"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// output is what Run returns, as JSON.
type output struct {
	Documents []document        `json:"documents,omitempty"`
	Diags     []diag.Diagnostic `json:"diags,omitempty"`
	// Places are where the source has what was built.
	Places []kustomize.Place `json:"places,omitempty"`
}

// document is YAML, of one manifest or of several.
type document struct {
	Source string     `json:"source,omitempty"` // the template, where it is known
	Data   []byte     `json:"data"`
	Hook   *helm.Hook `json:"hook,omitempty"`
}

// placed says of diagnostics which template they are about.
func (d document) placed(diags []diag.Diagnostic) []diag.Diagnostic {
	for i := range diags {
		if d.Source != "" {
			diags[i].Message = d.Source + ": " + diags[i].Message
		}
	}
	return diags
}

// Run does a job, which is JSON, and returns its output, which Decode reads. It reads
// nothing but fsys: the files of the source and, below Charts, of the charts. What is
// wrong with what it reads is part of the output; an error is ours.
func Run(job []byte, fsys fs.FS) ([]byte, error) {
	var j Job
	if err := json.Unmarshal(job, &j); err != nil {
		return nil, fmt.Errorf("decoding a job: %w", err)
	}
	if j.Kustomize == nil && j.Helm == nil {
		return nil, errors.New("a job is neither of Kustomize nor of Helm")
	}
	out := j.run(fsys)
	out.keepNames(j, fsys)
	out.redact(j.Secrets)
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encoding the output of a job: %w", err)
	}
	return data, nil
}

func (j Job) run(fsys fs.FS) output {
	var out output
	switch {
	case j.Kustomize != nil:
		out.kustomize(j.Kustomize, fsys)
	case j.Helm != nil:
		out.helm(j.Helm, fsys)
	}
	return out
}

// redact takes secrets out of what is said.
func (o *output) redact(secrets []string) {
	hide := object.Redactor(secrets)
	for i := range o.Diags {
		o.Diags[i].Message, o.Diags[i].Hint = hide.Replace(o.Diags[i].Message), hide.Replace(o.Diags[i].Hint)
	}
}

func (o *output) fail(code diag.Code, message, hint string) {
	o.Diags = append(o.Diags, diag.Diagnostic{Code: code, Severity: diag.Error, Message: message, Hint: hint})
}

func (o *output) kustomize(k *Kustomize, fsys fs.FS) {
	files := fsys // the charts of repositories are here, whatever the view is
	source := func(file string) string { return file }
	if k.View != nil {
		arranged, err := view(fsys, k.View)
		if err != nil {
			o.fail(diag.BadRelease, err.Error(), "")
			return
		}
		fsys, source = sources.Arranged(fsys, arranged), func(file string) string { return cmp.Or(arranged[file], file) }
	}
	built, err := build.Kustomization(fsys, build.Options{Dir: k.Dir, Overlay: k.Overlay, Inflate: func(c kustomize.HelmChart) ([]byte, error) {
		return inflate(fsys, files, c)
	}})
	if e, ok := errors.AsType[*build.Error](err); ok {
		for _, d := range e.Diags {
			d.Pos.File = source(d.Pos.File)
			o.Diags = append(o.Diags, d)
		}
		return
	}
	if err != nil {
		o.fail(diag.Kustomize, err.Error(), "")
		return
	}
	o.Documents = append(o.Documents, document{Data: built.Stream})
	for _, p := range built.Places {
		p.Pos.File = source(p.Pos.File)
		o.Places = append(o.Places, p)
	}
}

// Decode reads the output of Run. It holds every document against the limits of
// manifests, for Run may have been led astray.
func Decode(data []byte) (Rendered, error) {
	var out output
	if err := json.Unmarshal(data, &out); err != nil {
		return Rendered{}, fmt.Errorf("decoding the output of a job: %w", err)
	}
	r := Rendered{Diags: out.Diags}
	places := kustomize.NewPlaces(out.Places)
	for _, doc := range out.Documents {
		d := object.Decode("", doc.Data)
		r.Diags = append(r.Diags, doc.placed(d.Diags)...)
		if d.NotManifests > 0 {
			r.Diags = append(r.Diags, diag.Diagnostic{
				Code: diag.NoManifest, Severity: diag.Error,
				Message: cmp.Or(doc.Source, "it") + " renders a document without apiVersion or kind",
				Hint:    "every document that a chart renders is a manifest; look for an if or a range around the top of a template",
			})
		}
		for _, o := range d.Objects {
			if at, ok := places.Of(o.Ref().Kind, o.Ref().Namespace, o.Ref().Name); ok {
				o = o.Written(at)
			}
			r.Manifests = append(r.Manifests, Manifest{Object: o, Hook: doc.Hook})
		}
	}
	return r, nil
}

// Unrendered is what jobs render to where nothing renders.
func Unrendered(jobs []Job) ([]Rendered, error) {
	out := make([]Rendered, len(jobs))
	for i := range out {
		out[i].Diags = []diag.Diagnostic{{Code: diag.NotRendered, Severity: diag.Error, Message: "nothing here renders releases"}}
	}
	return out, nil
}
