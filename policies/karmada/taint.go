package karmada

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterTaintPolicy taints clusters by their conditions
// (policy.karmada.io/v1alpha1, Karmada section C.4).
type ClusterTaintPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClusterTaintPolicySpec `json:"spec"`
}

// ClusterTaintPolicySpec adds Taints to the clusters for which every one of
// AddOnConditions holds and takes them away where every one of RemoveOnConditions
// does. An empty list never holds. TargetClusters nil means every cluster.
type ClusterTaintPolicySpec struct {
	TargetClusters     *ClusterAffinity `json:"targetClusters,omitempty"`
	AddOnConditions    []MatchCondition `json:"addOnConditions,omitempty"`
	RemoveOnConditions []MatchCondition `json:"removeOnConditions,omitempty"`
	Taints             []PolicyTaint    `json:"taints"`
}

// MatchConditionOperator relates a condition's status to a list.
type MatchConditionOperator string

// The operators of a MatchCondition.
const (
	MatchConditionOpIn    MatchConditionOperator = "In"
	MatchConditionOpNotIn MatchConditionOperator = "NotIn"
)

// MatchCondition is a demand on one condition of a cluster.
type MatchCondition struct {
	ConditionType string                   `json:"conditionType"`
	Operator      MatchConditionOperator   `json:"operator"`
	StatusValues  []metav1.ConditionStatus `json:"statusValues"`
}

// PolicyTaint is a taint without the time at which it was added.
type PolicyTaint struct {
	Key    string             `json:"key"`
	Effect corev1.TaintEffect `json:"effect"`
	Value  string             `json:"value,omitempty"`
}
