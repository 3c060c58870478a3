package karmada

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
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
	name       func(string) []string // says why a name is not valid
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
	{policyGroup, "PropagationPolicy"}:        {func() object { return &PropagationPolicy{} }, true, validation.IsDNS1123Subdomain},
	{policyGroup, "ClusterPropagationPolicy"}: {func() object { return &PropagationPolicy{} }, false, validation.IsDNS1123Subdomain},
	{policyGroup, "OverridePolicy"}:           {func() object { return &OverridePolicy{} }, true, validation.IsDNS1123Subdomain},
	{policyGroup, "ClusterOverridePolicy"}:    {func() object { return &OverridePolicy{} }, false, validation.IsDNS1123Subdomain},
	{policyGroup, "ClusterTaintPolicy"}:       {func() object { return &ClusterTaintPolicy{} }, false, validation.IsDNS1123Subdomain},
	{policyGroup, "FederatedResourceQuota"}:   {func() object { return &FederatedResourceQuota{} }, true, quotaName},

	{clusterGroup, "Cluster"}: {func() object { return &Cluster{} }, false, clusterName},

	{workGroup, "Work"}:                      {func() object { return &Work{} }, true, validation.IsDNS1123Subdomain},
	{bindingGroup, "ResourceBinding"}:        {func() object { return &ResourceBinding{} }, true, validation.IsDNS1123Subdomain},
	{bindingGroup, "ClusterResourceBinding"}: {func() object { return &ResourceBinding{} }, false, validation.IsDNS1123Subdomain},

	{autoscalingGroup, "FederatedHPA"}:     {func() object { return &FederatedHPA{} }, true, validation.IsDNS1123Subdomain},
	{autoscalingGroup, "CronFederatedHPA"}: {func() object { return &CronFederatedHPA{} }, true, validation.IsDNS1123Subdomain},
	{appsGroup, "WorkloadRebalancer"}:      {func() object { return &WorkloadRebalancer{} }, false, validation.IsDNS1123Subdomain},
	{remedyGroup, "Remedy"}:                {func() object { return &Remedy{} }, false, validation.IsDNS1123Subdomain},

	{configGroup, "ResourceInterpreterCustomization"}:        {func() object { return &ResourceInterpreterCustomization{} }, false, validation.IsDNS1123Subdomain},
	{configGroup, "ResourceInterpreterWebhookConfiguration"}: {func() object { return &ResourceInterpreterWebhookConfiguration{} }, false, validation.IsDNS1123Subdomain},

	{networkingGroup, "MultiClusterService"}: {func() object { return &MultiClusterService{} }, true, validation.IsDNS1035Label},
	{networkingGroup, "MultiClusterIngress"}: {func() object { return &MultiClusterIngress{} }, true, validation.IsDNS1123Subdomain},
}

// Known reports whether Decode knows the kind, in exactly this version.
// ServiceExport and ServiceImport are templates, not policies, and not known here.
func Known(apiVersion, kind string) bool {
	_, ok := kinds[gvk{apiVersion, kind}]
	return ok
}
