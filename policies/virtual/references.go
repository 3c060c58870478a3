package virtual

import (
	"maps"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
)

// reference is a field that names namespaces.
type reference struct {
	path path
	as   form
}

// form rewrites a field that names namespaces, and reports whether it did.
type form func(r *rewriter, v any) (any, bool)

const (
	rbacGroup    = "rbac.authorization.k8s.io"
	admission    = "admissionregistration.k8s.io"
	gatewayGroup = "gateway.networking.k8s.io"
	monitoring   = "monitoring.coreos.com"
	// nameLabel is the label of every Namespace that says its name.
	nameLabel = "kubernetes.io/metadata.name"
)

// references are the fields that name namespaces, by kind. docs/virtual-clusters.md lists them.
var references = func() map[object.GroupKind][]reference {
	t := table{}
	t.add(named, "", "ServiceAccount", "secrets[].namespace")
	t.add(named, "", "Endpoints", "subsets[].addresses[].targetRef.namespace", "subsets[].notReadyAddresses[].targetRef.namespace")
	t.add(named, "", "PersistentVolumeClaim", "spec.dataSourceRef.namespace")
	t.add(named, "", "PersistentVolume", "spec.claimRef.namespace",
		"spec.csi.controllerPublishSecretRef.namespace", "spec.csi.controllerExpandSecretRef.namespace",
		"spec.csi.nodeStageSecretRef.namespace", "spec.csi.nodePublishSecretRef.namespace", "spec.csi.nodeExpandSecretRef.namespace")
	t.add(named, "discovery.k8s.io", "EndpointSlice", "endpoints[].targetRef.namespace")
	t.add(named, "apps", "StatefulSet", "spec.volumeClaimTemplates[].spec.dataSourceRef.namespace")
	t.add(named, "networking.k8s.io", "IngressClass", "spec.parameters.namespace")
	t.add(labelled, "networking.k8s.io", "NetworkPolicy", "spec.ingress[].from[].namespaceSelector", "spec.egress[].to[].namespaceSelector")
	for _, kind := range []string{"RoleBinding", "ClusterRoleBinding"} {
		t.add(subject, rbacGroup, kind, "subjects[]")
	}
	for _, kind := range []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
		t.add(named, admission, kind, "webhooks[].clientConfig.service.namespace")
		t.add(labelled, admission, kind, "webhooks[].namespaceSelector")
	}
	for _, kind := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"} {
		t.add(labelled, admission, kind, "spec.matchConstraints.namespaceSelector")
		t.add(named, admission, kind+"Binding", "spec.paramRef.namespace")
		t.add(labelled, admission, kind+"Binding", "spec.matchResources.namespaceSelector")
	}
	t.add(named, "apiregistration.k8s.io", "APIService", "spec.service.namespace")
	t.add(named, "apiextensions.k8s.io", "CustomResourceDefinition", "spec.conversion.webhook.clientConfig.service.namespace")
	t.gateway()
	t.add(named, "image.toolkit.fluxcd.io", "ImageUpdateAutomation", "spec.sourceRef.namespace")
	t.add(named, "image.toolkit.fluxcd.io", "ImagePolicy", "spec.imageRepositoryRef.namespace")
	t.add(named, "notification.toolkit.fluxcd.io", "Alert", "spec.eventSources[].namespace")
	t.add(named, "notification.toolkit.fluxcd.io", "Receiver", "spec.resources[].namespace")
	t.add(named, "source.extensions.fluxcd.io", "ArtifactGenerator", "spec.sources[].namespace")
	for _, kind := range []string{"Issuer", "ClusterIssuer"} {
		t.add(named, "cert-manager.io", kind, "spec.acme.solvers[].http01.gatewayHTTPRoute.parentRefs[].namespace")
	}
	for _, kind := range []string{"ServiceMonitor", "PodMonitor"} {
		t.add(listed, monitoring, kind, "spec.namespaceSelector.matchNames")
	}
	t.add(listed, monitoring, "Probe", "spec.targets.ingress.namespaceSelector.matchNames")
	t.add(named, monitoring, "Prometheus", "spec.alerting.alertmanagers[].namespace")
	t.add(labelled, monitoring, "Prometheus", "spec.serviceMonitorNamespaceSelector", "spec.podMonitorNamespaceSelector", "spec.probeNamespaceSelector", "spec.ruleNamespaceSelector")
	return t
}()

