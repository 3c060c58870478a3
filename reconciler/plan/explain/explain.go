// Package explain tells everything that decided where one template goes, and what it is there: of a plan that is made.
package explain

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// Explanation is everything that decided where one template goes and what it is there.
type Explanation struct {
	Decision *plan.Decision
	// Winner is the policy that selects it, or the release that renders it; nil for none.
	// Losers selected it, too.
	Winner    *policies.Propagation
	Losers    []match.Loser
	Answers   []interpret.Answer
	Placement *place.Report
	Clusters  []Written   // in the order of names
	Moves     []plan.Move // by which it leaves clusters for others
	Services  []services.About
	// Rollout is what is to be recorded of the unit with which it goes out in stages; nil for none.
	Rollout *rollouts.Rollout
}

// Written is what the template is in one cluster.
type Written struct {
	Cluster  string
	Replicas int32
	Changes  []override.Applied
	Err      error         // why it cannot be written
	Left     *rollout.Left // nothing of the decision is carried out there; nil: all of it is
}

// Template tells how a plan decided about one template, and what of it is carried out;
// false if its source has no such template.
func Template(p *plan.Plan, r object.Ref) (Explanation, bool) {
	scheduled, found := schedule.Explain(p.Asked, p.Decisions, r)
	if !found {
		return Explanation{}, false
	}
	l := p.Expanded.Policies
	l.Interpreter.Renew() // to be asked again, whatever the plan has spent
	d, left := schedule.Find(p.Decisions, r), p.Left[r]
	e := Explanation{
		Decision: d, Moves: moves(p, r), Services: p.Services.About(r), Answers: l.Interpreter.Answers(d.Template.Content),
		Winner: scheduled.Winner, Losers: scheduled.Losers, Placement: scheduled.Placement,
	}
	if n := p.Units[r]; n > 0 {
		e.Rollout = p.Rollouts[n-1].After
	}
	for _, target := range d.Targets {
		w := Written{Cluster: target.Name, Replicas: target.Replicas}
		w.Changes, w.Err = manifest.Explain(l, d, target)
		e.Clusters = append(e.Clusters, w)
	}
	for cluster, is := range left.All() {
		name := p.Clusters[cluster].Name
		n := slices.IndexFunc(e.Clusters, func(w Written) bool { return w.Cluster == name })
		if n < 0 {
			n, e.Clusters = len(e.Clusters), append(e.Clusters, Written{Cluster: name})
		}
		e.Clusters[n].Left = &is
	}
	slices.SortFunc(e.Clusters, func(a, b Written) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return e, true
}

// moves are those by which an object leaves clusters for others.
func moves(p *plan.Plan, r object.Ref) (all []plan.Move) {
	for _, m := range p.Moves {
		if m.Object == r {
			all = append(all, m)
		}
	}
	return all
}
