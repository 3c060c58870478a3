package fleet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Observed returns a registered cluster with what was observed of it; nil is nothing. What the
// registration says of the status itself holds, field by field, and of the conditions type by
// type: observation fills in the rest. A cluster that is observed is tainted by its condition
// Ready, as Karmada does (section C.3). The input is not changed.
func Observed(c karmada.Cluster, seen *karmada.ClusterStatus) karmada.Cluster {
	if seen == nil {
		return c
	}
	s := &c.Status
	if s.KubernetesVersion == "" {
		s.KubernetesVersion = seen.KubernetesVersion
	}
	if len(s.APIEnablements) == 0 {
		s.APIEnablements = seen.APIEnablements
	}
	if s.NodeSummary == nil {
		s.NodeSummary = seen.NodeSummary
	}
	if s.ResourceSummary == nil {
		s.ResourceSummary = seen.ResourceSummary
	}
	s.Waybill = seen.Waybill
	said := len(s.Conditions)
	s.Conditions = slices.Clone(s.Conditions)
	for _, condition := range seen.Conditions {
		if !slices.ContainsFunc(s.Conditions[:said], func(c metav1.Condition) bool { return c.Type == condition.Type }) {
			s.Conditions = append(s.Conditions, condition)
		}
	}
	if t, ok := byReadiness(s.Conditions); ok {
		c.Spec.Taints = with(c.Spec.Taints, []karmada.PolicyTaint{t})
	}
	return c
}

// byReadiness is the taint that a cluster gets by its condition Ready; false for none.
func byReadiness(conditions []metav1.Condition) (karmada.PolicyTaint, bool) {
	i := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == karmada.ConditionReady })
	if i < 0 {
		return karmada.PolicyTaint{}, false
	}
	switch conditions[i].Status {
	case metav1.ConditionFalse:
		return karmada.PolicyTaint{Key: karmada.TaintNotReady, Effect: corev1.TaintEffectNoSchedule}, true
	case metav1.ConditionUnknown:
		return karmada.PolicyTaint{Key: karmada.TaintUnreachable, Effect: corev1.TaintEffectNoSchedule}, true
	default:
		return karmada.PolicyTaint{}, false
	}
}
