package observation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

// told is what an agent says whose clock is an hour late.
func told(ready metav1.ConditionStatus) *karmada.ClusterStatus {
	return &karmada.ClusterStatus{KubernetesVersion: "v1.36.3", Conditions: []metav1.Condition{
		{Type: karmada.ConditionReady, Status: ready, Reason: "ClusterReady", LastTransitionTime: metav1.NewTime(begun.Add(-time.Hour))},
	}}
}

var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestReported(t *testing.T) {
	var recorded *karmada.ClusterStatus
	for i, s := range []struct {
		what  string
		told  *karmada.ClusterStatus
		lease heartbeat.Verdict
		want  string // words of the change; empty for none
		ready string // status and reason
	}{
		{"nobody is there", nil, heartbeat.Unheard, "", ""},
		{"the first heartbeat", nil, heartbeat.Running, "waybill.dev/Heartbeat is True (HeartbeatsCome)", ""},
		{"the agent tells", told(metav1.ConditionTrue), heartbeat.Running, "Ready is True (ClusterReady), version v1.36.3", "True ClusterReady"},
		{"again", told(metav1.ConditionTrue), heartbeat.Running, "", "True ClusterReady"},
		{"heartbeats are missed", told(metav1.ConditionTrue), heartbeat.Expired, "Ready is Unknown (ClusterStatusUnknown), waybill.dev/Heartbeat is False (HeartbeatMissed)", "Unknown ClusterStatusUnknown"},
		{"still", told(metav1.ConditionTrue), heartbeat.Expired, "", "Unknown ClusterStatusUnknown"},
		{"what it told cannot be read any more", nil, heartbeat.Expired, "", "Unknown ClusterStatusUnknown"},
		{"it returns", told(metav1.ConditionTrue), heartbeat.Running, "Ready is True (ClusterReady), waybill.dev/Heartbeat is True (HeartbeatsCome)", "True ClusterReady"},
		{"its API server is down", told(metav1.ConditionFalse), heartbeat.Running, "Ready is False (ClusterReady)", "False ClusterReady"},
		{"its agent beats no more at all", told(metav1.ConditionFalse), heartbeat.Unheard, "waybill.dev/Heartbeat is not told any more", "False ClusterReady"},
	} {
		now := begun.Add(time.Duration(i) * time.Minute)
		next, change := observation.Reported(recorded, s.told, s.lease, now)
		words := strings.Split(strings.Join(change.Words, ", "), ", ")
		for w := range strings.SplitSeq(s.want, ", ") {
			if !strings.Contains(strings.Join(words, ", "), w) {
				t.Errorf("%s: %v changes, want %s", s.what, words, w)
			}
		}
		if (s.want == "") != (len(change.Words) == 0) || (s.want != "") != change.Soon {
			t.Errorf("%s: %+v changes, want %q", s.what, change, s.want)
		}
		if s.want == "" && next != recorded {
			t.Errorf("%s: nothing changes, and %s", s.what, cmp.Diff(recorded, next))
		}
		if next != nil {
			if !slices.IsSortedFunc(next.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) }) {
				t.Errorf("%s: the conditions are in the order %v", s.what, next.Conditions)
			}
			ready := ""
			if c := meta.FindStatusCondition(next.Conditions, karmada.ConditionReady); c != nil {
				ready = string(c.Status) + " " + c.Reason
				if c.LastTransitionTime.Before(&metav1.Time{Time: begun}) {
					t.Errorf("%s: the time is the member's: %v", s.what, c.LastTransitionTime)
				}
			}
			if ready != s.ready {
				t.Errorf("%s: it is %q, want %q", s.what, ready, s.ready)
			}
		}
		recorded = next
	}
}

func TestRoomAloneIsReportedLater(t *testing.T) {
	recorded, _ := observation.Reported(nil, told(metav1.ConditionTrue), heartbeat.Running, begun)
	more := told(metav1.ConditionTrue)
	more.ResourceSummary = &karmada.ResourceSummary{}
	next, change := observation.Reported(recorded, more, heartbeat.Running, begun)
	if change.Soon || len(change.Words) != 1 || next.ResourceSummary == nil {
		t.Errorf("%+v", change)
	}
	more.APIEnablements = []karmada.APIEnablement{{GroupVersion: "v1"}}
	next, change = observation.Reported(next, more, heartbeat.Running, begun)
	if got := strings.Join(change.Words, ", "); !change.Soon || got != "what it serves (1 group versions)" || len(next.APIEnablements) != 1 {
		t.Errorf("what it serves is not reported at once: %q", got)
	}
}
