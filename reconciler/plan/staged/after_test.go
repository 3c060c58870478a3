package staged_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// A run looks again when a plan changes one of its clusters of which it was known, or reported, how it is; also where that undoes what somebody
// edited by hand, after which a report that the cluster made before counts.
func TestWhatWasCarriedOutIsLookedAtAgain(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}
	now := time.Date(2026, 3, 2, 10, 0, 0, 500, time.UTC)
	released := metav1.NewTime(now.Truncate(time.Second)) // also by a plan before, of the same second
	for _, tt := range []struct {
		name      string
		was, is   rollouts.Cluster
		unchanged bool
		absent    bool // the unit is removed
		want      bool
	}{
		{"its turn has not come", rollouts.Cluster{}, rollouts.Cluster{State: rollouts.Pending}, false, false, true},
		{"this plan released it", rollouts.Cluster{}, rollouts.Cluster{State: rollouts.Released, Released: released}, false, false, false},
		{"it was released before", rollouts.Cluster{Released: released}, rollouts.Cluster{State: rollouts.Released, Released: released}, false, false, true},
		{"this plan took away what it had", rollouts.Cluster{}, rollouts.Cluster{State: rollouts.Released, Released: released}, false, true, true},
		{"it failed", rollouts.Cluster{Released: released}, rollouts.Cluster{State: rollouts.Failed, Released: released}, false, false, true},
		{"it was healthy", rollouts.Cluster{Released: released}, rollouts.Cluster{State: rollouts.Healthy, Released: released}, false, false, true},
		{"nothing of it changes", rollouts.Cluster{Released: released}, rollouts.Cluster{State: rollouts.Released, Released: released}, true, false, false},
	} {
		of := func(c rollouts.Cluster) *rollouts.Rollout {
			return &rollouts.Rollout{
				Status: rollouts.Status{Target: rollouts.Version{Absent: tt.absent}}, Clusters: map[string]rollouts.Cluster{"eu": c},
			}
		}
		r := staged.Result{Of: map[object.Ref]int{ref: 1}, Outputs: []stage.Output{{Before: of(tt.was), After: of(tt.is)}}}
		changes := func(r object.Ref) bool { return r == ref && !tt.unchanged }
		again := r.After(staged.Carried{Changes: map[string]func(object.Ref) bool{"eu": changes}}, now)
		if got := !again.At.IsZero(); got != tt.want {
			t.Errorf("%s: it is looked at again: %t", tt.name, got)
		}
	}
}
