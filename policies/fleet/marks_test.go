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
	seen, other := added, added
	seen.Observed = true
	other.Key, other.Observed = "else", true
	mine := &karmada.ClusterTaintPolicy{Spec: karmada.ClusterTaintPolicySpec{
		AddOnConditions: []karmada.MatchCondition{{ConditionType: "Mine", Operator: karmada.MatchConditionOpIn, StatusValues: []metav1.ConditionStatus{"False"}}}, Taints: dead.Spec.Taints,
	}}
	own := fleet.Mark{Key: "own", Effect: corev1.TaintEffectNoExecute, TimeAdded: &early}
	of := func(key string, effect corev1.TaintEffect, at *metav1.Time) fleet.Mark {
		return fleet.Mark{Key: key, Effect: effect, TimeAdded: at}
	}
	byPolicy := func(key string, effect corev1.TaintEffect, observed bool) fleet.Mark {
		return fleet.Mark{Key: key, Effect: effect, Policy: true, Observed: observed}
	}
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
		{name: "not ready, beside another condition", conditions: append([]metav1.Condition{{Type: "Mine", Status: "True"}}, ready("False")...), want: []corev1.Taint{notReady}},
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
		{
			name: "two policies add, both by what was observed", observed: true, conditions: ready("False"), policies: []*karmada.ClusterTaintPolicy{dead, dead}, remembered: []fleet.Mark{added},
			want: []corev1.Taint{notReady, out("dead", &early)}, next: []fleet.Mark{seen},
		},
		{
			name: "what the registration says, too, is not by what was observed", taints: []corev1.Taint{out("dead", nil)}, observed: true, conditions: ready("False"),
			policies: []*karmada.ClusterTaintPolicy{dead}, remembered: []fleet.Mark{seen}, want: []corev1.Taint{out("dead", &early), notReady}, next: []fleet.Mark{of("dead", corev1.TaintEffectNoExecute, &early)},
		},
		{
			name: "nor is it once no policy adds it", taints: []corev1.Taint{out("dead", nil)}, remembered: []fleet.Mark{seen},
			want: []corev1.Taint{out("dead", &early)}, next: []fleet.Mark{of("dead", corev1.TaintEffectNoExecute, &early)},
		},
		{
			name: "others were seen before", taints: []corev1.Taint{out("own", nil)},
			remembered: []fleet.Mark{of("other", corev1.TaintEffectNoExecute, &early), of("own", corev1.TaintEffectNoSchedule, &early), of("own", corev1.TaintEffectNoExecute, nil)},
			want:       []corev1.Taint{out("own", &now)}, next: []fleet.Mark{of("own", corev1.TaintEffectNoExecute, &now)}, stamped: true,
		},
		{
			name: "others follow from what was observed", remembered: []fleet.Mark{added, byPolicy("dead", corev1.TaintEffectNoSchedule, true), other},
			want: []corev1.Taint{out("dead", &early), {Key: "dead", Effect: corev1.TaintEffectNoSchedule}, out("else", &early)},
			next: []fleet.Mark{added, byPolicy("dead", corev1.TaintEffectNoSchedule, true), other},
		},
		{
			name: "what a policy added stays with its value", remembered: []fleet.Mark{{Key: "sick", Value: "very", Effect: corev1.TaintEffectNoSchedule, Policy: true}},
			want: []corev1.Taint{{Key: "sick", Value: "very", Effect: corev1.TaintEffectNoSchedule}}, next: []fleet.Mark{{Key: "sick", Value: "very", Effect: corev1.TaintEffectNoSchedule, Policy: true}},
		},
		{
			name: "of what the registration says no value is remembered, and all is in order", taints: []corev1.Taint{{Key: "z", Value: "v", Effect: corev1.TaintEffectNoExecute}, out("own", nil)},
			want: []corev1.Taint{{Key: "z", Value: "v", Effect: corev1.TaintEffectNoExecute, TimeAdded: &now}, out("own", &now)},
			next: []fleet.Mark{of("own", corev1.TaintEffectNoExecute, &now), of("z", corev1.TaintEffectNoExecute, &now)}, stamped: true,
		},
		{
			name: "a policy may drive out of what is not ready", conditions: ready("True"), remembered: []fleet.Mark{{Key: karmada.TaintNotReady, Effect: corev1.TaintEffectNoExecute, TimeAdded: &early, Policy: true}},
			want: []corev1.Taint{out(karmada.TaintNotReady, &early)}, next: []fleet.Mark{{Key: karmada.TaintNotReady, Effect: corev1.TaintEffectNoExecute, TimeAdded: &early, Policy: true}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sources := func(_ int, conditionType string) bool { return tt.observed && conditionType == karmada.ConditionReady }
			c := karmada.Cluster{Spec: karmada.ClusterSpec{Taints: tt.taints}, Status: karmada.ClusterStatus{Conditions: tt.conditions}}
			c.Name = "eu"
			got, next, stamped := fleet.Lasting([]karmada.Cluster{c}, tt.policies, sources, fleet.Marks{"eu": tt.remembered}, now.Time)
			if _, ok := next["eu"]; ok != (len(tt.next) > 0) {
				t.Error("nothing is remembered, and that is")
			}
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

// TestLastingOfSeveral holds that what is remembered is of one cluster, and that one that is new makes all new.
func TestLastingOfSeveral(t *testing.T) {
	early := metav1.NewTime(time.Unix(100, 0).UTC())
	drives := corev1.Taint{Key: "own", Effect: corev1.TaintEffectNoExecute}
	var clusters []karmada.Cluster
	for _, name := range []string{"eu", "us"} {
		c := karmada.Cluster{Spec: karmada.ClusterSpec{Taints: []corev1.Taint{drives}}}
		c.Name = name
		clusters = append(clusters, c)
	}
	remembered := fleet.Marks{"eu": {{Key: "own", Effect: corev1.TaintEffectNoExecute}}, "us": {{Key: "own", Effect: corev1.TaintEffectNoExecute, TimeAdded: &early, Observed: true}}}
	out, _, stamped := fleet.Lasting(clusters, nil, func(int, string) bool { return false }, remembered, time.Unix(200, 0))
	if eu, us := out[0].Spec.Taints[0].TimeAdded.Unix(), out[1].Spec.Taints[0].TimeAdded.Unix(); eu != 200 || us != 100 || !stamped {
		t.Errorf("taints are since %d and %d, and new: %v", eu, us, stamped)
	}
	if clusters[0].Spec.Taints[0].TimeAdded != nil {
		t.Error("the registration was changed")
	}
	for cluster, want := range map[string]bool{"eu": false, "us": true} {
		if got := remembered.Observed(cluster, drives); got != want {
			t.Errorf("that of %s follows from what was observed: %v", cluster, got)
		}
	}
	drives.Effect = corev1.TaintEffectNoSchedule
	if remembered.Observed("us", drives) {
		t.Error("one of another effect follows from what was observed")
	}
}

// TestTolerates holds which toleration is for which taint.
func TestTolerates(t *testing.T) {
	taint := &corev1.Taint{Key: "zone", Value: "a", Effect: corev1.TaintEffectNoExecute}
	for _, tt := range []struct {
		name       string
		toleration corev1.Toleration
		want       bool
	}{
		{"key, value and effect", corev1.Toleration{Key: "zone", Operator: corev1.TolerationOpEqual, Value: "a", Effect: corev1.TaintEffectNoExecute}, true},
		{"equality needs no operator", corev1.Toleration{Key: "zone", Value: "a", Effect: corev1.TaintEffectNoExecute}, true},
		{"any effect", corev1.Toleration{Key: "zone", Value: "a"}, true},
		{"another effect", corev1.Toleration{Key: "zone", Value: "a", Effect: corev1.TaintEffectNoSchedule}, false},
		{"another key", corev1.Toleration{Key: "rack", Value: "a"}, false},
		{"another value", corev1.Toleration{Key: "zone", Value: "b"}, false},
		{"any value", corev1.Toleration{Key: "zone", Operator: corev1.TolerationOpExists}, true},
		{"everything", corev1.Toleration{Operator: corev1.TolerationOpExists}, true},
		{"everything of another effect", corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, false},
		{"another key, whatever its value", corev1.Toleration{Key: "rack", Operator: corev1.TolerationOpExists}, false},
		{"an operator that is none", corev1.Toleration{Key: "zone", Operator: "Gt", Value: "a"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fleet.Tolerates(tt.toleration, taint); got != tt.want {
				t.Errorf("it is tolerated: %t, want %t", got, tt.want)
			}
		})
	}
}
