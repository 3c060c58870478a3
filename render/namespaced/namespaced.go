// Package namespaced tells which kinds have namespaces: the built-in ones, and those that a source defines.
package namespaced

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// clusterKinds are the built-in kinds that have no namespace, by group.
var clusterKinds = map[string][]string{
	"":                             {"Namespace", "Node", "PersistentVolume", "ComponentStatus"},
	"admissionregistration.k8s.io": {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"networking.k8s.io":            {"IngressClass", "IPAddress", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"policy":                       {"PodSecurityPolicy"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"StorageClass", "CSIDriver", "CSINode", "VolumeAttachment", "VolumeAttributesClass"},
	"cluster.karmada.io":           {"Cluster"},
	"policy.karmada.io":            {"ClusterPropagationPolicy", "ClusterOverridePolicy", "ClusterTaintPolicy"},
	"apps.karmada.io":              {"WorkloadRebalancer"},
	"config.karmada.io":            {"ResourceInterpreterCustomization", "ResourceInterpreterWebhookConfiguration"},
	"remedy.karmada.io":            {"Remedy"},
	"work.karmada.io":              {"ClusterResourceBinding"},
}

// builtinGroups are the groups whose kinds are all known here, so that what is not
// in clusterKinds has a namespace.
var builtinGroups = []string{
	"", "apps", "autoscaling", "batch", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions",
	"networking.karmada.io", "autoscaling.karmada.io",
}

// Kinds tells cluster-scoped kinds from namespaced ones: the built-in kinds, and
// those that CustomResourceDefinitions define.
type Kinds struct {
	namespaced map[object.GroupKind]bool
}

// Of learns from the CustomResourceDefinitions among objs.
func Of(objs ...[]*object.Object) Kinds {
	namespaced := map[object.GroupKind]bool{}
	for o := range slices.Values(slices.Concat(objs...)) {
		if d, ok := o.Defines(); ok {
			namespaced[d.GroupKind] = d.Namespaced
		}
	}
	for _, kind := range []string{"ServiceExport", "ServiceImport"} {
		namespaced[object.GroupKind{Group: "multicluster.x-k8s.io", Kind: kind}] = true
	}
	for kind, isNamespaced := range rolloutKinds {
		namespaced[object.GroupKind{Group: Placements, Kind: kind}] = isNamespaced
	}
	for group, kinds := range clusterKinds {
		for _, kind := range kinds {
			namespaced[object.GroupKind{Group: group, Kind: kind}] = false
		}
	}
	return Kinds{namespaced}
}

// Namespaced reports whether objects of a kind have a namespace; known is false for
// a kind that nothing here defines.
func (k Kinds) Namespaced(group, kind string) (namespaced, known bool) {
	if namespaced, known = k.namespaced[object.GroupKind{Group: group, Kind: kind}]; known {
		return namespaced, true
	}
	if isBuiltin(group) {
		return true, true
	}
	return false, false
}

// Released returns what a release in a namespace rendered to as it would be
// installed: a namespaced object that names no namespace is in the release's. A kind
// that is not known is taken for namespaced, unless its name says otherwise, as
// those of ClusterIssuer and GatewayClass do.
func (k Kinds) Released(o *object.Object, namespace string) *object.Object {
	r := o.Ref()
	namespaced, known := k.Namespaced(r.Group, r.Kind)
	if !known {
		namespaced = !strings.HasPrefix(r.Kind, "Cluster") && !strings.HasSuffix(r.Kind, "Class")
	}
	switch {
	case namespaced && r.Namespace == "":
		return o.InNamespace(namespace)
	case !namespaced && known && r.Namespace != "":
		return o.InNamespace("")
	}
	return o
}

// isBuiltin reports the groups of which every cluster-scoped kind is in
// clusterKinds. The other groups of clusterKinds are complete as well.
func isBuiltin(group string) bool {
	if _, ok := clusterKinds[group]; ok {
		return true
	}
	return slices.Contains(builtinGroups, group)
}

// Placements is the group of KubeFleet's placements.
const Placements = "placement.kubernetes-fleet.io"

// rolloutKinds are its kinds that are about roll-outs, and whether they have a namespace.
var rolloutKinds = map[string]bool{
	"ClusterStagedUpdateStrategy": false, "ClusterStagedUpdateRun": false, "ClusterApprovalRequest": false,
	"StagedUpdateStrategy": true, "StagedUpdateRun": true, "ApprovalRequest": true,
}

// IsRollout reports a kind of KubeFleet's placements that is about roll-outs.
func IsRollout(kind string) bool {
	_, is := rolloutKinds[kind]
	return is
}
