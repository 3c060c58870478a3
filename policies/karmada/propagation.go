package karmada

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PropagationPolicy says which templates go to which clusters. A namespaced
// policy (kind PropagationPolicy) selects in its own namespace; the same type
// serves ClusterPropagationPolicy, which selects everywhere.
type PropagationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PropagationSpec `json:"spec"`
}

// PropagationSpec is the body of both propagation policy kinds.
type PropagationSpec struct {
	ResourceSelectors           []ResourceSelector   `json:"resourceSelectors"`
	Association                 bool                 `json:"association,omitempty"`
	PropagateDeps               bool                 `json:"propagateDeps,omitempty"`
	Placement                   Placement            `json:"placement,omitempty"`
	Priority                    *int32               `json:"priority,omitempty"`
	Preemption                  PreemptionBehavior   `json:"preemption,omitempty"`
	DependentOverrides          []string             `json:"dependentOverrides,omitempty"`
	SchedulerName               string               `json:"schedulerName,omitempty"`
	Failover                    *FailoverBehavior    `json:"failover,omitempty"`
	ConflictResolution          ConflictResolution   `json:"conflictResolution,omitempty"`
	ActivationPreference        ActivationPreference `json:"activationPreference,omitempty"`
	Suspension                  *Suspension          `json:"suspension,omitempty"`
	PreserveResourcesOnDeletion *bool                `json:"preserveResourcesOnDeletion,omitempty"`
	SchedulePriority            *SchedulePriority    `json:"schedulePriority,omitempty"`
}

// ExplicitPriority is spec.priority, 0 where it is not given.
func (s *PropagationSpec) ExplicitPriority() int32 {
	if s.Priority == nil {
		return 0
	}
	return *s.Priority
}

// ResourceSelector names templates by apiVersion and kind and, narrower, by
// namespace and by name or labels. A name makes the label selector moot.
type ResourceSelector struct {
	APIVersion    string                `json:"apiVersion"`
	Kind          string                `json:"kind"`
	Namespace     string                `json:"namespace,omitempty"`
	Name          string                `json:"name,omitempty"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

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

// ReplicaSchedulingType is how replicas relate to clusters.
type ReplicaSchedulingType string

// The replica scheduling types.
const (
	ReplicaSchedulingTypeDuplicated ReplicaSchedulingType = "Duplicated"
	ReplicaSchedulingTypeDivided    ReplicaSchedulingType = "Divided"
)

// ReplicaDivisionPreference is how divided replicas are divided.
type ReplicaDivisionPreference string

// The replica division preferences.
const (
	ReplicaDivisionPreferenceAggregated ReplicaDivisionPreference = "Aggregated"
	ReplicaDivisionPreferenceWeighted   ReplicaDivisionPreference = "Weighted"
)

// ReplicaScheduling says how replicas are given to the chosen clusters.
type ReplicaScheduling struct {
	ReplicaSchedulingType     ReplicaSchedulingType     `json:"replicaSchedulingType,omitempty"`
	ReplicaDivisionPreference ReplicaDivisionPreference `json:"replicaDivisionPreference,omitempty"`
	WeightPreference          *ClusterPreferences       `json:"weightPreference,omitempty"`
}

// DynamicWeightFactor is what dynamic weights are taken from.
type DynamicWeightFactor string

// DynamicWeightByAvailableReplicas weighs a cluster by the replicas it has room for.
const DynamicWeightByAvailableReplicas DynamicWeightFactor = "AvailableReplicas"

// ClusterPreferences weighs clusters, by a list or by their capacity.
type ClusterPreferences struct {
	StaticWeightList []StaticClusterWeight `json:"staticWeightList,omitempty"`
	DynamicWeight    DynamicWeightFactor   `json:"dynamicWeight,omitempty"`
}

// StaticClusterWeight gives the clusters it matches a weight of at least 1.
type StaticClusterWeight struct {
	TargetCluster ClusterAffinity `json:"targetCluster"`
	Weight        int64           `json:"weight"`
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

// PreemptionBehavior says whether a policy takes templates from others.
type PreemptionBehavior string

// The preemption behaviors.
const (
	PreemptAlways PreemptionBehavior = "Always"
	PreemptNever  PreemptionBehavior = "Never"
)

// ConflictResolution says what happens to an object that a cluster already has.
type ConflictResolution string

// The conflict resolutions.
const (
	ConflictOverwrite ConflictResolution = "Overwrite"
	ConflictAbort     ConflictResolution = "Abort"
)

// ActivationPreference says when a changed policy takes effect.
type ActivationPreference string

// LazyActivation waits for the template itself to change.
const LazyActivation ActivationPreference = "Lazy"

// PurgeMode is how an evicted application leaves its old cluster.
type PurgeMode string

// The purge modes.
const (
	PurgeModeDirectly   PurgeMode = "Directly"
	PurgeModeGracefully PurgeMode = "Gracefully"
	PurgeModeNever      PurgeMode = "Never"
)

// FailoverBehavior says what moves when an application or a cluster fails.
type FailoverBehavior struct {
	Application *ApplicationFailoverBehavior `json:"application,omitempty"`
	Cluster     *ClusterFailoverBehavior     `json:"cluster,omitempty"`
}

// ApplicationFailoverBehavior is failover of an unhealthy application.
type ApplicationFailoverBehavior struct {
	DecisionConditions DecisionConditions `json:"decisionConditions"`
	PurgeMode          PurgeMode          `json:"purgeMode,omitempty"`
	GracePeriodSeconds *int32             `json:"gracePeriodSeconds,omitempty"`
	StatePreservation  *StatePreservation `json:"statePreservation,omitempty"`
}

// DecisionConditions says when an application counts as failed.
type DecisionConditions struct {
	TolerationSeconds *int32 `json:"tolerationSeconds,omitempty"`
}

// ClusterFailoverBehavior is failover of a tainted cluster.
type ClusterFailoverBehavior struct {
	PurgeMode         PurgeMode          `json:"purgeMode,omitempty"`
	StatePreservation *StatePreservation `json:"statePreservation,omitempty"`
}

// StatePreservation carries status values into the next cluster as labels.
type StatePreservation struct {
	Rules []StatePreservationRule `json:"rules"`
}

// StatePreservationRule maps one status field to one label.
type StatePreservationRule struct {
	AliasLabelName string `json:"aliasLabelName"`
	JSONPath       string `json:"jsonPath"`
}

// Suspension holds dispatching, in all clusters or in some.
type Suspension struct {
	Dispatching           *bool            `json:"dispatching,omitempty"`
	DispatchingOnClusters *SuspendClusters `json:"dispatchingOnClusters,omitempty"`
}

// SuspendClusters lists clusters by name.
type SuspendClusters struct {
	ClusterNames []string `json:"clusterNames,omitempty"`
}

// SchedulePriority sets a binding's place in the scheduler's queue; it never
// changes a result.
type SchedulePriority struct {
	PriorityClassSource string `json:"priorityClassSource"`
	PriorityClassName   string `json:"priorityClassName"`
}
