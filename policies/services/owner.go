package services

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

// Owners returns, for MultiClusterServices, what sends their Services: a policy for each, which places it Duplicated on the
// clusters that have the endpoints and on those that call them, and takes over what is there. Those for the same clusters share what
// the policy says.
func Owners(exposures []policies.Located[karmada.MultiClusterService]) map[object.Ref]*policies.Propagation {
	if len(exposures) == 0 {
		return nil
	}
	owned := make(map[object.Ref]*policies.Propagation, len(exposures))
	specs := map[string]*karmada.PropagationSpec{} // by the clusters
	for _, e := range exposures {
		names := clusters(&e.Value.Spec)
		key := strings.Join(names, " ") // no name has a space
		if specs[key] == nil {
			specs[key] = placed(names)
		}
		owned[Of(e.Object.Ref())] = &policies.Propagation{Object: e.Object, Spec: specs[key]}
	}
	return owned
}

// clusters are those that have the endpoints of a MultiClusterService, and those that call it, in the order of names; nil for every
// registered one.
func clusters(s *karmada.MultiClusterServiceSpec) []string {
	provides, calls := Providers(s), Consumers(s)
	if provides == nil || calls == nil {
		return nil
	}
	names := slices.Concat(provides, calls)
	slices.Sort(names)
	return slices.Compact(names)
}

// placed is what a policy says that places a Service on clusters; on all for nil.
func placed(names []string) *karmada.PropagationSpec {
	p := &karmada.PropagationPolicy{}
	p.Spec.ConflictResolution = karmada.ConflictOverwrite
	if names != nil {
		p.Spec.Placement.ClusterAffinity = &karmada.ClusterAffinity{ClusterNames: names}
	}
	karmada.Default(p)
	return &p.Spec
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
