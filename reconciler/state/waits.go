package state

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/reason"
)

// Waits is why a template does not leave a cluster that it should leave, as the reason of a
// condition; empty if it does.
type Waits string

// The reasons.
const (
	WaitsForFleet   Waits = "FleetNotReady"   // too many clusters are not ready
	WaitsForCluster Waits = "OthersMoveFirst" // as many clusters as may be are being left
	WaitsForPlace   Waits = "NowhereElse"     // no other cluster takes it
	WaitsForCopy    Waits = "LastCopy"        // no other copy is healthy
	WaitsForStatus  Waits = "StatusNotRead"   // what is to be preserved of its status is not known
	WaitsForPace    Waits = "Paced"           // its turn comes in seconds; it is not recorded
)

// WaitsForGone reports whether a binding records new copies that wait for an old one to be gone.
func WaitsForGone(b *karmada.ResourceBinding) bool {
	waits := func(s karmada.AggregatedStatusItem) bool { return s.Reason == string(reason.NotGone) }
	return slices.ContainsFunc(b.Status.AggregatedStatus, waits)
}

// waitsCondition is the type of the condition of a binding that waits.
const waitsCondition = "waybill.dev/EvictionWaits"

var waitsMessages = map[Waits]string{
	WaitsForFleet:   "so many clusters are not ready that nothing moves",
	WaitsForCluster: "as many clusters as may be are being left already",
	WaitsForPlace:   "it stays where it is: no other cluster takes it",
	WaitsForCopy:    "the old copy stays: no other copy is healthy",
	WaitsForStatus:  "it stays where it is: what is to be preserved of its status there cannot be read",
	WaitsForPace:    "its turn comes in seconds",
}

// Message says it in a sentence.
func (w Waits) Message() string { return waitsMessages[w] }

// WaitsOf returns why the template of a binding, which may be nil, waits by its record.
func WaitsOf(b *karmada.ResourceBinding) Waits {
	if b == nil {
		return ""
	}
	if c := meta.FindStatusCondition(b.Status.Conditions, waitsCondition); c != nil {
		return Waits(c.Reason)
	}
	return ""
}

// RecordWaits records in a binding why its template waits, and since when: the binding before,
// which may be nil, may say so.
func RecordWaits(b, before *karmada.ResourceBinding, w Waits, now metav1.Time) {
	if w == "" || w == WaitsForPace {
		return
	}
	c := metav1.Condition{
		Type: waitsCondition, Status: metav1.ConditionTrue, Reason: string(w), Message: w.Message(), LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
	}
	if WaitsOf(before) == w {
		was := meta.FindStatusCondition(before.Status.Conditions, waitsCondition)
		c.LastTransitionTime = metav1.NewTime(was.LastTransitionTime.UTC())
	}
	b.Status.Conditions = append(slices.Clip(b.Status.Conditions), c)
}
