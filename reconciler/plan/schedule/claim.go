package schedule

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
)

// claim is what became of an item that no policy places.
type claim struct {
	outcome Outcome
	message string
}

// claimOf finds the policy of an item. What a release renders to has the policy that selects the
// release. It may have something to say.
func claimOf(in *Input, it *item) (*policies.Propagation, claim, diag.Diagnostic) {
	t := it.template
	if t.Part != nil {
		return t.Part.Policy, claim{}, diag.Diagnostic{}
	}
	selected := t.Selected()
	p := in.Policies.Claims.Policy(selected)
	if p == nil {
		return nil, claim{}, nearMiss(in, it)
	}
	labels := selected.Labels
	if p.Owns() { // which that label says
		labels = maps.Clone(labels)
		delete(labels, match.ClaimedBy)
	}
	if why := in.Policies.Skips.Why(t.Object.APIVersion(), it.ref(), labels); why != "" {
		return nil, claim{Skipped, why}, diag.Diagnostic{
			Code: diag.NeverPropagated, Severity: diag.Notice, Pos: t.Object.Origin(),
			Message: fmt.Sprintf("%s selects %s, which is not propagated: %s", p, it.ref(), why),
		}
	}
	if p.Waits != "" && len(it.placed()) == 0 {
		return nil, claim{message: fmt.Sprintf("%s waits for the override policy %s", p, p.Waits)}, diag.Diagnostic{}
	}
	return p, claim{}, changedClaim(it, p)
}

// nearMiss says that a policy would claim an item of another version; nothing if none would.
func nearMiss(in *Input, it *item) diag.Diagnostic {
	p, apiVersion := in.Policies.Claims.NearMiss(it.template.Selected())
	if p == nil {
		return diag.Diagnostic{}
	}
	o := cmp.Or(it.template.MadeOf, it.template.Object)
	return diag.Diagnostic{
		Code: diag.VersionMismatch, Severity: diag.Warning, Pos: o.Origin(),
		Message: fmt.Sprintf("%s selects %s of %s, but the object is written as %s, so that nothing selects it", p, o.Ref().Kind, apiVersion, o.APIVersion()),
		Hint:    "write the same apiVersion in both places",
	}
}

// changedClaim says that another policy claims an item than before; nothing if the same does.
// Karmada would have kept the first one.
func changedClaim(it *item, p *policies.Propagation) diag.Diagnostic {
	if it.before == nil {
		return diag.Diagnostic{}
	}
	was := state.PolicyOf(it.before)
	if was == "" || was == policies.Name(p.Object) {
		return diag.Diagnostic{}
	}
	d := diag.Diagnostic{
		Code: diag.ClaimMoved, Severity: diag.Notice, Pos: p.Object.Origin(),
		Message: fmt.Sprintf("%s now claims %s, which %s claimed before", p, it.ref(), was),
	}
	if !p.Owns() && !state.IsOwned(it.before) {
		d.Hint = "in Karmada this needs preemption; here claims are judged afresh at each commit"
	}
	return d
}
