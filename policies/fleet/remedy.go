package fleet

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Actions returns the actions that remedies have in force for a cluster, sorted (Karmada section
// E.8): those of each remedy that is for the cluster, and of which some condition holds. One
// without conditions is always in force.
func Actions(c *karmada.Cluster, remedies []*karmada.Remedy) (actions []string) {
	for _, r := range remedies {
		isFor := r.Spec.ClusterAffinity == nil || slices.Contains(r.Spec.ClusterAffinity.ClusterNames, c.Name)
		if !isFor || r.Spec.DecisionMatches != nil && !slices.ContainsFunc(r.Spec.DecisionMatches, func(m karmada.DecisionMatch) bool { return decides(m, c.Status.Conditions) }) {
			continue
		}
		for _, a := range r.Spec.Actions {
			actions = append(actions, string(a))
		}
	}
	slices.Sort(actions)
	return slices.Compact(actions)
}

// decides reports whether a condition holds. One that a cluster does not report does not.
func decides(m karmada.DecisionMatch, conditions []metav1.Condition) bool {
	if m.ClusterConditionMatch == nil {
		return false
	}
	c := meta.FindStatusCondition(conditions, m.ClusterConditionMatch.ConditionType)
	if c == nil {
		return false
	}
	isEqual := string(c.Status) == m.ClusterConditionMatch.ConditionStatus
	return isEqual == (m.ClusterConditionMatch.Operator == karmada.ClusterConditionEqual)
}
