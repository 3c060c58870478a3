package fleet_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestLasting(t *testing.T) {
	early, now := metav1.NewTime(time.Unix(100, 0).UTC()), metav1.NewTime(time.Unix(200, 0).UTC())
	out := func(key string, at *metav1.Time) corev1.Taint {
		return corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute, TimeAdded: at}
	}
	ready := func(status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: karmada.ConditionReady, Status: status}}
	}
	dead := &karmada.ClusterTaintPolicy{Spec: karmada.ClusterTaintPolicySpec{
		AddOnConditions:    []karmada.MatchCondition{{ConditionType: karmada.ConditionReady, Operator: karmada.MatchConditionOpIn, StatusValues: []metav1.ConditionStatus{"False"}}},
		RemoveOnConditions: []karmada.MatchCondition{{ConditionType: karmada.ConditionReady, Operator: karmada.MatchConditionOpIn, StatusValues: []metav1.ConditionStatus{"True"}}},
		Taints:             []karmada.PolicyTaint{{Key: "dead", Effect: corev1.TaintEffectNoExecute}},
	}}
	notReady := corev1.Taint{Key: karmada.TaintNotReady, Effect: corev1.TaintEffectNoSchedule}
	unreachable := corev1.Taint{Key: karmada.TaintUnreachable, Effect: corev1.TaintEffectNoSchedule}
	added := fleet.Mark{Key: "dead", Effect: corev1.TaintEffectNoExecute, TimeAdded: &early, Policy: true}
	seen := added
	seen.Observed = true
	mine := &karmada.ClusterTaintPolicy{Spec: karmada.ClusterTaintPolicySpec{
		AddOnConditions: []karmada.MatchCondition{{ConditionType: "Mine", Operator: karmada.MatchConditionOpIn, StatusValues: []metav1.ConditionStatus{"False"}}}, Taints: dead.Spec.Taints,
	}}
	own := fleet.Mark{Key: "own", Effect: corev1.TaintEffectNoExecute, TimeAdded: &early}
	for _, tt := range []struct {
		name       string
		taints     []corev1.Taint
		conditions []metav1.Condition
		policies   []*karmada.ClusterTaintPolicy
		remembered []fleet.Mark
		observed   bool // the conditions are
		want       []corev1.Taint
		next       []fleet.Mark
		stamped    bool
	}{
		{name: "nothing"},
		{name: "one that keeps out needs no time", taints: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}, want: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}},
		{name: "first seen now", taints: []corev1.Taint{out("own", nil)}, want: []corev1.Taint{out("own", &now)}, next: []fleet.Mark{{Key: "own", Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}}, stamped: true},
		{name: "seen before", taints: []corev1.Taint{out("own", nil)}, remembered: []fleet.Mark{own}, want: []corev1.Taint{out("own", &early)}, next: []fleet.Mark{own}},
		{name: "it says since when", taints: []corev1.Taint{out("own", &early)}, want: []corev1.Taint{out("own", &early)}},
		{name: "what is gone from the registration is forgotten", remembered: []fleet.Mark{own}},
		{name: "not ready", conditions: ready("False"), want: []corev1.Taint{notReady}},
		{name: "unknown", conditions: ready("Unknown"), want: []corev1.Taint{unreachable}},
		{
			name: "a policy adds", conditions: ready("False"), policies: []*karmada.ClusterTaintPolicy{dead}, want: []corev1.Taint{notReady, out("dead", &now)},
			next: []fleet.Mark{{Key: "dead", Effect: corev1.TaintEffectNoExecute, TimeAdded: &now, Policy: true}}, stamped: true,
		},
		{name: "what a policy added stays", conditions: ready("Unknown"), policies: []*karmada.ClusterTaintPolicy{dead}, remembered: []fleet.Mark{added}, want: []corev1.Taint{unreachable, out("dead", &early)}, next: []fleet.Mark{added}},
		{name: "even if the policy goes", conditions: ready("True"), remembered: []fleet.Mark{added}, want: []corev1.Taint{out("dead", &early)}, next: []fleet.Mark{added}},
		{name: "a policy removes", conditions: ready("True"), policies: []*karmada.ClusterTaintPolicy{dead}, remembered: []fleet.Mark{added}},
		{
			name: "a policy adds, by what was observed", observed: true, conditions: ready("False"), policies: []*karmada.ClusterTaintPolicy{dead}, want: []corev1.Taint{notReady, out("dead", &now)},
			next: []fleet.Mark{{Key: "dead", Effect: corev1.TaintEffectNoExecute, TimeAdded: &now, Policy: true, Observed: true}}, stamped: true,
		},
		{
			name: "what a policy added by what was observed stays so", observed: true, conditions: ready("Unknown"), policies: []*karmada.ClusterTaintPolicy{dead}, remembered: []fleet.Mark{seen},
			want: []corev1.Taint{unreachable, out("dead", &early)}, next: []fleet.Mark{seen},
		},
		{
			name: "one policy goes by what was observed, and one by what the registration says", observed: true, conditions: append(ready("False"), metav1.Condition{Type: "Mine", Status: "False"}),
			policies: []*karmada.ClusterTaintPolicy{dead, mine, dead}, remembered: []fleet.Mark{seen}, want: []corev1.Taint{notReady, out("dead", &early)}, next: []fleet.Mark{added},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sources := func(_ int, conditionType string) bool { return tt.observed && conditionType == karmada.ConditionReady }
			c := karmada.Cluster{Spec: karmada.ClusterSpec{Taints: tt.taints}, Status: karmada.ClusterStatus{Conditions: tt.conditions}}
			c.Name = "eu"
			got, next, stamped := fleet.Lasting([]karmada.Cluster{c}, tt.policies, sources, fleet.Marks{"eu": tt.remembered}, now.Time)
			if d := cmp.Diff(tt.want, append([]corev1.Taint(nil), got[0].Spec.Taints...)); d != "" {
				t.Error("taints:", d)
			}
			if d := cmp.Diff(tt.next, next["eu"]); d != "" || stamped != tt.stamped {
				t.Error("to be remembered:", d, "stamped:", stamped)
			}
			again, same, fresh := fleet.Lasting([]karmada.Cluster{c}, tt.policies, sources, next, now.Add(time.Hour))
			if cmp.Diff(got, again, cmpopts.EquateEmpty()) != "" || cmp.Diff(next, same) != "" || fresh {
				t.Error("later on it is another answer")
			}
		})
	}
}
