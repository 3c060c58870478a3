package fleet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Tainted returns the clusters with the taints that policies, in the given order,
// add and take away by the clusters' conditions (Karmada section C.4). The input is
// not changed.
func Tainted(clusters []karmada.Cluster, policies []*karmada.ClusterTaintPolicy) []karmada.Cluster {
	return tainted(clusters, policies, func(int, *karmada.ClusterTaintPolicy) {})
}

// tainted is Tainted, and tells which policy adds its taints to a cluster, by its index.
func tainted(clusters []karmada.Cluster, policies []*karmada.ClusterTaintPolicy, adds func(cluster int, p *karmada.ClusterTaintPolicy)) []karmada.Cluster {
	out := slices.Clone(clusters)
	for _, p := range policies {
		m := Compile(p.Spec.TargetClusters)
		for i := range out {
			c := &out[i]
			if !m.Matches(New([]karmada.Cluster{*c}).clusters[0]) {
				continue
			}
			if all(p.Spec.AddOnConditions, c.Status.Conditions) {
				c.Spec.Taints = with(c.Spec.Taints, p.Spec.Taints)
				adds(i, p)
			}
			if all(p.Spec.RemoveOnConditions, c.Status.Conditions) {
				c.Spec.Taints = without(c.Spec.Taints, p.Spec.Taints)
			}
		}
	}
	return out
}

// all reports whether every demand is met. No demands are never met, and neither
// is one on a condition that the cluster does not report, or one with an operator
// that there is not.
func all(demands []karmada.MatchCondition, conditions []metav1.Condition) bool {
	for _, d := range demands {
		if !slices.ContainsFunc(conditions, func(c metav1.Condition) bool {
			return c.Type == d.ConditionType && meets(d, c.Status)
		}) {
			return false
		}
	}
	return len(demands) > 0
}

func meets(d karmada.MatchCondition, status metav1.ConditionStatus) bool {
	listed := slices.Contains(d.StatusValues, status)
	return d.Operator == karmada.MatchConditionOpIn && listed || d.Operator == karmada.MatchConditionOpNotIn && !listed
}

func same(t corev1.Taint, p karmada.PolicyTaint) bool { return t.Key == p.Key && t.Effect == p.Effect }

func with(taints []corev1.Taint, add []karmada.PolicyTaint) []corev1.Taint {
	out := slices.Clone(taints)
	for _, p := range add {
		if !slices.ContainsFunc(out, func(t corev1.Taint) bool { return same(t, p) }) {
			out = append(out, corev1.Taint{Key: p.Key, Value: p.Value, Effect: p.Effect})
		}
	}
	return out
}

func without(taints []corev1.Taint, remove []karmada.PolicyTaint) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool {
		return slices.ContainsFunc(remove, func(p karmada.PolicyTaint) bool { return same(t, p) })
	})
}
