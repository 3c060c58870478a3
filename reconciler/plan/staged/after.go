package staged

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// Carried is what was carried out of a plan. Clusters are named.
type Carried struct {
	// WasHeld and IsHeld report clusters that the guard held in the plan before, and in this one.
	WasHeld, IsHeld func(cluster string) bool
	// Changes returns what reports an object that a cluster gets otherwise than it had it, or loses; nil for a cluster that stays as
	// it is.
	Changes func(cluster string) func(object.Ref) bool
}

// After returns when to look again because of what was carried out. A run takes a cluster as held, or not, that was so in
// the plan before, and as healthy, or as having the target, by what was published before: where that has changed for one of its
// clusters, as when it takes the share of another one, or what somebody edited there is undone, the next plan says so, and goes on. Of
// one that this plan released, and of which nothing is known to be healthy, it says the same, unless that took away what was left of a unit
// that is gone: then the next plan is done with it.
func (r *Result) After(is Carried, now time.Time) recheck.Recheck {
	refs := r.refs()
	for i := range r.Outputs {
		after := r.Outputs[i].After
		if after == nil {
			continue
		}
		for cluster, e := range after.Clusters {
			if is.WasHeld(cluster) != is.IsHeld(cluster) || isJudged(&r.Outputs[i], cluster, e) && is.changesAny(refs[i], cluster) {
				return recheck.Recheck{}.By(now.Add(time.Second), now)
			}
		}
	}
	return recheck.Recheck{}
}

// isJudged reports a cluster of which a run has to look again when a plan changes it: what it says may speak of what it has then.
func isJudged(o *stage.Output, cluster string, e rollouts.Cluster) bool {
	isHealthy := e.State == rollouts.Healthy && e.Deadline.IsZero()
	return o.After.Status.Target.Absent || e.Released.IsZero() || wasReleased(o.Before, o.Target, cluster) || isHealthy
}

// changesAny reports a cluster in which one of objects changes.
func (is *Carried) changesAny(refs []object.Ref, cluster string) bool {
	changes := is.Changes(cluster)
	return changes != nil && slices.ContainsFunc(refs, changes)
}

// refs are the objects of the units whose runs go on, by unit.
func (r *Result) refs() [][]object.Ref {
	all := make([][]object.Ref, len(r.Outputs))
	for ref, n := range r.Of {
		if r.Outputs[n-1].After != nil {
			all[n-1] = append(all[n-1], ref)
		}
	}
	return all
}
