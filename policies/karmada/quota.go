package karmada

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FederatedResourceQuota bounds what a namespace uses over all clusters
// (policy.karmada.io/v1alpha1, Karmada section E.7).
type FederatedResourceQuota struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FederatedResourceQuotaSpec   `json:"spec"`
	Status            FederatedResourceQuotaStatus `json:"status,omitempty"`
}

// FederatedResourceQuotaSpec is the bound over all clusters, and the parts of it
// that are given to clusters by name.
type FederatedResourceQuotaSpec struct {
	Overall           corev1.ResourceList       `json:"overall"`
	StaticAssignments []StaticClusterAssignment `json:"staticAssignments,omitempty"`
}

// StaticClusterAssignment is the ResourceQuota of one cluster.
type StaticClusterAssignment struct {
	ClusterName string              `json:"clusterName"`
	Hard        corev1.ResourceList `json:"hard"`
}

// FederatedResourceQuotaStatus is what was observed of a quota.
type FederatedResourceQuotaStatus struct {
	Overall          corev1.ResourceList  `json:"overall,omitempty"`
	OverallUsed      corev1.ResourceList  `json:"overallUsed,omitempty"`
	AggregatedStatus []ClusterQuotaStatus `json:"aggregatedStatus,omitempty"`
}

// ClusterQuotaStatus is the quota's state in one cluster.
type ClusterQuotaStatus struct {
	ClusterName                string `json:"clusterName"`
	corev1.ResourceQuotaStatus `json:",inline"`
}
