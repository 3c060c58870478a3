package virtual

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// SharedServer is the host by whose API server a cluster is reached that others are on, too: its own
// name if it is that; empty for a cluster that has its API server for itself.
func SharedServer(registered []*karmada.Cluster, c *karmada.Cluster) string {
	if m := Of(c); m != nil {
		return m.Host
	}
	isPart := func(o *karmada.Cluster) bool {
		m := Of(o)
		return m != nil && m.Host == c.Name
	}
	if slices.ContainsFunc(registered, isPart) {
		return c.Name
	}
	return ""
}
