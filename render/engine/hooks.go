package engine

import (
	"fmt"
	"maps"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// WithHooks returns the objects that a release rendered to, with its hooks left out, or as
// Argo CD runs them, and says which. Hooks that are tests are nobody's loss.
func (r Rendered) WithHooks(release *object.Object, argoCD bool) (objects []*object.Object, diags []diag.Diagnostic) {
	var dropped, translated []string
	for _, m := range r.Manifests {
		switch {
		case m.Hook == nil:
			objects = append(objects, m.Object)
		case m.Hook.Test():
		case argoCD && m.Hook.Syncs():
			translated = append(translated, m.Object.Ref().String())
			objects = append(objects, argoHook(m.Object, *m.Hook))
		default:
			dropped = append(dropped, m.Object.Ref().String())
		}
	}
	if len(dropped) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.HooksDropped, Severity: diag.Warning, Pos: release.Origin(),
			Message: fmt.Sprintf("%s has hooks, which run at no time on a branch and are left out: %s", release.Ref(), words.List(dropped)),
			Hint:    "turn the chart's hooks off in values if it can do without them, or write the jobs out as manifests; for Argo CD and waybill apply, which run them, set spec.publish.hooks: argocd in waybill.yaml",
		})
	}
	if len(translated) > 0 {
		diags = append(diags, diag.Diagnostic{
			Code: diag.HooksTranslated, Severity: diag.Notice, Pos: release.Origin(),
			Message: fmt.Sprintf("%s has hooks, which Argo CD and waybill apply run at each sync: %s", release.Ref(), words.List(translated)),
		})
	}
	return objects, diags
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
