// Package endpoints says which EndpointSlices a cluster has of services that other clusters export: what is kept of the slices
// of a provider, what a consumer takes of it, under which names, and what of its own slices it deletes. It is values in, values
// out: it reads nothing, and has no clock.
//
// Nothing is lost by an error. What is not known of a provider leaves its slices in the consumer as they are, and so does what
// is refused. Deleted is what was made here, for this source, and is certainly not exported and imported any more.
package endpoints

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/apply"
)

const (
	// ManagedBy is the value of the label discovery.LabelManagedBy that slices have which Waybill made.
	ManagedBy = "services.waybill.dev"
	// ProviderAnnotation names the cluster that a slice comes from, as Karmada does.
	ProviderAnnotation = "endpointslice.karmada.io/provision-cluster"
	// ProviderUIDAnnotation is the UID of that cluster's Namespace kube-system: a cluster that is made anew has another one.
	ProviderUIDAnnotation = "waybill.dev/provider-uid"
	// BookAnnotation is the number of that cluster's book by which a slice became what it is: none with a lower one counts any more,
	// whoever reads it.
	BookAnnotation = "waybill.dev/book"
	// SilentAnnotation says that no newer book came for so long that the endpoints are not ready.
	SilentAnnotation = "waybill.dev/silent"
)

// The values of discovery.LabelManagedBy of others who bring endpoints from other clusters.
const (
	karmadaCollects   = "endpointslice-controller.karmada.io"
	karmadaDispatches = "endpointslice-dispatch-controller.karmada.io"
	lighthouse        = "lighthouse-agent.submariner.io"
)

// Slice is what is kept of an EndpointSlice: no node, no object that stands behind an address, and no hint, for those mean
// nothing in another cluster.
type Slice struct {
	Name        string                   `json:"name"`
	AddressType discovery.AddressType    `json:"addressType"`
	Ports       []discovery.EndpointPort `json:"ports,omitempty"`
	Endpoints   []Endpoint               `json:"endpoints,omitempty"`
}

// Endpoint is what is kept of an endpoint.
type Endpoint struct {
	Addresses  []string                     `json:"addresses"`
	Conditions discovery.EndpointConditions `json:"conditions"`
	Hostname   *string                      `json:"hostname,omitempty"`
	Zone       *string                      `json:"zone,omitempty"`
}

// Services are what a cluster has of services, by their namespaces and names: slices, in the order of names.
type Services map[types.NamespacedName][]Slice

// IsReplaced reports a slice that is there whose place one of the same name takes: Karmada's, which it made of another cluster's, and
// one that was made here for the same source. It may have lost its label ManagedBy, so that nobody manages it; with the label of
// somebody else it is theirs.
func IsReplaced(is, by *discovery.EndpointSlice) bool {
	if isKarmadas(is) {
		return true
	}
	manager, owner := is.Labels[discovery.LabelManagedBy], is.Annotations[apply.OwnerAnnotation]
	return (manager == "" || manager == ManagedBy) && owner != "" && owner == by.Annotations[apply.OwnerAnnotation]
}

func isKarmadas(s *discovery.EndpointSlice) bool {
	by := s.Labels[discovery.LabelManagedBy]
	return by == karmadaCollects || by == karmadaDispatches
}

// isImported reports a slice that somebody brought from another cluster, which is passed over: otherwise endpoints went round.
func isImported(s *discovery.EndpointSlice) bool {
	by := s.Labels[discovery.LabelManagedBy]
	return by == ManagedBy || by == lighthouse || isKarmadas(s)
}

// Collect says what a cluster has of each of the services: one that has no slices is there, too. Slices that were brought from
// other clusters are passed over, and those that are being deleted.
func Collect(services []types.NamespacedName, live []*discovery.EndpointSlice) Services {
	all := Services{}
	for _, s := range services {
		all[s] = nil
	}
	for _, l := range live {
		of := types.NamespacedName{Namespace: l.Namespace, Name: l.Labels[discovery.LabelServiceName]}
		if _, exported := all[of]; exported && !isImported(l) && l.DeletionTimestamp == nil {
			all[of] = append(all[of], kept(l))
		}
	}
	for _, s := range all {
		slices.SortFunc(s, func(a, b Slice) int { return strings.Compare(a.Name, b.Name) })
	}
	return all
}

// kept is what is kept of a slice, sorted.
func kept(l *discovery.EndpointSlice) Slice {
	s := Slice{Name: l.Name, AddressType: l.AddressType, Ports: portsOf(l.Ports)}
	for i := range l.Endpoints {
		e := &l.Endpoints[i]
		s.Endpoints = append(s.Endpoints, Endpoint{Addresses: e.Addresses, Conditions: e.Conditions, Hostname: e.Hostname, Zone: e.Zone})
	}
	slices.SortStableFunc(s.Endpoints, func(a, b Endpoint) int { return slices.Compare(a.Addresses, b.Addresses) })
	return s
}

// portsOf are ports with what an API server adds to them, in the order of names and numbers.
func portsOf(ports []discovery.EndpointPort) []discovery.EndpointPort {
	all := slices.Clone(ports)
	for i := range all {
		p := &all[i]
		if p.Name == nil {
			p.Name = new(string)
		}
		if p.Protocol == nil {
			tcp := corev1.ProtocolTCP
			p.Protocol = &tcp
		}
	}
	slices.SortStableFunc(all, func(a, b discovery.EndpointPort) int {
		return cmp.Or(strings.Compare(*a.Name, *b.Name), cmp.Compare(numberOf(a), numberOf(b)))
	})
	return all
}

// numberOf is the number of a port; -1 for one that stands for all.
func numberOf(p discovery.EndpointPort) int32 {
	if p.Port == nil {
		return -1
	}
	return *p.Port
}
