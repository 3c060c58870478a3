package karmada

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Placement says which clusters, and how many replicas in each.
type Placement struct {
	ClusterAffinity    *ClusterAffinity      `json:"clusterAffinity,omitempty"`
	ClusterAffinities  []ClusterAffinityTerm `json:"clusterAffinities,omitempty"`
	ClusterTolerations []corev1.Toleration   `json:"clusterTolerations,omitempty"`
	SpreadConstraints  []SpreadConstraint    `json:"spreadConstraints,omitempty"`
	ReplicaScheduling  *ReplicaScheduling    `json:"replicaScheduling,omitempty"`
	WorkloadAffinity   *WorkloadAffinity     `json:"workloadAffinity,omitempty"`
}

// ClusterAffinity is a filter over clusters: all that is given must hold.
// The zero value matches every cluster.
type ClusterAffinity struct {
	LabelSelector   *metav1.LabelSelector `json:"labelSelector,omitempty"`
	FieldSelector   *FieldSelector        `json:"fieldSelector,omitempty"`
	ClusterNames    []string              `json:"clusterNames,omitempty"`
	ExcludeClusters []string              `json:"exclude,omitempty"`
}

// FieldSelector filters on the cluster fields provider, region and zone.
type FieldSelector struct {
	MatchExpressions []corev1.NodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// ClusterAffinityTerm is one of an ordered list of affinity groups.
type ClusterAffinityTerm struct {
	AffinityName       string `json:"affinityName"`
	ClusterAffinity    `json:",inline"`
	OverflowAffinities []OverflowAffinityTerm `json:"overflowAffinities,omitempty"`
}

// OverflowAffinityTerm takes what the group before it has no room for.
type OverflowAffinityTerm struct {
	AffinityName    string `json:"affinityName"`
	ClusterAffinity `json:",inline"`
}

// SpreadFieldValue is a cluster field that a spread constraint groups by.
type SpreadFieldValue string

// The fields that clusters can be grouped by.
const (
	SpreadByFieldCluster  SpreadFieldValue = "cluster"
	SpreadByFieldRegion   SpreadFieldValue = "region"
	SpreadByFieldZone     SpreadFieldValue = "zone"
	SpreadByFieldProvider SpreadFieldValue = "provider"
)

// SpreadConstraint bounds how many groups of clusters are chosen.
type SpreadConstraint struct {
	SpreadByField SpreadFieldValue `json:"spreadByField,omitempty"`
	SpreadByLabel string           `json:"spreadByLabel,omitempty"`
	MaxGroups     int              `json:"maxGroups,omitempty"`
	MinGroups     int              `json:"minGroups,omitempty"`
}

// WorkloadAffinity groups workloads by the value of a label.
type WorkloadAffinity struct {
	Affinity     *WorkloadAffinityTerm `json:"affinity,omitempty"`
	AntiAffinity *WorkloadAffinityTerm `json:"antiAffinity,omitempty"`
}

// WorkloadAffinityTerm names the label whose value forms the group.
type WorkloadAffinityTerm struct {
	GroupByLabelKey string `json:"groupByLabelKey"`
}
