package staged

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// Carried is what was carried out of a plan. Clusters are named.
type Carried struct {
	// WasHeld and IsHeld report clusters that the guard held in the plan before, and in this one.
	WasHeld, IsHeld func(cluster string) bool
	// Changes reports an object that a cluster gets otherwise than it had it, or loses.
	Changes func(r object.Ref, cluster string) bool
}

// After returns when to look again because of what was carried out. A run takes a cluster as held, or not, that was so in
// the plan before, and as healthy, or as having the target, by what was published before: where that has changed for one of its
// clusters, as when it takes the share of another one, the next plan says so, and goes on. Of one that was released, and is not
// healthy, it says the same.
func (r *Result) After(is Carried, now time.Time) (again recheck.Recheck) {
	refs := make([][]object.Ref, len(r.Outputs))
	for ref, n := range r.Of {
		refs[n-1] = append(refs[n-1], ref)
	}
	for i := range r.Outputs {
		if r.Outputs[i].After == nil {
			continue
		}
		for cluster, e := range r.Outputs[i].After.Clusters {
			changes := func(ref object.Ref) bool { return is.Changes(ref, cluster) }
			isJudged := e.Released.IsZero() || e.State == rollouts.Healthy && e.Deadline.IsZero()
			if is.WasHeld(cluster) != is.IsHeld(cluster) || isJudged && slices.ContainsFunc(refs[i], changes) {
				again = again.By(now.Add(time.Second), now)
			}
		}
	}
	return again
}
