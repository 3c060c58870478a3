package fleet

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestTainted(t *testing.T) {
	ready := func(s metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: "Ready", Status: s}}
	}
	when := func(op karmada.MatchConditionOperator, s ...metav1.ConditionStatus) []karmada.MatchCondition {
		return []karmada.MatchCondition{{ConditionType: "Ready", Operator: op, StatusValues: s}}
	}
	for _, tt := range []struct {
		name        string
		add, remove []karmada.MatchCondition
		conditions  []metav1.Condition
		had         []corev1.Taint
		want        []string
	}{
		{"a condition that matches adds", when("In", "False", "Unknown"), nil, ready("False"), nil, []string{"sick"}},
		{"one that does not match adds nothing", when("In", "False"), nil, ready("True"), nil, nil},
		{"NotIn", when("NotIn", "True"), nil, ready("Unknown"), nil, []string{"sick"}},
		{"In no list", when("In"), nil, ready("True"), nil, nil},
		{"NotIn no list", when("NotIn"), nil, ready("True"), nil, []string{"sick"}},
		{"an operator that is none never matches", when("Like", "False"), nil, ready("True"), nil, nil},
		{"another condition does not count", when("In", "False"), nil, []metav1.Condition{{Type: "Disk", Status: "False"}, {Type: "Ready", Status: "True"}}, nil, nil},
		{"In does not add for what is not listed", when("In", "True"), nil, ready("False"), nil, nil},
		{"NotIn does not add for what is listed", when("NotIn", "True"), nil, ready("True"), nil, nil},
		{"a condition that is not reported never matches", when("NotIn", "True"), nil, nil, nil, nil},
		{"all demands must be met", append(when("In", "True"), when("In", "False")...), nil, ready("True"), nil, nil},
		{"no demands are never met", nil, nil, ready("False"), nil, nil},
		{"it is added once", when("In", "False"), nil, ready("False"), []corev1.Taint{{Key: "sick", Value: "x", Effect: "NoSchedule"}}, []string{"sick"}},
		{"another effect is another taint", when("In", "False"), nil, ready("False"), []corev1.Taint{{Key: "sick", Effect: "NoExecute"}}, []string{"sick", "sick"}},
		{"removal comes after adding", when("In", "False"), when("In", "False"), ready("False"), nil, nil},
		{"removal takes what people wrote, too", nil, when("In", "True"), ready("True"), []corev1.Taint{{Key: "sick", Effect: "NoSchedule"}, {Key: "mine", Effect: "NoSchedule"}}, []string{"mine"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			had := slices.Clone(tt.had)
			c := karmada.Cluster{Spec: karmada.ClusterSpec{Taints: tt.had}, Status: karmada.ClusterStatus{Conditions: tt.conditions}}
			p := &karmada.ClusterTaintPolicy{Spec: karmada.ClusterTaintPolicySpec{AddOnConditions: tt.add, RemoveOnConditions: tt.remove, Taints: []karmada.PolicyTaint{{Key: "sick", Effect: "NoSchedule"}}}}
			out := Tainted([]karmada.Cluster{c}, []*karmada.ClusterTaintPolicy{p})
			var got []string
			for _, x := range out[0].Spec.Taints {
				got = append(got, x.Key)
			}
			if d := cmp.Diff(tt.want, got); d != "" || !cmp.Equal(c.Spec.Taints, had) {
				t.Errorf("%s; what was given has %v", d, c.Spec.Taints)
			}
		})
	}
}

// TestTaintedIsOfItsClusters holds that a policy adds and removes in the clusters that it is for.
func TestTaintedIsOfItsClusters(t *testing.T) {
	named := func(name string) karmada.Cluster {
		c := karmada.Cluster{Status: karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True"}}}}
		c.Name = name
		return c
	}
	p := &karmada.ClusterTaintPolicy{Spec: karmada.ClusterTaintPolicySpec{
		TargetClusters:  &karmada.ClusterAffinity{ClusterNames: []string{"us"}},
		AddOnConditions: []karmada.MatchCondition{{ConditionType: "Ready", Operator: "In", StatusValues: []metav1.ConditionStatus{"True"}}},
		Taints:          []karmada.PolicyTaint{{Key: "sick", Effect: "NoSchedule"}},
	}}
	out := Tainted([]karmada.Cluster{named("eu"), named("us")}, []*karmada.ClusterTaintPolicy{p})
	if len(out[0].Spec.Taints) != 0 || len(out[1].Spec.Taints) != 1 {
		t.Errorf("eu has %v, us has %v", out[0].Spec.Taints, out[1].Spec.Taints)
	}
}
