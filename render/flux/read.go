package flux

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Setting is what a release is rendered in.
type Setting struct {
	Lock lock.Lock
	// Repository tells which sources are the repository that is read.
	Repository *Repository
	// Pinned refuses a chart whose version is a range that Lock does not settle; else
	// it is resolved when it is rendered, with a notice.
	Pinned bool
	// KubeVersion and APIVersions are those of the cluster; empty for Helm's defaults.
	KubeVersion string
	APIVersions []string
	// Cluster is what values may be taken from the cluster, by valuesKey; nil where the
	// release is rendered for none.
	Cluster map[string]string
	// Suffix is what a virtual cluster appends to the namespace of a release; empty for any
	// other cluster.
	Suffix string
	// Open says that everybody may read Secrets, so that their values may be names.
	Open bool
	// Random is what releases draw from. With the zero key they draw nothing.
	Random Random
}

// Random is a random key, the source that it draws for, and the cluster; empty where the
// release is rendered for none.
type Random struct {
	Key             draw.Key
	Source, Cluster string
	// Disguised has other values stand in place of those of Secrets.
	Disguised bool
	// Wrong says why nothing may be drawn, although releases did; empty if it may.
	Wrong string
}

// Read turns a release into a job. Without a job there is a diagnostic that says
// why: an Error, or a Notice that the release is suspended.
func Read(o *object.Object, s *Index, in Setting) (*engine.Job, []diag.Diagnostic) {
	r := reader{release: o, shelf: s, setting: in, secrets: map[string]bool{}}
	for _, secret := range o.Secrets() { // of the release that rendered it
		r.secrets[secret] = true
	}
	job := r.job()
	if diag.HasErrors(r.diags) || job == nil {
		return nil, r.diags
	}
	r.unordered()
	job.Secrets = slices.Sorted(maps.Keys(r.secrets))
	if len(job.Secrets) > 0 && !in.Open {
		masked := reader{release: withoutSecrets(o), shelf: s, setting: in, masked: true}
		if job.Masked = masked.job(); job.Masked == nil || diag.HasErrors(masked.diags) {
			job.Masked = &engine.Job{} // nothing is what it would be
		}
	}
	return job, r.diags
}

func (r *reader) job() *engine.Job {
	if isKustomization(r.release) {
		return r.kustomization()
	}
	return r.helmRelease()
}

type reader struct {
	release *object.Object
	shelf   *Index
	setting Setting
	diags   []diag.Diagnostic
	secrets map[string]bool // values that came from Secrets
	masked  bool            // others stand for those
}

// fail reports an error in a field of the release.
func (r *reader) fail(path []any, message, hint string) {
	r.report(diag.BadRelease, diag.Error, path, message, hint)
}

func (r *reader) report(code diag.Code, severity diag.Severity, path []any, message, hint string) {
	r.diags = append(r.diags, diag.Diagnostic{
		Code: code, Severity: severity, Pos: r.release.FieldPos(path),
		Message: r.release.Ref().String() + ": " + message, Hint: hint,
	})
}

func (r *reader) suspended() {
	r.report(diag.ReleaseSuspended, diag.Notice, []any{"spec", "suspend"}, "it is suspended; what it rendered to stays as it was last published", "")
}

// unordered says which fields somebody may rely on that have no part in what is rendered.
func (r *reader) unordered() {
	for _, field := range []string{"dependsOn", "healthChecks", "healthCheckExprs"} {
		if list, _ := fieldAt(r.release.Content(), "spec", field).([]any); len(list) > 0 {
			r.report(diag.NotOrdered, diag.Notice, []any{"spec", field},
				"its "+field+" does not act on a branch, of which everything is applied together and tried again until it is whole",
				"nothing is to be done if that will do; else give what comes first a lower argocd.argoproj.io/sync-wave, where Argo CD or Waybill applies")
		}
	}
}

func (r *reader) kustomization() *engine.Job {
	f, problems := kustomize.ReadFlux(r.release.Content())
	for _, p := range problems {
		r.report(diag.BadRelease, p.Severity, p.Path, p.Message, p.Hint)
	}
	if f.Suspend {
		r.suspended()
		return nil
	}
	view, ok := r.view()
	if !ok {
		return nil
	}
	r.variables(&f)
	f.Overlay.TargetNamespace = r.namespace(f.Overlay.TargetNamespace)
	return &engine.Job{Kustomize: &engine.Kustomize{Dir: f.Path, Overlay: &f.Overlay, View: view}}
}
