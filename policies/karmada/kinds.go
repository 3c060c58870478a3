package karmada

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is what every kind here can do.
type object interface {
	metav1.Object
	schema.ObjectKind
}

// kind says what is known of a kind besides its Go type.
type kind struct {
	make       func() object
	namespaced bool
}

// gvk is an apiVersion and a kind, as people write them.
type gvk struct{ apiVersion, kind string }

const (
	policyGroup      = "policy.karmada.io/v1alpha1"
	clusterGroup     = "cluster.karmada.io/v1alpha1"
	workGroup        = "work.karmada.io/v1alpha1"
	bindingGroup     = "work.karmada.io/v1alpha2"
	autoscalingGroup = "autoscaling.karmada.io/v1alpha1"
	appsGroup        = "apps.karmada.io/v1alpha1"
	remedyGroup      = "remedy.karmada.io/v1alpha1"
	configGroup      = "config.karmada.io/v1alpha1"
	networkingGroup  = "networking.karmada.io/v1alpha1"
)

// kinds is every kind that Decode makes.
var kinds = map[gvk]kind{
	{policyGroup, "PropagationPolicy"}:        {func() object { return &PropagationPolicy{} }, true},
	{policyGroup, "ClusterPropagationPolicy"}: {func() object { return &PropagationPolicy{} }, false},
	{policyGroup, "OverridePolicy"}:           {func() object { return &OverridePolicy{} }, true},
	{policyGroup, "ClusterOverridePolicy"}:    {func() object { return &OverridePolicy{} }, false},
	{policyGroup, "ClusterTaintPolicy"}:       {func() object { return &ClusterTaintPolicy{} }, false},
	{policyGroup, "FederatedResourceQuota"}:   {func() object { return &FederatedResourceQuota{} }, true},

	{clusterGroup, "Cluster"}: {func() object { return &Cluster{} }, false},

	{workGroup, "Work"}:                      {func() object { return &Work{} }, true},
	{bindingGroup, "ResourceBinding"}:        {func() object { return &ResourceBinding{} }, true},
	{bindingGroup, "ClusterResourceBinding"}: {func() object { return &ResourceBinding{} }, false},

	{autoscalingGroup, "FederatedHPA"}:     {func() object { return &FederatedHPA{} }, true},
	{autoscalingGroup, "CronFederatedHPA"}: {func() object { return &CronFederatedHPA{} }, true},
	{appsGroup, "WorkloadRebalancer"}:      {func() object { return &WorkloadRebalancer{} }, false},
	{remedyGroup, "Remedy"}:                {func() object { return &Remedy{} }, false},

	{configGroup, "ResourceInterpreterCustomization"}:        {func() object { return &ResourceInterpreterCustomization{} }, false},
	{configGroup, "ResourceInterpreterWebhookConfiguration"}: {func() object { return &ResourceInterpreterWebhookConfiguration{} }, false},

	{networkingGroup, "MultiClusterService"}: {func() object { return &MultiClusterService{} }, true},
	{networkingGroup, "MultiClusterIngress"}: {func() object { return &MultiClusterIngress{} }, true},
}

// Known reports whether Decode knows the kind, in exactly this version.
// ServiceExport and ServiceImport are templates, not policies, and not known here.
func Known(apiVersion, kind string) bool {
	_, ok := kinds[gvk{apiVersion, kind}]
	return ok
}

// Namespaced reports whether objects of a kind that is Known are in a namespace.
func Namespaced(apiVersion, kind string) bool {
	return kinds[gvk{apiVersion, kind}].namespaced
}
