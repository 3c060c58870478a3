package expand

import (
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/flux"
	"github.com/waybill-dev/waybill/render/object"
)

// scope is what the releases of one unfolding have in common.
type scope struct {
	cluster *fleet.Cluster // that they are rendered for; nil for none
	bound   bool           // they stand in its own directory
	around  []*object.Object
	lookup  *flux.Index // what they may refer to
	asked   int         // how many jobs were wanted before it
	// within overrides a release that another one renders; nil: nothing overrides those.
	within func(*object.Object) (*object.Object, *diag.Diagnostic)
}

// id names a release of the scope.
func (s *scope) id(o *object.Object) state.ReleaseID {
	if s.bound {
		return state.ReleaseID{Cluster: s.cluster.Name, Release: o.Ref()}
	}
	return state.ReleaseID{Release: o.Ref()}
}

// mapping is the cluster's; nil for one that is not virtual, and without one.
func (s *scope) mapping() *virtual.Mapping {
	if s.cluster == nil {
		return nil
	}
	return virtual.Of(s.cluster.Source)
}

// name is the cluster's; empty without one.
func (s *scope) name() string {
	if s.cluster == nil {
		return ""
	}
	return s.cluster.Name
}
