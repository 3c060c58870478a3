package observation_test

import (
	"errors"
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

// The sequence number of an observation is that of the last trailer of its commit.
func TestSequenceOf(t *testing.T) {
	for _, c := range []struct {
		message string
		want    uint64
		refused bool
	}{
		{"observed\n", 0, false},
		{"observed\n\nObserved-Sequence: 7\n", 7, false},
		{"observed\n\nObserved-Sequence: 7\nObserved-Sequence: 9\n", 9, false},
		{"observed\n\nObserved-Sequence: -1\n", 0, true},
	} {
		if got, err := observation.SequenceOf(c.message); got != c.want || (err != nil) != c.refused {
			t.Errorf("%q: %d, %v", c.message, got, err)
		}
	}
}

// An observation that does not count is recorded as a condition, until one counts, beside what counted before or is recorded.
func TestAnObservationThatDoesNotCount(t *testing.T) {
	const now = 1_772_366_400_000
	counted, _ := observation.Reported(nil, told(metav1.ConditionTrue), heartbeat.Running, begun)
	for what, recorded := range map[string]*karmada.ClusterStatus{"nothing is recorded": nil, "something is recorded": counted} {
		agent := observation.NewTold("key", recorded)
		if next, change := agent.Report(recorded, heartbeat.Running, 0, begun); next != counted && recorded == counted || next.Waybill != nil {
			t.Errorf("%s, and nothing was told: %+v, %v", what, next, change)
		}
		agent.Refuse(errors.New("it is too large"))
		next, change := agent.Report(recorded, heartbeat.Running, 0, begun)
		const want = "what the agent observed does not count: it is too large"
		if got := observation.Refused(next); got != want || !change.Soon || next.Waybill != nil || recorded != nil &&
			next.KubernetesVersion != "v1.36.3" {
			t.Errorf("%s: %q, %+v, %v", what, got, next, change)
		}
		again, change := agent.Report(next, heartbeat.Running, 5, begun)
		if again != next || again.Waybill != nil {
			t.Errorf("%s, once more: %v", what, change)
		}
		if err := agent.Take(told(metav1.ConditionTrue), now, begun); err != nil {
			t.Fatal(err)
		}
		next, change = agent.Report(again, heartbeat.Running, 5, begun)
		if got := observation.Refused(next); got != "" || len(change.Words) == 0 || next.KubernetesVersion != "v1.36.3" {
			t.Errorf("%s, and one counts: %q, %+v, %v", what, got, next, change)
		}
		if s := next.Waybill.Sequence; *s != (karmada.ObservedSequence{Key: "key", Observation: now, Heartbeat: 5}) {
			t.Errorf("%s: its sequence is %+v", what, s)
		}
		if mine, others := observation.Heard(next, "key"), observation.Heard(next, "another"); mine != 5 || others != 0 {
			t.Errorf("%s: heard are %d by its key and %d by another", what, mine, others)
		}
		agent.Refuse(errors.New("it has a parent"))
		next, _ = agent.Report(next, heartbeat.Running, 4, begun)
		if s := next.Waybill.Sequence; observation.Refused(next) == "" || len(next.APIEnablements) > 0 || s.Heartbeat != 5 {
			t.Errorf("%s, after one that counts: %+v, %+v", what, next, s)
		}
	}
	if agent := observation.NewTold("key", nil); agent.Key() != "key" || observation.Refused(nil) != "" || observation.Heard(nil, "") != 0 {
		t.Errorf("of nothing recorded something is known")
	}
}

// A cluster is lost when its heartbeats are missed, and since then.
func TestLost(t *testing.T) {
	running, _ := observation.Reported(nil, nil, heartbeat.Running, begun)
	lost, _ := observation.Reported(running, nil, heartbeat.Expired, begun.Add(time.Hour).In(time.FixedZone("", 3600)))
	for what, c := range map[string]struct {
		seen *karmada.ClusterStatus
		want string
	}{
		"nothing is recorded": {nil, ""}, "no heartbeat ever came": {&karmada.ClusterStatus{}, ""}, "they come": {running, ""},
		"they are missed": {lost, "no heartbeat of its agent came since 2026-03-01T13:00:00Z"},
	} {
		if got := observation.Lost(c.seen); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
}

// A turn that is due waits for others that were seen within the spread, before it or after, and are not due.
func TestTogether(t *testing.T) {
	at := func(d time.Duration, due bool) observation.Turn {
		return observation.Turn{Since: begun.Add(d), Due: due}
	}
	const spread = observation.Spread
	for what, c := range map[string]struct {
		others []observation.Turn
		waits  bool
	}{
		"nothing else turns":      {nil, false},
		"another is due":          {[]observation.Turn{at(0, true)}, false},
		"another does not turn":   {[]observation.Turn{{}}, false},
		"another turns":           {[]observation.Turn{{}, at(spread, false)}, true},
		"another turned before":   {[]observation.Turn{at(-spread, false)}, true},
		"another turns later":     {[]observation.Turn{at(spread+1, false)}, false},
		"another turned long ago": {[]observation.Turn{at(-spread-1, false)}, false},
	} {
		turns := map[string]observation.Turn{"eu": at(0, true)}
		for i, o := range c.others {
			turns[string(rune('a'+i))] = o
		}
		got := observation.Together(turns)
		if got["eu"] != c.waits || len(got) > 0 != c.waits {
			t.Errorf("%s: %v wait", what, got)
		}
	}
}

// A cluster turns from when it is seen otherwise than is recorded, which is due after the threshold; what is seen first is no turn.
func TestTurn(t *testing.T) {
	var tr observation.Tracker
	var recorded *karmada.ClusterStatus
	for _, c := range []struct {
		second int
		health observation.Health
		want   observation.Turn
	}{
		{0, observation.Healthy, observation.Turn{}},
		{5, observation.Healthy, observation.Turn{}},
		{10, observation.Unreachable, observation.Turn{Since: begun.Add(10 * time.Second)}},
		{20, observation.Healthy, observation.Turn{}},
		{30, observation.Unhealthy, observation.Turn{Since: begun.Add(30 * time.Second)}},
		{60, observation.Unreachable, observation.Turn{Since: begun.Add(30 * time.Second), Due: true}},
		{65, observation.Unreachable, observation.Turn{}},
		{70, observation.Healthy, observation.Turn{Since: begun.Add(70 * time.Second)}},
	} {
		next, change := tr.Next(recorded, observation.Facts{Health: c.health}, begun.Add(time.Duration(c.second)*time.Second))
		if change.Turn != c.want {
			t.Errorf("after %d s: %+v, want %+v", c.second, change.Turn, c.want)
		}
		recorded = next
	}
}
