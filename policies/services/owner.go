package services

import (
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Owners returns, for MultiClusterServices, what sends their Services: a policy for each, which places it Duplicated on the
// clusters that have the endpoints and on those that call them, and takes over what is there.
func Owners(exposures []policies.Located[karmada.MultiClusterService]) map[object.Ref]*policies.Propagation {
	if len(exposures) == 0 {
		return nil
	}
	owned := make(map[object.Ref]*policies.Propagation, len(exposures))
	for _, e := range exposures {
		p := &karmada.PropagationPolicy{}
		p.Spec.ConflictResolution = karmada.ConflictOverwrite
		provides, calls := Providers(&e.Value.Spec), Consumers(&e.Value.Spec)
		if provides != nil && calls != nil {
			names := slices.Concat(provides, calls)
			slices.Sort(names)
			p.Spec.Placement.ClusterAffinity = &karmada.ClusterAffinity{ClusterNames: slices.Compact(names)}
		}
		karmada.Default(p)
		owned[Of(e.Object.Ref())] = &policies.Propagation{Object: e.Object, Spec: &p.Spec}
	}
	return owned
}

// Providers are the clusters that have the endpoints of a MultiClusterService; nil for every registered one.
func Providers(s *karmada.MultiClusterServiceSpec) []string { return first(s.Providers()) }

// Consumers are the clusters that call it; nil for every registered one.
func Consumers(s *karmada.MultiClusterServiceSpec) []string { return first(s.Consumers()) }

func first(all []karmada.Named) []string {
	if len(all) == 0 {
		return nil
	}
	return all[0].Clusters
}
