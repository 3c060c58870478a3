package karmada

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions that are observed of a cluster (Karmada section C.2).
const (
	// ConditionReady says whether the API server answers, and is healthy.
	ConditionReady = "Ready"
	// ConditionCompleteAPIs says whether all of what the API server serves is known.
	ConditionCompleteAPIs = "CompleteAPIEnablements"
)

// The taints by which a cluster is kept out for its condition Ready (Karmada section C.3).
const (
	TaintNotReady    = "cluster.karmada.io/not-ready"
	TaintUnreachable = "cluster.karmada.io/unreachable"
)

// ClusterStatus is what was observed of a cluster, or written down by hand.
type ClusterStatus struct {
	KubernetesVersion string             `json:"kubernetesVersion,omitempty"`
	APIEnablements    []APIEnablement    `json:"apiEnablements,omitempty"`
	Conditions        []metav1.Condition `json:"conditions,omitempty"`
	NodeSummary       *NodeSummary       `json:"nodeSummary,omitempty"`
	ResourceSummary   *ResourceSummary   `json:"resourceSummary,omitempty"`
	RemedyActions     []string           `json:"remedyActions,omitempty"`
	// Waybill is what was observed besides. Karmada has no such field.
	Waybill *ObservedBesides `json:"waybill,omitempty"`
}

// ObservedBesides is what is observed of a cluster besides what Karmada records.
type ObservedBesides struct {
	// Unschedulable are workloads with replicas that wait for a node, in the order of namespaces
	// and names.
	Unschedulable []Unschedulable `json:"unschedulable,omitempty"`
	// Sequence is how far the sequence numbers were that the cluster's agent signed; nil: none is
	// known.
	Sequence *ObservedSequence `json:"sequence,omitempty"`
}

// ObservedSequence are the highest sequence numbers that an agent signed with a key: times, in
// milliseconds since 1970.
type ObservedSequence struct {
	Key         string `json:"key"` // fingerprint, as ssh-keygen -l shows it
	Observation uint64 `json:"observation,omitempty"`
	Heartbeat   uint64 `json:"heartbeat,omitempty"`
}

// Unschedulable is a workload with replicas that have waited for a node for longer than somebody
// asked for. It is named as its template is.
type Unschedulable struct {
	APIVersion    string `json:"apiVersion"`
	Kind          string `json:"kind"`
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	Pods          int32  `json:"pods"`            // of the workload
	Ready         int32  `json:"ready,omitempty"` // pods that are ready
	Unschedulable int32  `json:"unschedulable"`   // pods that wait for a node
	// Since is when the last of them began to wait, and Seen when this was observed.
	Since metav1.Time `json:"since"`
	Seen  metav1.Time `json:"seen"`
}

// APIEnablement lists the kinds that a cluster serves under a group version.
type APIEnablement struct {
	GroupVersion string        `json:"groupVersion"`
	Resources    []APIResource `json:"resources,omitempty"`
}

// APIResource is one served kind.
type APIResource struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// NodeSummary counts nodes.
type NodeSummary struct {
	TotalNum int32 `json:"totalNum,omitempty"`
	ReadyNum int32 `json:"readyNum,omitempty"`
}

// ResourceSummary sums a cluster's resources over its nodes.
type ResourceSummary struct {
	Allocatable          corev1.ResourceList   `json:"allocatable,omitempty"`
	Allocating           corev1.ResourceList   `json:"allocating,omitempty"`
	Allocated            corev1.ResourceList   `json:"allocated,omitempty"`
	AllocatableModelings []AllocatableModeling `json:"allocatableModelings,omitempty"`
}

// AllocatableModeling counts the nodes of a grade.
type AllocatableModeling struct {
	Grade uint `json:"grade"`
	Count int  `json:"count"`
}
