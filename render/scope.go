package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// defaultNamespace is where kubectl puts a namespaced object that names none.
const defaultNamespace = "default"

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

// Scopes tells cluster-scoped kinds from namespaced ones: the built-in kinds, and
// those that CustomResourceDefinitions define.
type Scopes struct {
	namespaced map[object.GroupKind]bool
}

// ScopesOf learns from the CustomResourceDefinitions among objs.
func ScopesOf(objs ...[]*object.Object) Scopes {
	namespaced := map[object.GroupKind]bool{}
	for o := range slices.Values(slices.Concat(objs...)) {
		if d, ok := o.Defines(); ok {
			namespaced[d.GroupKind] = d.Namespaced
		}
	}
	for kind, isNamespaced := range rolloutKinds {
		namespaced[object.GroupKind{Group: placementGroup, Kind: kind}] = isNamespaced
	}
	for group, kinds := range clusterKinds {
		for _, kind := range kinds {
			namespaced[object.GroupKind{Group: group, Kind: kind}] = false
		}
	}
	return Scopes{namespaced}
}

// Namespaced reports whether objects of a kind have a namespace; known is false for
// a kind that nothing here defines.
func (s Scopes) Namespaced(group, kind string) (namespaced, known bool) {
	if namespaced, known = s.namespaced[object.GroupKind{Group: group, Kind: kind}]; known {
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
func (s Scopes) Released(o *object.Object, namespace string) *object.Object {
	r := o.Ref()
	namespaced, known := s.Namespaced(r.Group, r.Kind)
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

// scope puts namespaced objects that name no namespace into "default", as kubectl
// does, and takes the namespace off cluster-scoped ones.
func (l *loader) scope() {
	all := [][]*object.Object{l.src.Objects}
	for _, objs := range l.src.Bound {
		all = append(all, objs)
	}
	scopes := ScopesOf(append(slices.Clone(all), l.inherited, l.unlisted)...)
	for _, objs := range all {
		for i, o := range objs {
			objs[i] = l.placed(o, scopes)
		}
	}
}

func (l *loader) placed(o *object.Object, scopes Scopes) *object.Object {
	r := o.Ref()
	namespaced, known := scopes.Namespaced(r.Group, r.Kind)
	switch {
	case !known && r.Namespace == "" && !isOwnKind(r):
		l.report(diag.UnknownScope, diag.Notice, o.Origin(),
			fmt.Sprintf("%s names no namespace and its kind is not known here; it is taken for cluster-scoped", r),
			"give it a metadata.namespace, or put its CustomResourceDefinition into the source")
		return o
	case namespaced && r.Namespace == "":
		return o.InNamespace(defaultNamespace)
	case known && !namespaced && r.Namespace != "":
		return o.InNamespace("")
	}
	return o
}

func isOwnKind(r object.Ref) bool { return IsPolicy(r) || r.Name == "" }

// isBuiltin reports the groups of which every cluster-scoped kind is in
// clusterKinds. The other groups of clusterKinds are complete as well.
func isBuiltin(group string) bool {
	if _, ok := clusterKinds[group]; ok {
		return true
	}
	return slices.Contains(builtinGroups, group)
}
