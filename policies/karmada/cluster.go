package karmada

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cluster registers a member cluster (cluster.karmada.io/v1alpha1).
type Cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClusterSpec   `json:"spec,omitempty"`
	Status            ClusterStatus `json:"status,omitempty"`
}

// ClusterSyncMode is how a cluster is reached.
type ClusterSyncMode string

// The sync modes.
const (
	Push ClusterSyncMode = "Push"
	Pull ClusterSyncMode = "Pull"
)

// ClusterSpec is what people say of a cluster.
type ClusterSpec struct {
	ID                          string                `json:"id,omitempty"`
	SyncMode                    ClusterSyncMode       `json:"syncMode"`
	APIEndpoint                 string                `json:"apiEndpoint,omitempty"`
	SecretRef                   *LocalSecretReference `json:"secretRef,omitempty"`
	ImpersonatorSecretRef       *LocalSecretReference `json:"impersonatorSecretRef,omitempty"`
	InsecureSkipTLSVerification bool                  `json:"insecureSkipTLSVerification,omitempty"`
	ProxyURL                    string                `json:"proxyURL,omitempty"`
	ProxyHeader                 map[string]string     `json:"proxyHeader,omitempty"`
	Provider                    string                `json:"provider,omitempty"`
	Region                      string                `json:"region,omitempty"`
	Zone                        string                `json:"zone,omitempty"`
	Zones                       []string              `json:"zones,omitempty"`
	Taints                      []corev1.Taint        `json:"taints,omitempty"`
	ResourceModels              []ResourceModel       `json:"resourceModels,omitempty"`
}

// LocalSecretReference names a Secret.
type LocalSecretReference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// ResourceModel is a grade of node: what it has at least and at most.
type ResourceModel struct {
	Grade  uint                 `json:"grade"`
	Ranges []ResourceModelRange `json:"ranges"`
}

// ResourceModelRange bounds one resource of a grade.
type ResourceModelRange struct {
	Name corev1.ResourceName `json:"name"`
	Min  resource.Quantity   `json:"min"`
	Max  resource.Quantity   `json:"max"`
}
