// Package fleet holds the clusters at one instant, as values: what people
// registered, joined with what was observed or written down by hand, and the
// questions that policies ask of a cluster. Does this affinity match it? Does it
// serve this kind? How many more replicas of this size does it have room for?
//
// Affinities are compiled once and then match without allocating, because every
// policy is held against every cluster; a Matcher also says in words why a cluster
// does not match. Capacity is computed as Karmada's general estimator computes it
// (Karmada section A.13), from quantities that are subtracted once per cluster.
//
// Nothing here observes a cluster, and nothing chooses between clusters: that is
// package place. A Fleet and all that is reached from it must not be changed
// once made, and is then safe for concurrent use.
package fleet

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Cluster is one member cluster.
type Cluster struct {
	Name     string
	Labels   map[string]string
	Provider string   // empty when not given
	Region   string   // empty when not given
	Zones    []string // with the deprecated spec.zone migrated, as Karmada's webhook does (section A.7)
	Taints   []corev1.Taint
	Source   *karmada.Cluster // the registration all of this was read from

	apis     map[api]struct{} // nil: not known
	capacity capacity
}

// api is a kind under the group version that serves it.
type api struct{ groupVersion, kind string }

// Fleet is a set of clusters in name order. The zero value is an empty fleet.
type Fleet struct {
	clusters []*Cluster
}

// New returns the fleet of the given clusters, whose order does not matter and
// whose names the caller keeps unique. It copies the slice, not what the
// clusters' fields point to.
func New(clusters []karmada.Cluster) Fleet {
	own := slices.Clone(clusters)
	f := Fleet{clusters: make([]*Cluster, len(own))}
	for i := range own {
		f.clusters[i] = newCluster(&own[i])
	}
	slices.SortFunc(f.clusters, func(a, b *Cluster) int { return strings.Compare(a.Name, b.Name) })
	return f
}

func newCluster(source *karmada.Cluster) *Cluster {
	c := &Cluster{
		Name:     source.Name,
		Labels:   source.Labels,
		Provider: source.Spec.Provider,
		Region:   source.Spec.Region,
		Zones:    source.Spec.Zones,
		Taints:   source.Spec.Taints,
		Source:   source,
		apis:     served(source.Status.APIEnablements),
		capacity: newCapacity(source),
	}
	if len(c.Zones) == 0 && source.Spec.Zone != "" {
		c.Zones = []string{source.Spec.Zone}
	}
	return c
}

func served(enablements []karmada.APIEnablement) map[api]struct{} {
	if len(enablements) == 0 {
		return nil
	}
	apis := make(map[api]struct{})
	for _, e := range enablements {
		for _, r := range e.Resources {
			apis[api{e.GroupVersion, r.Kind}] = struct{}{}
		}
	}
	return apis
}

// Clusters returns the clusters by ascending name. The slice belongs to the fleet.
func (f Fleet) Clusters() []*Cluster { return f.clusters }

// Lookup returns the cluster of that name, or nil and false.
func (f Fleet) Lookup(name string) (*Cluster, bool) {
	i, ok := slices.BinarySearchFunc(f.clusters, name, func(c *Cluster, name string) int {
		return strings.Compare(c.Name, name)
	})
	if !ok {
		return nil, false
	}
	return f.clusters[i], true
}

// Serves reports whether the cluster serves kind under apiVersion. A cluster
// whose status.apiEnablements is empty is taken to serve everything: Karmada
// always has that list, a repository may leave it out (section A.9).
func (c *Cluster) Serves(apiVersion, kind string) bool {
	if c.apis == nil {
		return true
	}
	_, ok := c.apis[api{apiVersion, kind}]
	return ok
}

// APIVersions lists what the API server of a cluster has, as Helm names it: groups with
// versions, and with the kinds in them.
func (c *Cluster) APIVersions() (all []string) {
	for _, e := range c.Source.Status.APIEnablements {
		all = append(all, e.GroupVersion)
		for _, r := range e.Resources {
			all = append(all, e.GroupVersion+"/"+r.Kind)
		}
	}
	return all
}

// IsUnready reports a cluster whose condition Ready is known, and is not true.
func (c *Cluster) IsUnready() bool {
	ready := meta.FindStatusCondition(c.Source.Status.Conditions, karmada.ConditionReady)
	return ready != nil && ready.Status != metav1.ConditionTrue
}

// Server returns the name of the cluster whose API server a cluster has: its own, if it is not
// virtual.
func (c *Cluster) Server() string {
	return cmp.Or(c.Source.Annotations[karmada.VirtualOfAnnotation], c.Name)
}
