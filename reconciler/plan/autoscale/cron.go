package autoscale

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// group is that of FederatedHPAs.
const group = "autoscaling.karmada.io"

// Federated reports a CronFederatedHPA that scales a FederatedHPA, and no template.
func Federated(c *karmada.CronFederatedHPA) bool {
	in, _ := object.GroupVersion(c.Spec.ScaleTargetRef.APIVersion)
	return in == group
}

// rule is where a rule of a CronFederatedHPA stands.
type rule struct {
	by policies.Located[karmada.CronFederatedHPA]
	n  int
}

func (r rule) report(code diag.Code, severity diag.Severity, field, message, hint string) diag.Diagnostic {
	return diag.Diagnostic{
		Code: code, Severity: severity, Pos: r.by.Object.FieldPos([]any{"spec", "rules", r.n, field}),
		Message: policies.Name(r.by.Object) + " " + message, Hint: hint,
	}
}

// inForce returns the bounds of a FederatedHPA by all CronFederatedHPAs that scale it.
func (f *finder) inForce(l policies.Located[karmada.FederatedHPA]) scale.Bounds {
	var from []rule
	var rules []karmada.CronFederatedHPARule
	for _, c := range f.in.Set.Scalers {
		if TargetOf(&c.Value.Spec.ScaleTargetRef, c.Object) != l.Object.Ref() {
			continue
		}
		for n, r := range c.Value.Spec.Rules {
			from, rules = append(from, rule{c, n}), append(rules, r)
		}
	}
	if len(rules) == 0 {
		return hpa.BoundsOf(l.Value)
	}
	now := scale.BoundsInForce(hpa.BoundsOf(l.Value), rules, f.in.Now)
	f.result.Recheck = f.result.Recheck.By(now.Next, f.in.Now)
	for _, i := range slices.Sorted(maps.Keys(now.Wrong)) {
		f.report(from[i].report(diag.BadSchedule, diag.Error, "schedule", now.Wrong[i].Error(), ""))
	}
	for _, i := range now.Passed {
		f.report(from[i].report(diag.RulePassedOver, diag.Warning, "name",
			fmt.Sprintf("rule %s is passed over: %s would have a least above its most", rules[i].Name, policies.Name(l.Object)),
			"write targetMinReplicas and targetMaxReplicas, or mend the bounds of the FederatedHPA"))
	}
	return now.Bounds
}

// unknown reports what scales a FederatedHPA that is not in the source.
func (f *finder) unknown() {
	for _, c := range f.in.Set.Scalers {
		if !Federated(c.Value) {
			continue
		}
		target := TargetOf(&c.Value.Spec.ScaleTargetRef, c.Object)
		if slices.ContainsFunc(f.in.Set.Autoscalers, func(l policies.Located[karmada.FederatedHPA]) bool { return l.Object.Ref() == target }) {
			continue
		}
		f.report(diag.Diagnostic{
			Code: diag.ScalesNothing, Severity: diag.Warning, Pos: c.Object.FieldPos([]any{"spec", "scaleTargetRef"}),
			Message: fmt.Sprintf("%s scales %s, which is not in the source", policies.Name(c.Object), target),
			Hint:    "check its name, and that both are in one namespace",
		})
	}
}
