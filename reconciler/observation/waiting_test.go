package observation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/render/object"
)

var web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}

// waiting is a look at web: so many pods, of which some wait.
func waiting(pods int32, names ...string) *observation.Waiting {
	w := &observation.Waiting{Threshold: 5 * time.Minute, Workloads: map[object.Ref]observation.Replicas{}}
	if len(names) > 0 {
		w.Workloads[web] = observation.Replicas{APIVersion: "apps/v1", Pods: pods, Ready: pods - int32(len(names)), Waiting: names}
	}
	return w
}

// both is a look at web, and at another Deployment, of which a pod waits each.
func both(web string) *observation.Waiting {
	w := waiting(3, web)
	w.Workloads[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "db"}] = observation.Replicas{
		APIVersion: "apps/v1",
		Pods:       3, Waiting: []string{"shop/d"},
	}
	return w
}

// rows prints what is recorded of replicas that wait, with the minutes since the beginning.
func rows(s *karmada.ClusterStatus) string {
	if s == nil || s.Waybill == nil {
		return ""
	}
	var all []string
	for _, u := range s.Waybill.Unschedulable {
		all = append(all, fmt.Sprintf("%s/%s %d of %d since %v, seen at %v", u.Namespace, u.Name, u.Unschedulable, u.Pods, u.Since.Sub(begun), u.Seen.Sub(begun)))
	}
	return strings.Join(all, "; ")
}

// TestWhatWaitsForLong follows a cluster from look to look. What waits for a short time makes no
// commit, and the clock is that of whoever looks.
func TestWhatWaitsForLong(t *testing.T) {
	tracker := &observation.Tracker{}
	recorded, _ := tracker.Next(nil, observation.Facts{Health: observation.Healthy}, begun)
	for _, tt := range []struct {
		minute int
		seen   *observation.Waiting
		words  string
		want   string
	}{
		{0, waiting(5, "shop/a"), "", ""},
		{2, waiting(5, "shop/a", "shop/b"), "", ""},
		{5, waiting(5, "shop/a", "shop/b"), "no node for 1 of 5 pods of shop/web", "shop/web 1 of 5 since 0s, seen at 5m0s"},
		{6, waiting(5, "shop/a", "shop/b"), "", "shop/web 1 of 5 since 0s, seen at 5m0s"},
		{7, waiting(5, "shop/a", "shop/b"), "no node for 2 of 5 pods of shop/web", "shop/web 2 of 5 since 2m0s, seen at 7m0s"},
		{8, nil, "", "shop/web 2 of 5 since 2m0s, seen at 7m0s"}, // pods may not be listed
		{9, waiting(6, "shop/a", "shop/b"), "no node for 2 of 6 pods of shop/web", "shop/web 2 of 6 since 2m0s, seen at 9m0s"},
		{10, waiting(2), "a node for all pods of shop/web", ""},
		{11, waiting(2, "shop/a"), "", ""}, // its time begins anew
		{15, waiting(2, "shop/a"), "", ""},
		{16, waiting(2, "shop/a"), "no node for 1 of 2 pods of shop/web", "shop/web 1 of 2 since 11m0s, seen at 16m0s"},
		{17, &observation.Waiting{}, "a node for all pods of shop/web", ""}, // nobody asks any more
		{18, waiting(2, "shop/a"), "", ""},
		{23, waiting(2, "shop/a"), "no node for 1 of 2 pods of shop/web", "shop/web 1 of 2 since 18m0s, seen at 23m0s"},
		{24, waiting(2, "shop/z"), "a node for all pods of shop/web", ""}, // another waits, for a short time
		{25, both("shop/a"), "", ""},
		{
			30, both("shop/a"), "no node for 1 of 3 pods of shop/db, no node for 1 of 3 pods of shop/web",
			"shop/db 1 of 3 since 25m0s, seen at 30m0s; shop/web 1 of 3 since 25m0s, seen at 30m0s",
		},
		{31, both("shop/a"), "", "shop/db 1 of 3 since 25m0s, seen at 30m0s; shop/web 1 of 3 since 25m0s, seen at 30m0s"},
		{32, waiting(3, "shop/a"), "a node for all pods of shop/db", "shop/web 1 of 3 since 25m0s, seen at 30m0s"},
	} {
		next, change := tracker.Next(recorded, observation.Facts{Health: observation.Healthy, Waiting: tt.seen}, begun.Add(time.Duration(tt.minute)*time.Minute))
		if got := strings.Join(change.Words, ", "); got != tt.words || rows(next) != tt.want || change.Soon != (tt.words != "") {
			t.Errorf("minute %d: %q, %s; want %q, %s", tt.minute, got, rows(next), tt.words, tt.want)
		}
		recorded = next
	}
}

// TestWhoeverStartsAnewBelievesWhatIsRecorded has a second observer take over: it says nothing new of
// what waited before, and counts others from when it sees them.
func TestWhoeverStartsAnewBelievesWhatIsRecorded(t *testing.T) {
	first := &observation.Tracker{}
	look := func(tr *observation.Tracker, recorded *karmada.ClusterStatus, minute int, w *observation.Waiting) (*karmada.ClusterStatus, string) {
		next, change := tr.Next(recorded, observation.Facts{Health: observation.Healthy, Waiting: w}, begun.Add(time.Duration(minute)*time.Minute))
		return next, strings.Join(change.Words, ", ")
	}
	recorded, _ := look(first, nil, 0, waiting(5, "shop/a"))
	recorded, _ = look(first, recorded, 5, waiting(5, "shop/a"))
	second := &observation.Tracker{}
	if _, words := look(second, recorded, 6, waiting(5, "shop/a", "shop/b")); words != "" {
		t.Errorf("at once: %s", words)
	}
	if next, words := look(second, recorded, 11, waiting(5, "shop/a", "shop/b")); words == "" || rows(next) != "shop/web 2 of 5 since 6m0s, seen at 11m0s" {
		t.Errorf("five minutes later: %q, %s", words, rows(next))
	}
}

