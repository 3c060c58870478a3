package observation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
)

// ConditionHeartbeat is the type of the condition that says whether heartbeats of a cluster's agent
// come. Without it none ever came, and nobody waits for one.
const ConditionHeartbeat = "waybill.dev/Heartbeat"

// Reported returns what to record of a cluster by what its agent told, which may be nil, and by its
// heartbeats: what is recorded, which may be nil, if there is no difference. While the lease runs
// the agent's word holds; when it has run out, nobody knows whether the cluster is ready (Karmada
// section C.3). The times of conditions are those of whoever records: the clock of the cluster may
// be wrong.
func Reported(recorded, told *karmada.ClusterStatus, lease heartbeat.Verdict, now time.Time) (*karmada.ClusterStatus, Change) {
	before, next := karmada.ClusterStatus{}, karmada.ClusterStatus{}
	if recorded != nil {
		before, next = *recorded, *recorded
	}
	if told != nil {
		next = *told
	}
	next.Conditions = slices.DeleteFunc(slices.Clone(next.Conditions), func(c metav1.Condition) bool { return c.Type == ConditionHeartbeat })
	switch lease {
	case heartbeat.Unheard:
	case heartbeat.Running:
		put(&next, metav1.Condition{Type: ConditionHeartbeat, Status: metav1.ConditionTrue, Reason: "HeartbeatsCome", Message: "heartbeats of the agent come"})
	case heartbeat.Expired:
		put(&next, metav1.Condition{Type: ConditionHeartbeat, Status: metav1.ConditionFalse, Reason: "HeartbeatMissed", Message: "the lease ran out without a heartbeat of the agent"})
		put(&next, metav1.Condition{Type: karmada.ConditionReady, Status: metav1.ConditionUnknown, Reason: "ClusterStatusUnknown", Message: "no heartbeat of the cluster's agent came in time"})
	}
	change := keepTimes(&before, &next, now)
	if next.KubernetesVersion != before.KubernetesVersion {
		change.Words, change.Soon = append(change.Words, "version "+next.KubernetesVersion), true
	}
	if !equality.Semantic.DeepEqual(next.APIEnablements, before.APIEnablements) {
		change.Words, change.Soon = append(change.Words, fmt.Sprintf("what it serves (%d group versions)", len(next.APIEnablements))), true
	}
	if !equality.Semantic.DeepEqual(next.ResourceSummary, before.ResourceSummary) {
		change.Words = append(change.Words, "room")
	}
	if told != nil {
		rows := retold(waitingOf(told), waitingOf(recorded), now)
		next.Waybill = before.Waybill
		putWaiting(&next, rows, &change)
	}
	if len(change.Words) == 0 {
		return recorded, change
	}
	return &next, change
}

// put puts a condition in the place of the one of its type.
func put(s *karmada.ClusterStatus, c metav1.Condition) {
	if was := meta.FindStatusCondition(s.Conditions, c.Type); was != nil {
		*was = c
		return
	}
	s.Conditions = append(s.Conditions, c)
}

// keepTimes leaves conditions that are as before as they were, gives the others their time, and
// says which those are.
func keepTimes(before, next *karmada.ClusterStatus, now time.Time) (change Change) {
	for i := range next.Conditions {
		c := &next.Conditions[i]
		if was := meta.FindStatusCondition(before.Conditions, c.Type); was != nil && was.Status == c.Status {
			*c = *was
			continue
		}
		c.LastTransitionTime = metav1.NewTime(now.UTC().Truncate(time.Second))
		change.Words, change.Soon = append(change.Words, fmt.Sprintf("%s is %s (%s)", c.Type, c.Status, c.Reason)), true
	}
	for i := range before.Conditions {
		if t := before.Conditions[i].Type; meta.FindStatusCondition(next.Conditions, t) == nil {
			change.Words, change.Soon = append(change.Words, t+" is not told any more"), true
		}
	}
	slices.SortFunc(next.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return change
}
