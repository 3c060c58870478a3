package fleet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestObservationFillsInWhatTheRegistrationLeavesOut(t *testing.T) {
	conditions := func(ready metav1.ConditionStatus, more ...metav1.Condition) []metav1.Condition {
		return append([]metav1.Condition{{Type: "Ready", Status: ready}}, more...)
	}
	room := func(pods int64) *karmada.ResourceSummary {
		return &karmada.ResourceSummary{Allocatable: corev1.ResourceList{"pods": *resource.NewQuantity(pods, resource.DecimalSI)}}
	}
	apis := func(v string) []karmada.APIEnablement { return []karmada.APIEnablement{{GroupVersion: v}} }
	seen := karmada.ClusterStatus{
		KubernetesVersion: "v1.35.0", APIEnablements: apis("v1"), Conditions: conditions("True"),
		NodeSummary: &karmada.NodeSummary{TotalNum: 3}, ResourceSummary: room(7), Waybill: &karmada.ObservedBesides{},
	}
	mine := corev1.Taint{Key: "mine", Effect: corev1.TaintEffectNoSchedule}
	notReady := corev1.Taint{Key: "cluster.karmada.io/not-ready", Effect: corev1.TaintEffectNoSchedule}
	unreachable := corev1.Taint{Key: "cluster.karmada.io/unreachable", Effect: corev1.TaintEffectNoSchedule}
	for _, tt := range []struct {
		name    string
		said    karmada.ClusterStatus
		taints  []corev1.Taint
		seen    *karmada.ClusterStatus
		want    karmada.ClusterStatus
		tainted []corev1.Taint
	}{
		{"nothing is observed", karmada.ClusterStatus{Conditions: conditions("False")}, nil, nil, karmada.ClusterStatus{Conditions: conditions("False")}, nil},
		{"nothing is said", karmada.ClusterStatus{}, []corev1.Taint{mine}, &seen, seen, []corev1.Taint{mine}},
		{
			"all is said",
			karmada.ClusterStatus{KubernetesVersion: "v1", APIEnablements: apis("x"), NodeSummary: &karmada.NodeSummary{}, ResourceSummary: room(1), Conditions: conditions("True")},
			nil, &seen,
			karmada.ClusterStatus{KubernetesVersion: "v1", APIEnablements: apis("x"), NodeSummary: &karmada.NodeSummary{}, ResourceSummary: room(1), Conditions: conditions("True"), Waybill: seen.Waybill},
			nil,
		},
		{
			"a condition of another type is said",
			karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: "Disk", Status: "True"}}},
			nil, &karmada.ClusterStatus{Conditions: conditions("True", metav1.Condition{Type: "Disk", Status: "False"})},
			karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: "Disk", Status: "True"}, {Type: "Ready", Status: "True"}}},
			nil,
		},
		{"it is not ready", karmada.ClusterStatus{}, []corev1.Taint{mine}, &karmada.ClusterStatus{Conditions: conditions("False")}, karmada.ClusterStatus{Conditions: conditions("False")}, []corev1.Taint{mine, notReady}},
		{"it is tainted already", karmada.ClusterStatus{}, []corev1.Taint{notReady}, &karmada.ClusterStatus{Conditions: conditions("False")}, karmada.ClusterStatus{Conditions: conditions("False")}, []corev1.Taint{notReady}},
		{"it is said to be ready", karmada.ClusterStatus{Conditions: conditions("True")}, nil, &karmada.ClusterStatus{Conditions: conditions("False")}, karmada.ClusterStatus{Conditions: conditions("True")}, nil},
		{"nobody knows", karmada.ClusterStatus{}, nil, &karmada.ClusterStatus{Conditions: conditions("Unknown")}, karmada.ClusterStatus{Conditions: conditions("Unknown")}, []corev1.Taint{unreachable}},
		{"nothing is said of readiness", karmada.ClusterStatus{}, nil, &karmada.ClusterStatus{}, karmada.ClusterStatus{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := karmada.Cluster{Spec: karmada.ClusterSpec{Taints: tt.taints}, Status: tt.said}
			got := Observed(c, tt.seen)
			if d := cmp.Diff(tt.want, got.Status) + cmp.Diff(tt.tainted, got.Spec.Taints) + cmp.Diff(tt.said, c.Status); d != "" || len(c.Spec.Taints) != len(tt.taints) {
				t.Error(d)
			}
		})
	}
}

// TestObservedConditionsAreACopy holds that two observations of one registration do not write over each other.
func TestObservedConditionsAreACopy(t *testing.T) {
	said := append(make([]metav1.Condition, 0, 2), metav1.Condition{Type: "Disk", Status: "True"})
	c := karmada.Cluster{Status: karmada.ClusterStatus{Conditions: said}}
	seen := func(status metav1.ConditionStatus) *karmada.ClusterStatus {
		return &karmada.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: status}}}
	}
	first := Observed(c, seen("True"))
	Observed(c, seen("False"))
	if got := first.Status.Conditions[1].Status; got != "True" {
		t.Errorf("the first observation became %s", got)
	}
}
