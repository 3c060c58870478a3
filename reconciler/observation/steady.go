package observation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Period is the time between two looks at a cluster (Karmada section C.3).
	Period = 10 * time.Second
	// Threshold is how long a condition has to be otherwise until it changes.
	Threshold = 30 * time.Second
)

// steady keeps a condition from changing with every look. The zero value has seen nothing.
type steady struct {
	seen  metav1.ConditionStatus
	since time.Time
}

// next returns a condition as it is to be recorded: what is seen first holds at once, a change
// between True and anything else when it was seen for the threshold. What was recorded by another
// process counts: whoever starts anew waits as long. A condition that is as it was stays with its
// reason and time.
func (s *steady) next(recorded *metav1.Condition, seen metav1.Condition, now time.Time) metav1.Condition {
	if s.seen != seen.Status {
		s.seen, s.since = seen.Status, now
	}
	switch {
	case recorded == nil:
	case recorded.Status == seen.Status:
		return *recorded
	case (recorded.Status == metav1.ConditionTrue || seen.Status == metav1.ConditionTrue) && now.Sub(s.since) < Threshold:
		return *recorded
	}
	seen.LastTransitionTime = metav1.NewTime(now.UTC().Truncate(time.Second))
	return seen
}
