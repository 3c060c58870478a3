package published

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/sources/files"
)

// mapping is that of a cluster; nil for one with an API server of its own.
func (d *Desired) mapping(cluster string) *virtual.Mapping {
	c := d.registered(cluster)
	if c == nil {
		return nil
	}
	return virtual.Of(c)
}

// registered returns a cluster by its name; nil if it is not registered.
func (d *Desired) registered(name string) *karmada.Cluster {
	i, ok := slices.BinarySearchFunc(d.Clusters, name, func(c *karmada.Cluster, name string) int { return cmp.Compare(c.Name, name) })
	if !ok {
		return nil
	}
	return d.Clusters[i]
}

// owner is what a source is known by in a cluster. Each virtual cluster of an API server has an
// owner of its own there, and so an inventory: a round deletes nothing that another one applied.
func (d *Desired) owner(cluster, source string) string {
	if d.mapping(cluster) == nil {
		return source
	}
	return source + "#" + cluster
}

// FormerOwners are what the source was known by in a cluster.
func (d *Desired) FormerOwners(cluster string) []string {
	formers := make([]string, len(d.formerly))
	for i, former := range d.formerly {
		formers[i] = d.owner(cluster, former)
	}
	return formers
}

// IDOf is the UID that the Namespace kube-system of a cluster has to have: that of the host where
// a virtual cluster does not say.
func (d *Desired) IDOf(c *karmada.Cluster) string {
	if m := virtual.Of(c); m != nil && c.Spec.ID == "" {
		if host := d.registered(m.Host); host != nil {
			return host.Spec.ID
		}
	}
	return c.Spec.ID
}

// Owner is what the source is known by in a cluster, by the state branch.
func (d *Desired) Owner(cluster string) string {
	return d.owner(cluster, SourceID(d.revision.Repo, d.revision.Path))
}

// At is the desired state as it is with other heads of branches.
func (d *Desired) At(heads map[string]files.ID) *Desired {
	now := *d
	now.heads = heads
	return &now
}
