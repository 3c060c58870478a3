package observation

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/sources"
)

const (
	// ConditionObservation is the type of the condition that says that the newest observation of a
	// cluster's agent does not count. Where it does, nothing says so.
	ConditionObservation = "waybill.dev/Observation"
	// TrailerSequence names, in the commit of an observation, its sequence number.
	TrailerSequence = "Observed-Sequence"
	// MostTold is how many bytes the observation of an agent has at most.
	MostTold = 1 << 20
	// atOnce is how many observations of an agent are recorded one after the other; then there is one
	// every refill.
	atOnce = 10
	refill = 5 * time.Minute
)

// errSetBack is that an observation came before one that counted.
var errSetBack = errors.New("an observation that was made later counted already: somebody set the branch back, or another agent writes it whose clock is late")

// SequenceOf reads the sequence number that the commit of an observation names; zero for none.
func SequenceOf(message string) (uint64, error) {
	values := sources.Trailers(message, TrailerSequence)
	if len(values) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseUint(values[len(values)-1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("its sequence number cannot be read: %w", err)
	}
	return n, nil
}

// Told is what the agent of a cluster tells with a key, one observation after the other. Its times are of
// one clock.
type Told struct {
	key      string // its fingerprint
	status   *karmada.ClusterStatus
	sequence uint64 // of what counted last; zero: it has none
	refused  string // why the newest one does not count
	spent    int    // of those that are recorded one after the other
	since    time.Time
}

// NewTold goes on from what is recorded of a cluster, which may be nil.
func NewTold(key string, recorded *karmada.ClusterStatus) *Told {
	t := &Told{key: key}
	if s := sequenceOf(recorded); s.Key == key {
		t.sequence = s.Observation
	}
	return t
}

// Key is the fingerprint of the key.
func (t *Told) Key() string { return t.key }

// Take takes an observation that was signed with the key, unless it comes before one that counted or is
// a time that has not come. One without a sequence number is that of an agent of the release before: it
// counts until there was one.
func (t *Told) Take(s *karmada.ClusterStatus, sequence uint64, now time.Time) error {
	switch {
	case heartbeat.IsAhead(sequence, now):
		return heartbeat.ErrAhead
	case sequence < t.sequence:
		return errSetBack
	}
	t.status, t.sequence, t.refused = s, sequence, ""
	return nil
}

// Refuse notes that the newest observation does not count.
func (t *Told) Refuse(why error) { t.refused = why.Error() }

// Report is Reported of what counts, and of why the newest does not. It notes how far the sequence numbers
// are; that alone is no change. An agent that tells something else all the time is recorded ten times,
// and then every five minutes; how its lease is does not wait for that.
func (t *Told) Report(recorded *karmada.ClusterStatus, lease heartbeat.Verdict, beat uint64, now time.Time) (*karmada.ClusterStatus, Change) {
	next, change := Reported(recorded, t.told(recorded), lease, now)
	if len(change.Words) > 0 && t.left(now) == 0 {
		next, change = Reported(recorded, nil, lease, now)
	}
	s := karmada.ObservedSequence{Key: t.key, Observation: t.sequence, Heartbeat: max(beat, Heard(recorded, t.key))}
	if len(change.Words) > 0 && (s.Observation > 0 || s.Heartbeat > 0) {
		besides := karmada.ObservedBesides{Sequence: &s}
		if next.Waybill != nil {
			besides.Unschedulable = next.Waybill.Unschedulable
		}
		next.Waybill = &besides
	}
	return next, change
}

// Recorded notes that a change was recorded.
func (t *Told) Recorded(now time.Time) {
	left := t.left(now)
	if left == atOnce {
		t.spent, t.since = 0, now
	}
	t.spent++
}

// left is how many changes may be recorded now.
func (t *Told) left(now time.Time) int {
	return max(0, min(atOnce, atOnce-t.spent+int(now.Sub(t.since)/refill)))
}

// told is what counts, with the condition that the newest does not; nil for nothing.
func (t *Told) told(recorded *karmada.ClusterStatus) *karmada.ClusterStatus {
	if t.status == nil && t.refused == "" {
		return nil
	}
	var s karmada.ClusterStatus
	switch {
	case t.status != nil:
		s = *t.status
	case recorded != nil:
		s = *recorded
	}
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c metav1.Condition) bool { return c.Type == ConditionObservation })
	if t.refused != "" {
		put(&s, metav1.Condition{
			Type: ConditionObservation, Status: metav1.ConditionFalse, Reason: "Refused", Message: "what the agent observed does not count: " + t.refused,
		})
	}
	return &s
}

// Heard is the highest sequence number of a beat that is recorded of a cluster, which may be nil, with a
// key; zero for none.
func Heard(recorded *karmada.ClusterStatus, key string) uint64 {
	if s := sequenceOf(recorded); s.Key == key {
		return s.Heartbeat
	}
	return 0
}

// Refused says why what the agent of a cluster observed does not count; empty if it does.
func Refused(recorded *karmada.ClusterStatus) string {
	if recorded == nil {
		return ""
	}
	if c := meta.FindStatusCondition(recorded.Conditions, ConditionObservation); c != nil && c.Status == metav1.ConditionFalse {
		return c.Message
	}
	return ""
}

func sequenceOf(s *karmada.ClusterStatus) karmada.ObservedSequence {
	if s == nil || s.Waybill == nil || s.Waybill.Sequence == nil {
		return karmada.ObservedSequence{}
	}
	return *s.Waybill.Sequence
}
