package karmada

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// typed is what every kind here can do.
type typed interface {
	metav1.Object
	schema.ObjectKind
}

// kind says what is known of a kind besides its Go type.
type kind struct {
	make       func() typed
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
	{policyGroup, "PropagationPolicy"}:        {func() typed { return &PropagationPolicy{} }, true},
	{policyGroup, "ClusterPropagationPolicy"}: {func() typed { return &PropagationPolicy{} }, false},
	{policyGroup, "OverridePolicy"}:           {func() typed { return &OverridePolicy{} }, true},
	{policyGroup, "ClusterOverridePolicy"}:    {func() typed { return &OverridePolicy{} }, false},
	{policyGroup, "ClusterTaintPolicy"}:       {func() typed { return &ClusterTaintPolicy{} }, false},
	{policyGroup, "FederatedResourceQuota"}:   {func() typed { return &FederatedResourceQuota{} }, true},

	{clusterGroup, "Cluster"}: {func() typed { return &Cluster{} }, false},

	{workGroup, "Work"}:                      {func() typed { return &Work{} }, true},
	{bindingGroup, "ResourceBinding"}:        {func() typed { return &ResourceBinding{} }, true},
	{bindingGroup, "ClusterResourceBinding"}: {func() typed { return &ResourceBinding{} }, false},

	{autoscalingGroup, "FederatedHPA"}:     {func() typed { return &FederatedHPA{} }, true},
	{autoscalingGroup, "CronFederatedHPA"}: {func() typed { return &CronFederatedHPA{} }, true},
	{appsGroup, "WorkloadRebalancer"}:      {func() typed { return &WorkloadRebalancer{} }, false},
	{remedyGroup, "Remedy"}:                {func() typed { return &Remedy{} }, false},

	{configGroup, "ResourceInterpreterCustomization"}:        {func() typed { return &ResourceInterpreterCustomization{} }, false},
	{configGroup, "ResourceInterpreterWebhookConfiguration"}: {func() typed { return &ResourceInterpreterWebhookConfiguration{} }, false},

	{networkingGroup, "MultiClusterService"}: {func() typed { return &MultiClusterService{} }, true},
	{networkingGroup, "MultiClusterIngress"}: {func() typed { return &MultiClusterIngress{} }, true},
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
