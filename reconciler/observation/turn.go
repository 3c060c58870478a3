package observation

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Spread is how long it takes to see of all clusters what became of them at one time: a look at
// each, and a request that is not answered.
const Spread = 2 * Period

// Turn is that a cluster is ready, or not, otherwise than is recorded. The zero value is none.
type Turn struct {
	Since time.Time // when that was seen first
	Due   bool      // it is to be recorded
}

// turn is how far the readiness of a cluster is on its way. What is seen of a cluster first is no
// turn.
func (t *Tracker) turn(recorded, next *karmada.ClusterStatus) Turn {
	if recorded == nil {
		return Turn{}
	}
	was, is := meta.FindStatusCondition(recorded.Conditions, karmada.ConditionReady), meta.FindStatusCondition(next.Conditions, karmada.ConditionReady)
	if was == nil || (was.Status == metav1.ConditionTrue) == (t.ready.seen == metav1.ConditionTrue) {
		return Turn{}
	}
	return Turn{Since: t.ready.since, Due: is.Status != was.Status}
}

// Together lists the clusters whose turns are due and wait for others: what happens to many
// clusters at one time is seen of one after the other, and is to be recorded at once. Otherwise
// work would leave the first of them, before it shows that nothing should move because the cause
// is likelier with whoever looks. It waits for the Spread at most.
func Together(turns map[string]Turn) map[string]bool {
	var pending []time.Time
	for _, t := range turns {
		if !t.Due && !t.Since.IsZero() {
			pending = append(pending, t.Since)
		}
	}
	waits := map[string]bool{}
	for name, t := range turns {
		for _, since := range pending {
			if apart := since.Sub(t.Since).Abs(); t.Due && apart <= Spread {
				waits[name] = true
				break
			}
		}
	}
	return waits
}
