// Package schedule decides where every template goes: which policy claims it, which clusters
// it gets, with how many replicas, and what it pulls along.
//
// Decide is a row of passes, each from values to values: the templates are scaled by schedules and
// become items, policies claim items, items are placed (and leave clusters, by packages failover and
// deschedule), placements are held to the quotas of their namespaces, moves end, what is needed is
// pulled along, and what FederatedHPAs become goes where their templates go. What was decided about a template before is
// what its binding says; division is steady from there, as Karmada's is.
//
// The package says what should be. Whether that can be carried out is settled later, by package
// rollout: an item of which it cannot be told where it should be is Kept, with the code of the reason,
// and is blocked where it was.
package schedule

import (
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
)

// Decide decides about every template.
func Decide(in Input) Result {
	scaled := scaleAll(&in)
	items, diags := open(&in, &scaled)
	p := newPlacer(&in, items)
	placed := p.all()
	placed, over := withinQuotas(&in, items, placed)
	pulled := pulledLazily(&in, items)
	placed, ended := endMoves(&in, p, placed, pulled)
	needed, unknown := pullDependencies(&in, p, placed, pulled)
	b := binder{in: &in, placer: p}
	r := Result{Decisions: make([]Decision, len(items)), Record: ended.Record}
	for i := range items {
		r.Decisions[i] = b.conclude(i, &placed[i], &needed[i])
	}
	r.Decisions = b.autoscaled(r.Decisions, placed, scaled.federated.Scalers)
	r.Recheck = scaled.recheck.And(p.progress.Recheck).And(ended.Recheck).And(b.recheck)
	r.Diags = slices.Concat(scaled.diags, diags, p.diags, over, ended.Diags, unknown, b.diags)
	return r
}

// Release says which policy claims a release, and where it goes, before anything is known
// of what it renders to; nil if none does. What there is to say is said by Decide, which
// decides alike.
func Release(in Input, t *template.Template) (*policies.Propagation, []Target) {
	it := item{template: t, before: in.State.Bindings[t.Ref()], isRecovered: in.isRecovered(t)}
	it.policy, it.claim, _ = claimOf(&in, &it)
	if it.policy == nil {
		return nil, nil
	}
	in.Descheduler = nil // it moves no release
	placed := newPlacer(&in, []item{it}).all()
	return it.policy, placed[0].clusters
}

// endMoves ends the moves whose time has come, and notes of what templates pulled along which clusters
// these leave.
func endMoves(in *Input, p *placer, placed []placement, pulled func() Pulled) ([]placement, failover.Ended) {
	if p.evictor == nil {
		if in.Failover == nil {
			return placed, failover.Ended{}
		}
		return placed, failover.Ended{Record: in.Failover.Record}
	}
	var moving []int
	var of []failover.Placed
	for i := range placed {
		it := &p.items[i]
		fails := it.policy != nil && it.policy.Spec.Failover != nil && it.policy.Spec.Failover.Application != nil
		if placed[i].moves == nil && !fails {
			continue
		}
		moving = append(moving, i)
		of = append(of, failover.Placed{
			Item: p.leaver(it), Moves: placed[i].moves, IsKept: placed[i].isKept,
			IsPlaced: placed[i].reason == string(place.Success), Clusters: placed[i].clusters,
		})
	}
	ended := p.evictor.End(of, p.progress)
	placed = slices.Clone(placed)
	for n, i := range moving {
		placed[i].moves = ended.Moves[n]
	}
	for n, i := range moving {
		if m := ended.Moves[n]; m != nil && len(m.Tasks)+len(m.Over) > 0 {
			for _, r := range pulled().Of(p.items[i].ref()) {
				dep := &placed[p.at[r]]
				dep.moves = dep.moves.Follow(m)
			}
		}
	}
	return placed, ended
}
