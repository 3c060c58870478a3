package observation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Health is what an API server says of itself.
type Health int

// The answers.
const (
	Unreachable Health = iota // it does not answer
	Unhealthy                 // it answers, and is not ready
	Healthy
)

// Served is what an API server serves.
type Served struct {
	Version string
	APIs    []karmada.APIEnablement // in the order of their names
	// Failed are the group versions that did not say what they serve.
	Failed []string
}

// Facts is what was seen of a cluster at one look.
type Facts struct {
	Health Health
	Served *Served // nil: not known
	Room   *Room   // nil: not known
	// Refused says what of the room may not be looked at, and why; empty for nothing.
	Refused string
	// Waiting is what is seen of replicas that wait for a node; nil: not known.
	Waiting *Waiting
}

// ConditionRoom is the type of the condition that says that the room of a cluster may not be
// looked at.
const ConditionRoom = "waybill.dev/RoomKnown"

// Change is in what a status differs from the one that is recorded.
type Change struct {
	Words []string // for people, such as: room
	// Soon reports that it does not wait: it is not just room.
	Soon bool
	// Turn is how far its readiness is on the way from what is recorded to what is seen.
	Turn Turn
}

// Tracker follows a cluster from look to look. The zero value has seen nothing.
type Tracker struct {
	ready, complete steady
	missed          missed
	waits           waits
}

// Next returns what to record of a cluster after a look at it: what is recorded, which may be
// nil, if decisions cannot see a difference. What is not known, or was not asked because the
// cluster is not ready, stays as it is recorded.
func (t *Tracker) Next(recorded *karmada.ClusterStatus, f Facts, now time.Time) (*karmada.ClusterStatus, Change) {
	next, change := karmada.ClusterStatus{}, Change{}
	if recorded != nil {
		next = *recorded
	}
	next.Conditions = slices.Clone(next.Conditions)
	see(&next, &t.ready, readiness(f.Health), now, &change)
	change.Turn = t.turn(recorded, &next)
	ready := f.Health == Healthy && meta.IsStatusConditionTrue(next.Conditions, karmada.ConditionReady)
	if ready {
		if f.Served != nil {
			t.serve(f.Served, &next, now, &change)
			see(&next, &t.complete, completeness(f.Served), now, &change)
		}
		f.roomKnown(&next, now, &change)
		if f.Room != nil && !f.Room.isRecorded(next.ResourceSummary) {
			change.Words = append(change.Words, "room")
		}
		if f.Waiting != nil {
			putWaiting(&next, t.waits.next(f.Waiting, waitingOf(recorded), now), &change)
		}
	}
	if len(change.Words) == 0 {
		return recorded, change
	}
	if ready && f.Room != nil {
		nodes := f.Room.Nodes
		next.NodeSummary, next.ResourceSummary = &nodes, f.Room.rounded()
	}
	slices.SortFunc(next.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return &next, change
}

// see puts a condition that is seen into a status, when it is due.
func see(status *karmada.ClusterStatus, s *steady, seen metav1.Condition, now time.Time, change *Change) {
	recorded := meta.FindStatusCondition(status.Conditions, seen.Type)
	next := s.next(recorded, seen, now)
	if recorded != nil && recorded.Status == next.Status {
		return
	}
	meta.SetStatusCondition(&status.Conditions, next)
	change.Words, change.Soon = append(change.Words, fmt.Sprintf("%s is %s (%s)", next.Type, next.Status, next.Reason)), true
}

// roomKnown puts into a status whether the room of the cluster may be looked at. Where it may,
// nothing says so.
func (f *Facts) roomKnown(status *karmada.ClusterStatus, now time.Time, change *Change) {
	told := meta.FindStatusCondition(status.Conditions, ConditionRoom) != nil
	switch {
	case f.Refused != "" && !told:
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: ConditionRoom, Status: metav1.ConditionFalse, Reason: "Forbidden", Message: f.Refused,
			LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		})
		change.Words, change.Soon = append(change.Words, f.Refused), true
	case f.Refused == "" && f.Room != nil && told:
		meta.RemoveStatusCondition(&status.Conditions, ConditionRoom)
		change.Words, change.Soon = append(change.Words, "its nodes and pods may be listed"), true
	}
}
