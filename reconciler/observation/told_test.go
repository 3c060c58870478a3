package observation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

// TestAnAgentThatFlapsIsRecordedNowAndThen tells something else every five seconds, for an hour, and beats no
// more at the end.
func TestAnAgentThatFlapsIsRecordedNowAndThen(t *testing.T) {
	var recorded *karmada.ClusterStatus
	agent := observation.NewTold("key", nil)
	at, times := begun, 0
	turn := func(ready metav1.ConditionStatus, lease heartbeat.Verdict) {
		t.Helper()
		if err := agent.Take(told(ready), uint64(at.UnixMilli()), at); err != nil {
			t.Fatal(err)
		}
		next, change := agent.Report(recorded, lease, 7, at)
		if len(change.Words) > 0 {
			recorded = next
			times++
			agent.Recorded(at)
		}
		at = at.Add(5 * time.Second)
	}
	for n := range 720 {
		turn(map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}[n%2 == 0], heartbeat.Running)
	}
	if times < 10 || times > 22 {
		t.Errorf("it is recorded %d times", times)
	}
	before := times
	turn(metav1.ConditionTrue, heartbeat.Expired)
	turn(metav1.ConditionFalse, heartbeat.Expired)
	if times != before+1 {
		t.Errorf("that it is lost is recorded %d times", times-before)
	}
	if s := recorded.Waybill.Sequence; s.Key != "key" || s.Heartbeat != 7 || s.Observation == 0 {
		t.Errorf("the sequence is %+v", s)
	}
}

func TestWhichObservationsCount(t *testing.T) {
	const first = 1_772_366_400_000
	recorded := &karmada.ClusterStatus{Waybill: &karmada.ObservedBesides{Sequence: &karmada.ObservedSequence{Key: "key", Observation: first}}}
	for _, c := range []struct {
		what, key string
		sequence  uint64
		counts    bool
	}{
		{"the one that counted last", "key", first, true},
		{"the one before", "key", first - 1, false},
		{"one after it", "key", first + 1, true},
		{"one of the release before, after one with a number", "key", 0, false},
		{"one of the release before, by another key", "another", 0, true},
		{"the one before, by another key", "another", first - 1, true},
		{"one that has not come", "key", uint64(begun.Add(6 * time.Minute).UnixMilli()), false},
		{"one by a clock that is a little ahead", "key", uint64(begun.Add(4 * time.Minute).UnixMilli()), true},
	} {
		if err := observation.NewTold(c.key, recorded).Take(told(metav1.ConditionTrue), c.sequence, begun); (err == nil) != c.counts {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
