package karmada

import (
	"fmt"
	"net/netip"
	"strings"
)

// RangesAnnotation of a Cluster bounds the addresses of endpoints that others take from it: ranges, with commas between them.
const RangesAnnotation = "waybill.dev/pod-cidrs"

// Ranges reads the value of RangesAnnotation; none for an empty one.
func Ranges(value string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for text := range strings.SplitSeq(value, ",") {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no range of addresses, as 10.0.0.0/8", text)
		}
		all = append(all, p)
	}
	return all, nil
}
