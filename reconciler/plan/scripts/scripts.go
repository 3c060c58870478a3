// Package scripts finds the ConfigMap with health scripts for Argo CD that the config of a source names.
package scripts

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// Read reads the scripts of the ConfigMap of a name, empty for none: of one that a policy may place, or else of the first cluster's
// own folder that has it. While there is none, the scripts stay that were published last.
func Read(name string, x *expand.Result, last argocd.Scripts) (argocd.Scripts, []diag.Diagnostic) {
	if name == "" {
		return argocd.Scripts{}, nil
	}
	if o := configMap(name, x); o != nil {
		return policies.HealthScripts(o)
	}
	return last, []diag.Diagnostic{{
		Code: diag.NoHealthScripts, Severity: diag.Error, Pos: diag.Pos{File: render.ConfigFile},
		Message: fmt.Sprintf("spec.health.argocdConfigMap is %q, and the source has no such ConfigMap", name),
		Hint:    "add it to the source, or take the field away; until then the scripts count that were published last",
	}}
}

// configMap finds a ConfigMap by namespace/name; nil if there is none.
func configMap(name string, x *expand.Result) *object.Object {
	is := func(o *object.Object) bool {
		r := o.Ref()
		return r.Group == "" && r.Kind == "ConfigMap" && r.Namespace+"/"+r.Name == name
	}
	for _, t := range x.Templates {
		if is(t.Object) {
			return t.Object
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(x.Bound)) {
		if i := slices.IndexFunc(x.Bound[cluster], is); i >= 0 {
			return x.Bound[cluster][i]
		}
	}
	return nil
}
