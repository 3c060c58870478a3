package karmada

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/sources/ignore"
)

// PropagationPolicy says which templates go to which clusters. A namespaced
// policy (kind PropagationPolicy) selects in its own namespace; the same type
// serves ClusterPropagationPolicy, which selects everywhere.
type PropagationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PropagationSpec `json:"spec"`
}

// DefaultScheduler is the only scheduler that Karmada runs by itself.
const DefaultScheduler = "default-scheduler"

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

// Wild reports a selector of any kind: "*" for both apiVersion and kind. Karmada has none.
func (s ResourceSelector) Wild() bool { return s.APIVersion == Wildcard && s.Kind == Wildcard }

const (
	// Wildcard stands for every apiVersion, or every kind.
	Wildcard = "*"
	// PathsAnnotation of a policy lists, in gitignore syntax, one a line, the paths of the source at
	// which objects have to stand for the policy to select them.
	PathsAnnotation = ignore.PathsAnnotation
	// BackendsAnnotation of a Cluster says what becomes of ServiceImports to which routes of the Gateway API send traffic; without it
	// they are as they are written.
	BackendsAnnotation = "waybill.dev/service-import-backends"
	// BackendsRewrite is the value of BackendsAnnotation with which they become the Services that stand for them.
	BackendsRewrite = "rewrite"
)

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
