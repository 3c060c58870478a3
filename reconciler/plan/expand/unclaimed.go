package expand

import (
	"github.com/waybill-dev/waybill/render/object"
)

// Unclaimed is a release that no policy selects: it is rendered once, or it stands in the folder of
// a cluster, or one that is so renders it.
type Unclaimed struct {
	Release  *object.Object
	Cluster  string           // in whose folder it stands; empty if in none
	Rendered []*object.Object // what it renders to, releases among it; nobody may modify it
}

// note records a release and what it renders to, if no policy selects it or what renders it.
func (x *expander) note(release *object.Object, rendered []*object.Object, s *scope) {
	if s.within == nil && !x.repository.SyncsItself(release, s.lookup) {
		x.nested.unclaimed = append(x.nested.unclaimed, Unclaimed{release, s.name(), rendered})
	}
}
