package policies

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// customizedTwice finds the operations that two customizations teach for one kind, which
// Karmada's webhook refuses. The first by name counts; dependencies may come from several.
func (s *Set) customizedTwice() []diag.Diagnostic {
	type operation struct {
		target karmada.CustomizationTarget
		name   string
	}
	first := map[operation]Located[karmada.ResourceInterpreterCustomization]{}
	var diags []diag.Diagnostic
	for _, c := range s.Customizations {
		rules := c.Value.Spec.Customizations
		for _, o := range []struct {
			name   string
			script *karmada.LuaScript
		}{
			{"retention", rules.Retention},
			{"replicaResource", rules.ReplicaResource},
			{"componentResource", rules.ComponentResource},
			{"replicaRevision", rules.ReplicaRevision},
			{"statusReflection", rules.StatusReflection},
			{"statusAggregation", rules.StatusAggregation},
			{"healthInterpretation", rules.HealthInterpretation},
		} {
			if o.script == nil {
				continue
			}
			op := operation{c.Value.Spec.Target, o.name}
			other, taken := first[op]
			if !taken {
				first[op] = c
				continue
			}
			diags = append(diags, diag.Diagnostic{
				Code: "customized-twice", Severity: diag.Error, Pos: c.Object.FieldPos([]any{"spec", "customizations", o.name}),
				Message: fmt.Sprintf("%s: %s of %s %s is also customized by %s at %s", Name(c.Object), o.name, op.target.APIVersion, op.target.Kind, Name(other.Object), other.Object.Pos()),
				Hint:    "remove one of them; until then the first by name counts",
			})
		}
	}
	return diags
}
