package staged

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// Carried is what was carried out of a plan, by the names of clusters.
type Carried struct {
	// Turned are clusters that the guard held in the plan before and not in this one, or the other way round.
	Turned map[string]bool
	// Changes reports of clusters that do not stay as they are an object that one gets otherwise than it had it, or loses.
	Changes map[string]func(object.Ref) bool
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
		again := false
		for cluster := range is.Turned {
			_, isConcerned := after.Clusters[cluster]
			again = again || isConcerned
		}
		for cluster, changes := range is.Changes {
			again = again || isJudged(&r.Outputs[i], cluster) && slices.ContainsFunc(refs[i], changes)
		}
		if again {
			return recheck.Recheck{}.By(now.Add(time.Second), now)
		}
	}
	return recheck.Recheck{}
}

// isJudged reports a cluster of which a run has to look again when a plan changes it: what it says may speak of what it has then, and a
// unit that is gone is forgotten with the last of it.
func isJudged(o *stage.Output, cluster string) bool {
	e, isKnown := o.After.Clusters[cluster]
	isHealthy := e.State == rollouts.Healthy && e.Deadline.IsZero()
	isGone := o.After.Status.Target.Absent || o.Source.Absent
	return isGone || isKnown && (e.Released.IsZero() || wasReleased(o.Before, o.Target, cluster) || isHealthy)
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
