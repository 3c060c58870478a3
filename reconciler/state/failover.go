package state

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
)

// Failover is what moving work goes by, besides bindings.
type Failover struct {
	// Taints are remembered of clusters.
	Taints fleet.Marks `json:"taints,omitempty"`
	// Pace is when as many templates as leave at once may leave again, and Moved when something
	// began or ended last.
	Pace  metav1.MicroTime `json:"pace,omitzero"`
	Moved metav1.Time      `json:"moved,omitzero"`
	// Frozen says that something waited because too few clusters were ready, and DelayedUntil, when they
	// are again, until when it waits nevertheless.
	Frozen       bool        `json:"frozen,omitempty"`
	DelayedUntil metav1.Time `json:"thaws,omitzero"`
}

func (f *Failover) isEmpty() bool {
	return len(f.Taints) == 0 && f.Pace.IsZero() && f.Moved.IsZero() && !f.Frozen && f.DelayedUntil.IsZero()
}
