package build

import (
	"fmt"
	"io/fs"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/kustomize"
)

// Options say what to build.
type Options struct {
	// Dir is the folder to build, a path inside the file system with slashes; "." is
	// its root.
	Dir string
	// Overlay is what a Flux Kustomization adds. Nil builds Dir as kubectl does.
	Overlay *kustomize.Overlay
	// Inflate renders a chart that a kustomization lists and returns a stream of
	// manifests. An error is taken for the chart's. Nil refuses charts.
	Inflate func(kustomize.HelmChart) ([]byte, error)
}

// Result is what a kustomization builds.
type Result struct {
	// Stream is the manifests: YAML documents with "---" between them, in kustomize's order.
	Stream []byte
	Places []kustomize.Place
}

// Kustomization builds a kustomization. What the source has wrong is an *Error; any other error is
// a mistake of the caller's. It reads only what fsys holds. It is not safe for concurrent
// use, in one process, of whatever file systems.
func Kustomization(fsys fs.FS, o Options) (Result, error) {
	if !fs.ValidPath(o.Dir) {
		return Result{}, fmt.Errorf("building %q: it is no path inside the repository", o.Dir)
	}
	v := &view{fsys: fsys, over: map[string][]byte{}}
	s := newScan(v, o.Inflate)
	empty := false
	if o.Overlay == nil {
		s.folder(o.Dir, diag.Pos{})
	} else {
		empty = s.overlaid(o.Dir, o.Overlay)
	}
	if len(s.found) == 0 {
		s.charts(o.Dir)
		s.rewrite()
	}
	if len(s.found) > 0 {
		return Result{}, &Error{Diags: s.found}
	}
	if empty {
		return Result{}, nil
	}
	out, err := run(v, s.kusts, o)
	if err != nil {
		s.refuse(diag.Pos{File: v.built(o.Dir)}, diag.KustomizeBuild, fmt.Sprintf("building %s: %s", o.Dir, s.redacted(err.Error())), "")
		return Result{}, &Error{Diags: s.found}
	}
	return Result{Stream: out, Places: s.places()}, nil
}

// built returns the file of the source that a build of dir begins with: none if the
// folder has no kustomization.
func (v *view) built(dir string) string {
	for _, file := range v.kustfiles(dir) {
		if _, err := fs.Stat(v.fsys, file); err == nil {
			return file
		}
	}
	return ""
}

// run builds what was scanned: these kustomizations. A panic of kustomize's, which malformed objects can
// bring about, is an error.
func run(v *view, scanned map[string]*kustfile, o Options) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("kustomize panics: %v", r)
		}
	}()
	if choosesSchema(scanned) {
		// A process has one schema. Another one comes on top of what was read before, and stays for the next build;
		// the builtin one may stay, and takes 58 ms to read again.
		openapi.ResetOpenAPI()
		defer openapi.ResetOpenAPI()
		if o.Overlay != nil {
			openapi.Schema() // so that a schema of the source adds to the builtin one
		}
	}
	opts := &krusty.Options{
		Reorder:          krusty.ReorderOptionUnspecified,
		LoadRestrictions: types.LoadRestrictionsRootOnly,
		PluginConfig:     types.DisabledPluginConfig(),
	}
	if o.Overlay != nil {
		opts.LoadRestrictions = types.LoadRestrictionsNone
	}
	m, err := krusty.MakeKustomizer(opts).Run(v, "/"+o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Overlay != nil {
		if err := finish(o.Overlay, m); err != nil {
			return nil, err
		}
	}
	return m.AsYaml()
}

// choosesSchema reports whether one of the kustomizations has a field openapi.
func choosesSchema(all map[string]*kustfile) bool {
	for _, k := range all {
		if len(k.OpenAPI) > 0 {
			return true
		}
	}
	return false
}
