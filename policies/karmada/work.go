package karmada

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Work carries the manifests that one cluster runs (work.karmada.io/v1alpha1,
// Karmada section D).
type Work struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WorkSpec   `json:"spec"`
	Status            WorkStatus `json:"status,omitempty"`
}

// WorkSpec is what a cluster should run.
type WorkSpec struct {
	Workload                    WorkloadTemplate `json:"workload,omitempty"`
	SuspendDispatching          *bool            `json:"suspendDispatching,omitempty"`
	PreserveResourcesOnDeletion *bool            `json:"preserveResourcesOnDeletion,omitempty"`
}

// WorkloadTemplate lists manifests.
type WorkloadTemplate struct {
	Manifests []Manifest `json:"manifests,omitempty"`
}

// Manifest is one object, kept as the bytes it was written in.
type Manifest struct {
	runtime.RawExtension `json:",inline"`
}

// WorkStatus is what became of the manifests in their cluster.
type WorkStatus struct {
	Conditions       []metav1.Condition `json:"conditions,omitempty"`
	ManifestStatuses []ManifestStatus   `json:"manifestStatuses,omitempty"`
}

// ManifestStatus is the state of one manifest.
type ManifestStatus struct {
	Identifier ResourceIdentifier    `json:"identifier"`
	Status     *runtime.RawExtension `json:"status,omitempty"`
	Health     ResourceHealth        `json:"health,omitempty"`
}

// ResourceIdentifier names a manifest; Ordinal is its index in the list.
type ResourceIdentifier struct {
	Ordinal   int    `json:"ordinal"`
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}
