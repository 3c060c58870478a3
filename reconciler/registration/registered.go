package registration

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Registered lists the clusters that objects register, in the order of their names. One with an error
// is not among them. Known remembers what objects decode to; nil: nothing does.
func Registered(objects []*object.Object, known policies.Cache) []*karmada.Cluster {
	set, _, _ := policies.Load(Written(objects), known)
	all := make([]*karmada.Cluster, len(set.Clusters))
	for i := range set.Clusters {
		all[i] = &set.Clusters[i].Spec
	}
	return all
}

// Named returns the registered clusters that have one of these names, in the order of registered. By
// is who registers them.
func Named(registered []*karmada.Cluster, names []string, by string) ([]*karmada.Cluster, error) {
	var chosen []*karmada.Cluster
	for _, c := range registered {
		if slices.Contains(names, c.Name) {
			chosen = append(chosen, c)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(chosen, func(c *karmada.Cluster) bool { return c.Name == name }) {
			return nil, fmt.Errorf("no cluster %q is registered by %s; `waybill get clusters` lists them", name, by)
		}
	}
	return chosen, nil
}

// Pushed returns the registered clusters that have one of these names; without names those that
// are pushed to.
func Pushed(registered []*karmada.Cluster, names []string) ([]*karmada.Cluster, error) {
	if len(names) > 0 {
		return Named(registered, names, "what is published")
	}
	var chosen []*karmada.Cluster
	for _, c := range registered {
		if c.Spec.SyncMode == karmada.Push {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("no registered cluster has the syncMode Push; name the clusters to apply to")
	}
	return chosen, nil
}

// Written picks the Clusters from objects, as they are written, whether or not they have an error.
func Written(objects []*object.Object) (clusters []*object.Object) {
	for _, o := range objects {
		if o.Ref().Group == "cluster.karmada.io" && o.Ref().Kind == "Cluster" {
			clusters = append(clusters, o)
		}
	}
	return clusters
}