// podReferences are the fields of a pod spec that name namespaces.
var podReferences = func() (all []reference) {
	for _, kind := range []string{"podAffinity", "podAntiAffinity"} {
		for _, term := range []string{"requiredDuringSchedulingIgnoredDuringExecution[].", "preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm."} {
			all = append(all, reference{parsePath("affinity." + kind + "." + term + "namespaces"), listed},
				reference{parsePath("affinity." + kind + "." + term + "namespaceSelector"), labelled})
		}
	}
	return append(all, reference{parsePath("volumes[].ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace"), named})
}()

type table map[object.GroupKind][]reference

func (t table) add(as form, group, kind string, paths ...string) {
	k := object.GroupKind{Group: group, Kind: kind}
	for _, p := range paths {
		t[k] = append(t[k], reference{parsePath(p), as})
	}
}

// gateway adds the kinds of the Gateway API.
func (t table) gateway() {
	for _, kind := range []string{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"} {
		t.add(named, gatewayGroup, kind, "spec.parentRefs[].namespace", "spec.rules[].backendRefs[].namespace",
			"spec.rules[].filters[].requestMirror.backendRef.namespace", "spec.rules[].backendRefs[].filters[].requestMirror.backendRef.namespace")
	}
	t.add(named, gatewayGroup, "Gateway", "spec.listeners[].tls.certificateRefs[].namespace")
	t.add(labelled, gatewayGroup, "Gateway", "spec.listeners[].allowedRoutes.namespaces.selector")
	t.add(named, gatewayGroup, "GatewayClass", "spec.parametersRef.namespace")
	t.add(named, gatewayGroup, "ReferenceGrant", "spec.from[].namespace")
}

// named is the name of a namespace.
func named(r *rewriter, v any) (any, bool) {
	if name, ok := v.(string); ok && r.has(name) {
		return r.mapping.Namespace(name), true
	}
	return v, false
}

// listed is a list of names of namespaces.
func listed(r *rewriter, v any) (any, bool) {
	return edit(v, path{"[]"}, func(v any) (any, bool) { return named(r, v) })
}

// labelled is a selector of namespaces by their labels, of which one is the name.
func labelled(r *rewriter, v any) (any, bool) {
	byLabel, one := edit(v, path{"matchLabels", nameLabel}, func(v any) (any, bool) { return named(r, v) })
	byList, more := edit(byLabel, path{"matchExpressions", "[]"}, func(v any) (any, bool) {
		if textAt(v, "key") != nameLabel {
			return v, false
		}
		return edit(v, path{"values"}, func(v any) (any, bool) { return listed(r, v) })
	})
	return byList, one || more
}

// subject is whom a binding of RBAC is about: a ServiceAccount, or as User or Group what an API
// server calls ServiceAccounts.
func subject(r *rewriter, v any) (any, bool) {
	s, _ := v.(map[string]any)
	if textAt(s, "kind") == "ServiceAccount" {
		return edit(s, path{"namespace"}, func(v any) (any, bool) { return named(r, v) })
	}
	name := textAt(s, "name")
	for _, prefix := range []string{"system:serviceaccounts:", "system:serviceaccount:"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			namespace, _, _ := strings.Cut(rest, ":")
			if !r.has(namespace) {
				return v, false
			}
			s = maps.Clone(s)
			s["name"] = prefix + r.mapping.Namespace(namespace) + strings.TrimPrefix(rest, namespace)
			return s, true
		}
	}
	return v, false
}
