package staged

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
)

// AfterGuard returns when to look again because of what the guard decided. A run takes a cluster as held, or not, that was so in
// the plan before: where that has changed for one of its clusters, the next plan says so, and goes on.
func (r *Result) AfterGuard(wasHeld, isHeld func(cluster string) bool, now time.Time) (again recheck.Recheck) {
	for i := range r.Outputs {
		if r.Outputs[i].After == nil {
			continue
		}
		for cluster := range r.Outputs[i].After.Clusters {
			if wasHeld(cluster) != isHeld(cluster) {
				again = again.By(now.Add(time.Second), now)
			}
		}
	}
	return again
}
