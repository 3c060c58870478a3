package schedule

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// autoscaled adds to decisions what FederatedHPAs become, each of which goes where its template goes.
func (b *binder) autoscaled(decisions []Decision, placed []placement, scalers []*autoscale.Scaler) []Decision {
	var made []Decision
	for _, s := range scalers {
		i := b.placer.at[s.Target]
		d := &decisions[i]
		if d.Outcome != Placed && d.Outcome != Kept {
			b.diags = append(b.diags, diag.Diagnostic{
				Code: diag.ScalesNothing, Severity: diag.Warning, Pos: s.Object.FieldPos([]any{"spec", "scaleTargetRef"}),
				Message: fmt.Sprintf("%s scales %s, which no policy places", policies.Name(s.Object), s.Target),
				Hint:    "have a policy select it",
			})
			continue
		}
		is := b.autoscaler(s, d, placed[i].seatless)
		d.Scaled = b.scaled(&is)
		made = append(made, is)
	}
	b.diags = append(b.diags, autoscale.Returned(b.in.State.Bindings, func(r object.Ref) bool {
		return slices.ContainsFunc(made, func(d Decision) bool { return d.Ref() == r })
	})...)
	if len(made) == 0 {
		return decisions
	}
	all := slices.Concat(decisions, made)
	slices.SortFunc(all, func(a, b Decision) int { return a.Ref().Compare(b.Ref()) })
	return all
}

// autoscaler is the decision about what a FederatedHPA becomes, by that about its template. Where that stays as it is, because
// something is wrong, so do both.
func (b *binder) autoscaler(s *autoscale.Scaler, d *Decision, seatless []string) Decision {
	p := autoscale.Placed{Own: d.Scheduled, All: d.Targets, IsDivided: d.Divided() && d.Size.IsWorkload(), Seatless: seatless}
	if p.IsDivided {
		if compiled := b.placer.compiled(d.Policy); compiled != nil {
			p.Static, _ = place.StaticWeights(compiled, d.Scheduled)
		}
	}
	shares, diags := s.Shares(p)
	b.diags = slices.Concat(b.diags, diags, s.HandOver(shares, d.Template.Object.Labels(), b.in.Branches))
	is := Decision{
		Template: s.Template(), Policy: d.Policy, Outcome: d.Outcome, RequiredBy: d.RequiredBy, Group: d.Group,
		Reason: d.Reason, Message: d.Message, Sent: d.Sent, Scaler: s, Shares: shares,
	}
	if d.Policy != nil && d.Reason != string(place.Success) {
		is.Outcome = Kept
	}
	is.Scheduled, is.Targets = withShare(d.Scheduled, shares), withShare(d.Targets, shares)
	if m := d.Moves; m != nil {
		is.Moves = (*failover.Moves)(nil).Follow(m)
		is.Moves.With = append(is.Moves.With, m.With...)
	}
	is.Binding = b.bind(&item{template: is.Template, before: b.in.State.Bindings[is.Ref()], policy: is.Policy}, &is)
	return is
}

// withShare are the clusters that have a share of what a FederatedHPA becomes, which has no replicas itself.
func withShare(targets []Target, shares map[string]hpa.Share) (of []Target) {
	for _, c := range targets {
		if _, ok := shares[c.Name]; ok {
			of = append(of, Target{Name: c.Name})
		}
	}
	return of
}

// scaled are the clusters in which what is made of a FederatedHPA is, or will be: of what stays as it is, those where it was.
func (b *binder) scaled(d *Decision) map[string]bool {
	in, before := map[string]bool{}, b.in.State.Bindings[d.Ref()]
	for name := range d.Shares {
		wasThere := before != nil && slices.ContainsFunc(before.Spec.Clusters, func(c Target) bool { return c.Name == name })
		if d.Outcome == Placed || wasThere {
			in[name] = true
		}
	}
	return in
}
