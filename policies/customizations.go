package policies

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
)

// customization is a ResourceInterpreterCustomization in force.
type customization = Located[karmada.ResourceInterpreterCustomization]

// learn makes the interpreter. A customization with a script that does not compile is
// broken, as for Karmada's webhook; a script that cannot run for another reason makes its
// operation fail: what it was asked for stays as it was.
func (s *Set) learn() []diag.Diagnostic {
	diags := s.secretScripts()
	s.Interpreter = s.interpreter()
	refused := map[string]bool{}
	for _, e := range s.Interpreter.Wrong() {
		if e.Refused {
			refused[e.Customization] = true
			diags = append(diags, s.badScript(e, "the customization stays as it was last published"))
		}
	}
	if len(refused) > 0 {
		s.Customizations = slices.DeleteFunc(s.Customizations, func(c customization) bool {
			if refused[c.Value.Name] {
				s.Broken = append(s.Broken, render.Broken{Ref: c.Object.Ref()})
			}
			return refused[c.Value.Name]
		})
		s.Interpreter = s.interpreter()
	}
	for _, e := range s.Interpreter.Wrong() {
		diags = append(diags, s.badScript(e, "what the script would say is not known, so that objects of its kind stay as they were last published"))
	}
	return diags
}

// interpreter makes an interpreter of the customizations in force.
func (s *Set) interpreter() *interpret.Interpreter {
	all := make([]*karmada.ResourceInterpreterCustomization, 0, len(s.Customizations))
	for _, c := range s.Customizations {
		all = append(all, c.Value)
	}
	return interpret.New(all...)
}

// badScript says what is wrong with a script.
func (s *Set) badScript(e interpret.ScriptError, after string) diag.Diagnostic {
	i := slices.IndexFunc(s.Customizations, func(c customization) bool { return c.Value.Name == e.Customization })
	o, where := s.Customizations[i].Object, e.Field
	if e.Line > 0 {
		where = fmt.Sprintf("%s, line %d of the script", e.Field, e.Line)
	}
	return diag.Diagnostic{
		Code: diag.BadScript, Severity: diag.Error, Pos: o.LinePos([]any{"spec", "customizations", e.Field, "luaScript"}, e.Line),
		Message: fmt.Sprintf("%s: %s: %s", Name(o), where, e.Message), Hint: after,
	}
}

// secretScripts warns of customizations that nobody asks.
func (s *Set) secretScripts() []diag.Diagnostic {
	var diags []diag.Diagnostic
	for _, c := range s.Customizations {
		if t := c.Value.Spec.Target; interpret.Private(t.APIVersion, t.Kind) {
			diags = append(diags, diag.Diagnostic{
				Code: diag.SecretScript, Severity: diag.Warning, Pos: c.Object.FieldPos([]any{"spec", "target"}),
				Message: Name(c.Object) + " is about Secrets, of which no script is told",
				Hint:    "remove it; what a script says is seen by others than those who may read a Secret",
			})
		}
	}
	return diags
}

// customizedTwice finds the operations that two customizations teach for one kind, which
// Karmada's webhook refuses. The first by name counts; dependencies may come from several.
func (s *Set) customizedTwice() []diag.Diagnostic {
	type operation struct {
		target karmada.CustomizationTarget
		name   string
	}
	first := map[operation]customization{}
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
				Code: diag.CustomizedTwice, Severity: diag.Error, Pos: c.Object.FieldPos([]any{"spec", "customizations", o.name}),
				Message: fmt.Sprintf("%s: %s of %s %s is also customized by %s at %s", Name(c.Object), o.name, op.target.APIVersion, op.target.Kind, Name(other.Object), other.Object.Origin()),
				Hint:    "remove one of them; until then the first by name counts",
			})
		}
	}
	return diags
}
