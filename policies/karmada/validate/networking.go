package validate

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// checkMultiClusterService holds for exposure (section E.3).
func checkMultiClusterService(fs *findings, s *karmada.MultiClusterServiceSpec, at field) {
	if s.Types == nil {
		fs.missing(at.at("types"))
	}
	for i, t := range s.Types {
		oneOf(fs, at.at("types", i), t, karmada.ExposureTypeCrossCluster, karmada.ExposureTypeLoadBalancer)
	}
	if types := slices.Compact(slices.Sorted(slices.Values(s.Types))); len(types) > 1 {
		fs.fail(at.at("types"), diag.ConflictingFields, fmt.Sprintf("has %d types, and may have one", len(types)), "write CrossCluster or LoadBalancer")
	}
	names := map[string]bool{}
	for i, p := range s.Ports {
		at := at.at("ports", i)
		if p.Name != "" {
			fs.invalid(at.at("name"), p.Name, validation.IsDNS1123Label(p.Name))
			if names[p.Name] {
				fs.fail(at.at("name"), diag.DuplicateValue, fmt.Sprintf("%q is the name of another port", p.Name), "")
			}
			names[p.Name] = true
		}
		fs.within(at.at("port"), &p.Port, 1, 65535)
	}
	for i, c := range s.ProviderClusters {
		fs.clusterName(at.at("providerClusters", i, "name"), c.Name)
	}
	for i, c := range s.ConsumerClusters {
		fs.clusterName(at.at("consumerClusters", i, "name"), c.Name)
	}
	checkNamed(fs, s.Providers(), "providerClusters")
	checkNamed(fs, s.Consumers(), "consumerClusters")
}

// checkNamed holds for the fields that name the clusters of one side: the deprecated ones count where the one that took their
// place is empty, and say nothing else where it is not.
func checkNamed(fs *findings, all []karmada.Named, successor string) {
	for i := range all {
		n := &all[i]
		at := field(n.At(0))[:2]
		switch {
		case n.Field == successor:
		case i > 0 && !sameNames(n.Clusters, all[0].Clusters):
			fs.fail(at, diag.ConflictingFields, "names other clusters than "+all[0].Field, "remove it: it is deprecated, and "+successor+" says the same")
		case all[0].Field == successor:
			fs.warn(at, diag.DeprecatedField, "is deprecated, and says no more than "+successor, "remove it")
		default:
			fs.warn(at, diag.DeprecatedField, fmt.Sprintf("is deprecated: here it stands for %s, which is empty; Karmada does not read it, and takes every cluster", successor),
				fmt.Sprintf("write %s: [{name: %s}]", successor, strings.Join(n.Clusters, "}, {name: ")))
		}
	}
}

// sameNames reports lists of the same names, in whatever order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// checkMultiClusterIngress holds for an Ingress (section E.4).
func checkMultiClusterIngress(fs *findings, s *networkingv1.IngressSpec, at field) {
	if s.DefaultBackend == nil && len(s.Rules) == 0 {
		fs.fail(at, diag.RequiredField, "needs defaultBackend or rules", "")
	}
	if s.DefaultBackend != nil {
		checkIngressBackend(fs, s.DefaultBackend, at.at("defaultBackend"))
	}
	for i, t := range s.TLS {
		for j, host := range t.Hosts {
			checkHost(fs, at.at("tls", i, "hosts", j), host)
		}
	}
	for i, r := range s.Rules {
		at := at.at("rules", i)
		checkHost(fs, at.at("host"), r.Host)
		if r.HTTP == nil {
			continue
		}
		if len(r.HTTP.Paths) == 0 {
			fs.fail(at.at("http", "paths"), diag.RequiredField, "has no path, and needs one", "")
		}
		for j := range r.HTTP.Paths {
			checkIngressPath(fs, &r.HTTP.Paths[j], at.at("http", "paths", j))
		}
	}
}

// checkHost may be empty, for every host, or begin with "*." for every one below it.
func checkHost(fs *findings, at field, host string) {
	switch {
	case host == "":
	case strings.Contains(host, "*"):
		fs.invalid(at, host, validation.IsWildcardDNS1123Subdomain(host))
	default:
		fs.invalid(at, host, validation.IsDNS1123Subdomain(host))
	}
}

func checkIngressPath(fs *findings, p *networkingv1.HTTPIngressPath, at field) {
	var pathType networkingv1.PathType
	if p.PathType != nil {
		pathType = *p.PathType
	}
	oneOf(fs, at.at("pathType"), pathType, networkingv1.PathTypeExact, networkingv1.PathTypePrefix, networkingv1.PathTypeImplementationSpecific)
	optional := pathType == networkingv1.PathTypeImplementationSpecific && p.Path == ""
	if !optional && !strings.HasPrefix(p.Path, "/") {
		fs.fail(at.at("path"), diag.InvalidValue, fmt.Sprintf("%q does not begin with a slash", p.Path), fmt.Sprintf("write %q", "/"+p.Path))
	}
	checkIngressBackend(fs, &p.Backend, at.at("backend"))
}

func checkIngressBackend(fs *findings, b *networkingv1.IngressBackend, at field) {
	switch {
	case (b.Service == nil) == (b.Resource == nil):
		fs.fail(at, diag.RequiredField, "needs exactly one of service and resource", "")
	case b.Resource != nil:
		fs.require(at.at("resource", "kind"), b.Resource.Kind, "")
		fs.require(at.at("resource", "name"), b.Resource.Name, "")
	default:
		checkIngressService(fs, b.Service, at.at("service"))
	}
}

func checkIngressService(fs *findings, s *networkingv1.IngressServiceBackend, at field) {
	if s.Name == "" {
		fs.require(at.at("name"), s.Name, "")
	} else {
		fs.invalid(at.at("name"), s.Name, validation.IsDNS1035Label(s.Name))
	}
	switch port := s.Port; {
	case (port.Name == "") == (port.Number == 0):
		fs.fail(at.at("port"), diag.RequiredField, "needs exactly one of name and number", "")
	case port.Name != "":
		fs.invalid(at.at("port", "name"), port.Name, validation.IsValidPortName(port.Name))
	default:
		fs.within(at.at("port", "number"), &port.Number, 1, 65535)
	}
}
