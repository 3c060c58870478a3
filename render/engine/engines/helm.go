package engines

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/helm"
	helmbuild "github.com/waybill-dev/waybill/render/helm/build"
	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/kustomize/build"
	"github.com/waybill-dev/waybill/sources"
)

// helm renders a release. The chart's files are at h.Chart.Path of fsys, or are all
// of it.
func (o *output) helm(h *engine.Helm, fsys fs.FS) {
	release := h.Release
	if h.Chart.Path != "" {
		release.Source = fsys
		sub, err := withDependencies(fsys, h.Chart.Path)
		if err != nil {
			o.fail(diag.Helm, err.Error(), "")
			return
		}
		fsys = sub
	}
	rendered, err := helmbuild.Template(fsys, release)
	if e, ok := errors.AsType[*helm.Error](err); ok {
		o.fail(diag.Helm, e.Error(), e.Hint)
		return
	}
	if err != nil {
		o.fail(diag.Helm, err.Error(), "")
		return
	}
	for _, n := range rendered.Notices {
		o.Diags = append(o.Diags, diag.Diagnostic{Code: diag.HelmNotice, Severity: diag.Notice, Message: draw.Hide(n, rendered.Drawn)})
	}
	documents := make([]engine.Document, 0, len(rendered.Manifests))
	for _, m := range rendered.Manifests {
		if m.Hook == nil || !h.NoHooks {
			documents = append(documents, engine.Document{Source: m.Source, Data: m.Data, Hook: m.Hook})
		}
	}
	if len(h.Post) > 0 {
		documents, err = postRender(documents, h.Post)
	}
	if err != nil {
		o.fail(diag.Helm, "post-rendering: "+draw.Hide(err.Error(), rendered.Drawn), "")
		return
	}
	if (engine.Job{Helm: h}).DrawsOnce() {
		for i, d := range documents {
			documents[i].Data = []byte(draw.Mask(string(d.Data), rendered.Drawn))
		}
	}
	o.Documents = append(o.Documents, documents...)
}

// postRender applies overlays to what a release renders to. Hooks pass: as in Helm,
// a post-renderer is not given them.
func postRender(documents []engine.Document, overlays []kustomize.Overlay) ([]engine.Document, error) {
	var manifests, hooks []engine.Document
	for _, d := range documents {
		if d.Hook != nil {
			hooks = append(hooks, d)
		} else {
			manifests = append(manifests, d)
		}
	}
	stream := join(manifests)
	for i := range overlays {
		files := sources.Tree(map[string][]byte{
			"release.yaml":       stream,
			"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- release.yaml\n"),
		})
		built, err := build.Kustomization(files, build.Options{Dir: ".", Overlay: &overlays[i]})
		if err != nil {
			return nil, err
		}
		stream = built.Stream
	}
	return append([]engine.Document{{Data: stream}}, hooks...), nil
}

// join makes one stream of documents.
func join(documents []engine.Document) []byte {
	var all bytes.Buffer
	for _, d := range documents {
		all.WriteString("---\n")
		all.Write(bytes.TrimRight(d.Data, "\n"))
		all.WriteString("\n")
	}
	return all.Bytes()
}
