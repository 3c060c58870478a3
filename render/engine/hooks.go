package engine

import (
	"maps"
	"strings"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/object"
)

// Hooked is what a job rendered to, and what became of its hooks.
type Hooked struct {
	Objects []*object.Object
	// Dropped are the hooks that are left out, Translated those that Argo CD runs.
	Dropped, Translated []string
}

// WithHooks returns the objects of a result with its hooks left out, or as Argo CD runs
// them. Hooks that are tests are nobody's loss.
func (r Rendered) WithHooks(argoCD bool) Hooked {
	out := Hooked{Objects: make([]*object.Object, 0, len(r.Manifests))}
	for _, m := range r.Manifests {
		switch {
		case m.Hook == nil:
			out.Objects = append(out.Objects, m.Object)
		case m.Hook.Test():
		case argoCD && m.Hook.Syncs():
			out.Translated = append(out.Translated, m.Object.Ref().String())
			out.Objects = append(out.Objects, argoHook(m.Object, *m.Hook))
		default:
			out.Dropped = append(out.Dropped, m.Object.Ref().String())
		}
	}
	return out
}

// argoHook returns the manifest of a hook as Argo CD runs it. Helm's own annotations go:
// Argo CD would read them as well.
func argoHook(o *object.Object, h helm.Hook) *object.Object {
	annotations := map[string]any{}
	for k, v := range o.Annotations() {
		if !strings.HasPrefix(k, "helm.sh/hook") {
			annotations[k] = v
		}
	}
	for k, v := range helm.ArgoCD(h) {
		annotations[k] = v
	}
	content := maps.Clone(o.Content())
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	metadata["annotations"] = annotations
	content["metadata"] = metadata
	return o.With(content)
}
