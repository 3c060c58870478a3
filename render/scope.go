package render

import (
	"fmt"
	"slices"

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

type groupKind struct{ group, kind string }

// scopes tells cluster-scoped kinds from namespaced ones.
func scopes(objs []*object.Object) map[groupKind]bool {
	namespaced := map[groupKind]bool{}
	for _, o := range objs {
		if o.Ref().Kind != "CustomResourceDefinition" || o.Ref().Group != "apiextensions.k8s.io" {
			continue
		}
		spec, _ := o.Content()["spec"].(map[string]any)
		names, _ := spec["names"].(map[string]any)
		group, _ := spec["group"].(string)
		kind, _ := names["kind"].(string)
		namespaced[groupKind{group, kind}] = spec["scope"] != "Cluster"
	}
	for group, kinds := range clusterKinds {
		for _, kind := range kinds {
			namespaced[groupKind{group, kind}] = false
		}
	}
	return namespaced
}

// scope puts namespaced objects that name no namespace into "default", as kubectl
// does, and takes the namespace off cluster-scoped ones.
func (l *loader) scope() {
	all := append([]*object.Object(nil), l.src.Objects...)
	for _, objs := range l.src.Bound {
		all = append(all, objs...)
	}
	namespaced := scopes(all)
	for i, o := range l.src.Objects {
		l.src.Objects[i] = l.placed(o, namespaced)
	}
	for _, objs := range l.src.Bound {
		for i, o := range objs {
			objs[i] = l.placed(o, namespaced)
		}
	}
}

func (l *loader) placed(o *object.Object, scopes map[groupKind]bool) *object.Object {
	r := o.Ref()
	namespaced, known := scopes[groupKind{r.Group, r.Kind}]
	if !known {
		namespaced = isBuiltin(r.Group)
		if !namespaced && r.Namespace == "" && !isOwnKind(r) {
			l.report("unknown-scope", diag.Notice, o.Pos(),
				fmt.Sprintf("%s names no namespace and its kind is not known here; it is taken for cluster-scoped", r),
				"give it a metadata.namespace, or put its CustomResourceDefinition into the source")
		}
		if !namespaced {
			return o
		}
	}
	switch {
	case namespaced && r.Namespace == "":
		return o.InNamespace(defaultNamespace)
	case !namespaced && r.Namespace != "":
		return o.InNamespace("")
	}
	return o
}

func isOwnKind(r object.Ref) bool { return IsPolicyGroup(r.Group) || r.Name == "" }

// isBuiltin reports the groups of which every cluster-scoped kind is in
// clusterKinds. The other groups of clusterKinds are complete as well.
func isBuiltin(group string) bool {
	if _, ok := clusterKinds[group]; ok {
		return true
	}
	return slices.Contains(builtinGroups, group)
}
