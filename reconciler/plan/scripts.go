package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// healthScripts reads the scripts of the ConfigMap that the config names: of one that a policy may
// place, or else of the first cluster's own folder that has it. While there is none, the scripts stay
// that were published last.
func (in *Input) healthScripts() (argocd.Scripts, []diag.Diagnostic) {
	name := in.Source.Config.Health.ArgoCDConfigMap
	if name == "" {
		return argocd.Scripts{}, nil
	}
	if o := in.configMap(name); o != nil {
		return policies.HealthScripts(o)
	}
	return in.State.Scripts, []diag.Diagnostic{{
		Code: diag.NoHealthScripts, Severity: diag.Error, Pos: diag.Pos{File: render.ConfigFile},
		Message: fmt.Sprintf("spec.health.argocdConfigMap is %q, and the source has no such ConfigMap", name),
		Hint:    "add it to the source, or take the field away; until then the scripts count that were published last",
	}}
}

// configMap finds a ConfigMap by namespace/name; nil if there is none.
func (in *Input) configMap(name string) *object.Object {
	is := func(o *object.Object) bool {
		r := o.Ref()
		return r.Group == "" && r.Kind == "ConfigMap" && r.Namespace+"/"+r.Name == name
	}
	for _, t := range in.Expanded.Templates {
		if is(t.Object) {
			return t.Object
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(in.Expanded.Bound)) {
		if i := slices.IndexFunc(in.Expanded.Bound[cluster], is); i >= 0 {
			return in.Expanded.Bound[cluster][i]
		}
	}
	return nil
}
