package karmada

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// ResourceBinding records where one template goes (work.karmada.io/v1alpha2).
// The same type serves ClusterResourceBinding.
type ResourceBinding struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ResourceBindingSpec   `json:"spec"`
	Status            ResourceBindingStatus `json:"status,omitempty"`
}

// ResourceBindingSpec is the decision for a template.
type ResourceBindingSpec struct {
	Resource                    ObjectReference        `json:"resource"`
	PropagateDeps               bool                   `json:"propagateDeps,omitempty"`
	ReplicaRequirements         *ReplicaRequirements   `json:"replicaRequirements,omitempty"`
	Replicas                    int32                  `json:"replicas,omitempty"`
	Components                  []Component            `json:"components,omitempty"`
	Clusters                    []TargetCluster        `json:"clusters,omitempty"`
	GracefulEvictionTasks       []GracefulEvictionTask `json:"gracefulEvictionTasks,omitempty"`
	RequiredBy                  []BindingSnapshot      `json:"requiredBy,omitempty"`
	SchedulerName               string                 `json:"schedulerName,omitempty"`
	Placement                   *Placement             `json:"placement,omitempty"`
	Failover                    *FailoverBehavior      `json:"failover,omitempty"`
	ConflictResolution          ConflictResolution     `json:"conflictResolution,omitempty"`
	RescheduleTriggeredAt       *metav1.Time           `json:"rescheduleTriggeredAt,omitempty"`
	Suspension                  *BindingSuspension     `json:"suspension,omitempty"`
	PreserveResourcesOnDeletion *bool                  `json:"preserveResourcesOnDeletion,omitempty"`
	SchedulePriority            *BindingPriority       `json:"schedulePriority,omitempty"`
}

// BindingSuspension holds dispatching and, beside it, scheduling.
type BindingSuspension struct {
	Suspension `json:",inline"`
	Scheduling *bool `json:"scheduling,omitempty"`
}

// BindingPriority is the resolved priority of a binding.
type BindingPriority struct {
	Priority int32 `json:"priority,omitempty"`
}

// ObjectReference names a template.
type ObjectReference struct {
	APIVersion      string    `json:"apiVersion"`
	Kind            string    `json:"kind"`
	Namespace       string    `json:"namespace,omitempty"`
	Name            string    `json:"name"`
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
}

// TargetCluster is a chosen cluster and its replicas.
type TargetCluster struct {
	Name     string `json:"name"`
	Replicas int32  `json:"replicas,omitempty"`
}

// GracefulEvictionTask records a cluster that a template is leaving.
type GracefulEvictionTask struct {
	FromCluster            string            `json:"fromCluster"`
	PurgeMode              PurgeMode         `json:"purgeMode,omitempty"`
	Replicas               *int32            `json:"replicas,omitempty"`
	Reason                 string            `json:"reason"`
	Message                string            `json:"message,omitempty"`
	Producer               string            `json:"producer"`
	GracePeriodSeconds     *int32            `json:"gracePeriodSeconds,omitempty"`
	SuppressDeletion       *bool             `json:"suppressDeletion,omitempty"`
	PreservedLabelState    map[string]string `json:"preservedLabelState,omitempty"`
	CreationTimestamp      *metav1.Time      `json:"creationTimestamp,omitempty"`
	ClustersBeforeFailover []string          `json:"clustersBeforeFailover,omitempty"`
}

// BindingSnapshot names a binding that needs this one, and its clusters.
type BindingSnapshot struct {
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Clusters  []TargetCluster `json:"clusters,omitempty"`
}

// ResourceBindingStatus is what became of the decision.
type ResourceBindingStatus struct {
	SchedulerObservedGeneration   int64                  `json:"schedulerObservedGeneration,omitempty"`
	LastScheduledTime             *metav1.Time           `json:"lastScheduledTime,omitempty"`
	SchedulerObservedAffinityName string                 `json:"schedulerObservingAffinityName,omitempty"`
	Conditions                    []metav1.Condition     `json:"conditions,omitempty"`
	AggregatedStatus              []AggregatedStatusItem `json:"aggregatedStatus,omitempty"`
}

// ResourceHealth is Healthy, Unhealthy or Unknown.
type ResourceHealth string

// The health states.
const (
	ResourceHealthy   ResourceHealth = "Healthy"
	ResourceUnhealthy ResourceHealth = "Unhealthy"
	ResourceUnknown   ResourceHealth = "Unknown"
)

// AggregatedStatusItem is the state of the object in one cluster.
type AggregatedStatusItem struct {
	ClusterName    string                `json:"clusterName"`
	Status         *runtime.RawExtension `json:"status,omitempty"`
	Applied        bool                  `json:"applied,omitempty"`
	AppliedMessage string                `json:"appliedMessage,omitempty"`
	// Reason is the code of AppliedMessage. Karmada has no such field.
	Reason string         `json:"reason,omitempty"`
	Health ResourceHealth `json:"health,omitempty"`
}
