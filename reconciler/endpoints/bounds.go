package endpoints

import (
	"fmt"
	"net/netip"
	"slices"

	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// What a slice may have at most: what the EndpointSlice API allows.
const (
	mostEndpoints = 1000
	mostPorts     = 100
)

// refuse says why a slice is not taken from a provider; empty if it is.
func refuse(s *Slice, ranges []netip.Prefix) string {
	switch {
	case len(validation.IsDNS1123Subdomain(s.Name)) > 0:
		return fmt.Sprintf("%.80q is no name of an EndpointSlice", s.Name)
	case s.AddressType != discovery.AddressTypeIPv4 && s.AddressType != discovery.AddressTypeIPv6:
		return fmt.Sprintf("its addressType is %.80q; IPv4 and IPv6 are taken", s.AddressType)
	case len(s.Endpoints) > mostEndpoints:
		return fmt.Sprintf("it has %d endpoints; at most %d are taken", len(s.Endpoints), mostEndpoints)
	case len(s.Ports) > mostPorts:
		return fmt.Sprintf("it has %d ports; at most %d are taken", len(s.Ports), mostPorts)
	}
	for i := range s.Endpoints {
		if len(s.Endpoints[i].Addresses) == 0 {
			return "it has an endpoint without an address"
		}
		for _, a := range s.Endpoints[i].Addresses {
			if why := refuseAddress(a, s.AddressType, ranges); why != "" {
				return why
			}
		}
	}
	return ""
}

// refuseAddress says why an address is not taken; empty if it is.
func refuseAddress(text string, of discovery.AddressType, ranges []netip.Prefix) string {
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" || a.Is4() != (of == discovery.AddressTypeIPv4) {
		return fmt.Sprintf("%.80q is no address of type %s", text, of)
	}
	plain := a.Unmap() // ::ffff:127.0.0.1 is loopback, too
	switch {
	case plain.IsLoopback():
		return text + " is a loopback address"
	case plain.IsLinkLocalUnicast() || plain.IsLinkLocalMulticast():
		return text + " is a link-local address"
	case plain.IsUnspecified() || plain.IsMulticast() || plain == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return text + " is no address of one pod"
	case len(ranges) > 0 && !slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(plain) }):
		return fmt.Sprintf("%s is in none of the ranges that the annotation %s of its Cluster lists", text, karmada.RangesAnnotation)
	}
	return ""
}