// TestASequenceOutlastsWhatWaits: when the last replica has a node what else is recorded of the cluster's agent is, still.
func TestASequenceOutlastsWhatWaits(t *testing.T) {
	sequence := &karmada.ObservedSequence{Key: "key", Observation: 7}
	for name, is := range map[string]*karmada.ObservedSequence{"a sequence": sequence, "none": nil} {
		tracker := &observation.Tracker{}
		recorded, _ := tracker.Next(nil, observation.Facts{Health: observation.Healthy, Waiting: waiting(5, "shop/a")}, begun)
		recorded, _ = tracker.Next(recorded, observation.Facts{Health: observation.Healthy, Waiting: waiting(5, "shop/a")}, begun.Add(5*time.Minute))
		recorded.Waybill.Sequence = is
		next, _ := tracker.Next(recorded, observation.Facts{Health: observation.Healthy, Waiting: waiting(5)}, begun.Add(6*time.Minute))
		switch {
		case rows(next) != "":
			t.Errorf("%s: there are rows still: %s", name, rows(next))
		case is == nil && next.Waybill != nil, is != nil && (next.Waybill == nil || *next.Waybill.Sequence != *is):
			t.Errorf("%s: what is recorded besides is %+v", name, next.Waybill)
		}
	}
}

// TestAnAgentMayHaveAnotherClock records what an agent tells whose clock is an hour late: how long
// it has lasted counts.
func TestAnAgentMayHaveAnotherClock(t *testing.T) {
	says := told(metav1.ConditionTrue)
	at := func(d time.Duration) metav1.Time { return metav1.NewTime(begun.Add(d)) }
	says.Waybill = &karmada.ObservedBesides{Unschedulable: []karmada.Unschedulable{
		{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web", Pods: 5, Unschedulable: 3, Since: at(-66 * time.Minute), Seen: at(-60 * time.Minute)},
	}}
	recorded, change := observation.Reported(nil, says, heartbeat.Running, begun)
	if want := "shop/web 3 of 5 since -6m0s, seen at 0s"; rows(recorded) != want || !strings.Contains(strings.Join(change.Words, ", "), "no node for 3 of 5 pods of shop/web") {
		t.Errorf("%s, %v; want %s", rows(recorded), change.Words, want)
	}
	if next, change := observation.Reported(recorded, says, heartbeat.Running, begun.Add(time.Minute)); next != recorded {
		t.Errorf("again: %v", change.Words)
	}
	later := *says
	later.Waybill = &karmada.ObservedBesides{Unschedulable: append(slices.Clone(says.Waybill.Unschedulable), karmada.Unschedulable{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "zoo", Pods: 2, Unschedulable: 1,
		Since: at(-58 * time.Minute), Seen: at(-58 * time.Minute),
	})}
	agent := observation.NewTold("key", nil)
	if err := agent.Take(&later, 7, begun); err != nil {
		t.Fatal(err)
	}
	next, _ := agent.Report(recorded, heartbeat.Running, 0, begun.Add(2*time.Minute))
	if want := "shop/web 3 of 5 since -6m0s, seen at 0s; shop/zoo 1 of 2 since 2m0s, seen at 2m0s"; rows(next) != want ||
		next.Waybill.Sequence.Observation != 7 {
		t.Errorf("another waits: %s, want %s", rows(next), want)
	}
	says.Waybill = nil
	if next, change := observation.Reported(recorded, says, heartbeat.Running, begun.Add(time.Minute)); rows(next) != "" || len(change.Words) != 1 || !change.Soon {
		t.Errorf("none waits any more: %s, %v", rows(next), change)
	}
}

func TestReplicaOf(t *testing.T) {
	yes := true
	pod := func(owner, hash string, conditions ...corev1.PodCondition) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "p", Labels: map[string]string{"pod-template-hash": hash},
				OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: owner, Controller: &yes}},
			},
			Status: corev1.PodStatus{Conditions: conditions},
		}
	}
	unscheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}
	gated := unscheduled
	gated.Reason = corev1.PodReasonSchedulingGated
	deleted, failed, ofJob, bound := pod("web-1", "1", unscheduled), pod("web-1", "1"), pod("web-1", "1"), pod("web-1", "1", unscheduled)
	deleted.DeletionTimestamp = &metav1.Time{Time: begun}
	failed.Status.Phase, ofJob.OwnerReferences[0].Kind, bound.Spec.NodeName = corev1.PodFailed, "Job", "n"
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"waits", pod("web-5d4f", "5d4f", unscheduled), "{shop/web false true} true"},
		{
			"waits, and is not ready", pod("web-1", "1", unscheduled, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}),
			"{shop/web false true} true",
		},
		{"runs", pod("web-app-5d4f", "5d4f", corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}), "{shop/web-app true false} true"},
		{"is held back by a gate", pod("web-1", "1", gated), "{shop/web false false} true"},
		{"has a node by now", bound, "{shop/web false false} true"},
		{"is being deleted", deleted, "{ false false} false"},
		{"failed", failed, "{ false false} false"},
		{"is a Job's", ofJob, "{ false false} false"},
		{"is that of a ReplicaSet of its own", pod("web", "5d4f", unscheduled), "{ false false} false"},
		{"is nobody's", &corev1.Pod{}, "{ false false} false"},
	} {
		r, ok := observation.ReplicaOf(tt.pod)
		if got := fmt.Sprint(r, ok); got != tt.want {
			t.Errorf("a pod that %s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
