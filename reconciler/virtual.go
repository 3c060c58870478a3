package reconciler

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
)

// mapping is that of a cluster; nil for one with an API server of its own.
func (d *Deliverable) mapping(cluster string) *virtual.Mapping {
	c := d.registered(cluster)
	if c == nil {
		return nil
	}
	return virtual.Of(c)
}

// sharesWith is the host by whose API server a cluster is reached that others are on, too: its own
// name if it is that; empty for a cluster that has its API server for itself.
func sharesWith(registered []*karmada.Cluster, c *karmada.Cluster) string {
	if m := virtual.Of(c); m != nil {
		return m.Host
	}
	isPart := func(o *karmada.Cluster) bool {
		m := virtual.Of(o)
		return m != nil && m.Host == c.Name
	}
	if slices.ContainsFunc(registered, isPart) {
		return c.Name
	}
	return ""
}

// registered returns a cluster by its name; nil if it is not registered.
func (d *Deliverable) registered(name string) *karmada.Cluster {
	i, ok := slices.BinarySearchFunc(d.Clusters, name, func(c *karmada.Cluster, name string) int { return cmp.Compare(c.Name, name) })
	if !ok {
		return nil
	}
	return d.Clusters[i]
}

// owner is what a source is known by in a cluster. Each virtual cluster of an API server has an
// owner of its own there, and so an inventory: a round deletes nothing that another one applied.
func (d *Deliverable) owner(cluster, source string) string {
	if d.mapping(cluster) == nil {
		return source
	}
	return source + "#" + cluster
}

// formerOwners are what the source was known by in a cluster.
func (d *Deliverable) formerOwners(cluster string) []string {
	formers := make([]string, len(d.formerly))
	for i, former := range d.formerly {
		formers[i] = d.owner(cluster, former)
	}
	return formers
}

// idOf is the UID that the Namespace kube-system of a cluster has to have: that of the host where
// a virtual cluster does not say.
func (d *Deliverable) idOf(c *karmada.Cluster) string {
	if m := virtual.Of(c); m != nil && c.Spec.ID == "" {
		if host := d.registered(m.Host); host != nil {
			return host.Spec.ID
		}
	}
	return c.Spec.ID
}

// named returns what a status branch says of objects by the names that templates have.
func named(objects map[object.Ref]*status.Object, m *virtual.Mapping) map[object.Ref]*status.Object {
	if m == nil {
		return objects
	}
	out := make(map[object.Ref]*status.Object, len(objects))
	for r, o := range objects {
		out[m.Template(r)] = o
	}
	return out
}

// lend adds to what is said of a virtual cluster what its host says of objects that they share.
func lend(to, from *status.Word) {
	for r, o := range from.Objects {
		if _, known := to.Objects[r]; !known && virtual.Shared(r) {
			to.Objects[r] = o
		}
	}
}
