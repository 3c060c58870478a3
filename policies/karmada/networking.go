package karmada

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MultiClusterService serves the Service of its name in other clusters
// (networking.karmada.io/v1alpha1, Karmada section E.3).
type MultiClusterService struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MultiClusterServiceSpec `json:"spec"`
	Status            corev1.ServiceStatus    `json:"status,omitempty"`
}

// MultiClusterServiceSpec says which clusters have the endpoints and which call
// them; an empty list means every cluster. Range, ServiceProvisionClusters and
// ServiceConsumptionClusters are the old names.
type MultiClusterServiceSpec struct {
	Types                      []ExposureType    `json:"types"`
	Ports                      []ExposurePort    `json:"ports,omitempty"`
	Range                      ExposureRange     `json:"range,omitempty"`
	ServiceProvisionClusters   []string          `json:"serviceProvisionClusters,omitempty"`
	ServiceConsumptionClusters []string          `json:"serviceConsumptionClusters,omitempty"`
	ProviderClusters           []ClusterSelector `json:"providerClusters,omitempty"`
	ConsumerClusters           []ClusterSelector `json:"consumerClusters,omitempty"`
}

// Named are the clusters that a field names, or several do; none means every registered cluster.
type Named struct {
	Clusters []string
	Field    string // the last part of the field below spec; empty where none names any
}

// At is the path of the cluster of a number.
func (n *Named) At(i int) []any {
	switch n.Field {
	case providerField, consumerField:
		return []any{"spec", n.Field, i, "name"}
	case rangeField:
		return []any{"spec", n.Field, "clusterNames", i}
	}
	return []any{"spec", n.Field, i}
}

// The fields that name clusters: first those that Karmada reads.
const (
	providerField    = "providerClusters"
	consumerField    = "consumerClusters"
	provisionField   = "serviceProvisionClusters"
	consumptionField = "serviceConsumptionClusters"
	rangeField       = "range"
)

// Providers are the fields that name the clusters which have the endpoints, and Consumers those that name the ones which
// call them. The first counts; the others are deprecated, and Karmada reads none of them. Range names both.
func (s *MultiClusterServiceSpec) Providers() []Named {
	return s.named(providerField, s.ProviderClusters, provisionField, s.ServiceProvisionClusters)
}

// Consumers are like Providers.
func (s *MultiClusterServiceSpec) Consumers() []Named {
	return s.named(consumerField, s.ConsumerClusters, consumptionField, s.ServiceConsumptionClusters)
}

func (s *MultiClusterServiceSpec) named(field string, selectors []ClusterSelector, deprecated string, names []string) (all []Named) {
	var selected []string
	for _, c := range selectors {
		selected = append(selected, c.Name)
	}
	for _, n := range []Named{{selected, field}, {names, deprecated}, {s.Range.ClusterNames, rangeField}} {
		if len(n.Clusters) > 0 {
			all = append(all, n)
		}
	}
	return all
}

// IsCrossCluster reports an exposure to other clusters, and not by a load balancer.
func (s *MultiClusterServiceSpec) IsCrossCluster() bool {
	return slices.Contains(s.Types, ExposureTypeCrossCluster)
}

// ExposureType is how a service is exposed.
type ExposureType string

// The exposure types.
const (
	ExposureTypeCrossCluster ExposureType = "CrossCluster"
	ExposureTypeLoadBalancer ExposureType = "LoadBalancer"
)

// ExposurePort is a port of the Service that is exposed.
type ExposurePort struct {
	Name string `json:"name,omitempty"`
	Port int32  `json:"port"`
}

// ExposureRange lists clusters by name.
type ExposureRange struct {
	ClusterNames []string `json:"clusterNames,omitempty"`
}

// ClusterSelector names one cluster.
type ClusterSelector struct {
	Name string `json:"name"`
}

// MultiClusterIngress is an Ingress whose backends are in several clusters
// (networking.karmada.io/v1alpha1, Karmada section E.4).
type MultiClusterIngress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              networkingv1.IngressSpec  `json:"spec,omitempty"`
	Status            MultiClusterIngressStatus `json:"status,omitempty"`
}

// MultiClusterIngressStatus is an Ingress's status and where its services are.
type MultiClusterIngressStatus struct {
	networkingv1.IngressStatus `json:",inline"`
	TrafficBlockClusters       []string          `json:"trafficBlockClusters,omitempty"`
	ServiceLocations           []ServiceLocation `json:"serviceLocations,omitempty"`
}

// ServiceLocation lists the clusters that have a service.
type ServiceLocation struct {
	Name     string   `json:"name,omitempty"`
	Clusters []string `json:"clusters,omitempty"`
}
