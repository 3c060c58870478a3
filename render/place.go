package render

import (
	"cmp"

	"github.com/waybill-dev/waybill/render/object"
)

// Place says where an object stands: in the whole source or, with a cluster, in the
// directory that is bound to it.
type Place struct {
	Cluster string
	Ref     object.Ref
}

// String prints it as messages name the part that it is.
func (p Place) String() string { return Broken{Ref: p.Ref, Cluster: p.Cluster}.String() }

// Compare orders places, those of the whole source first.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Cluster, o.Cluster), p.Ref.Compare(o.Ref))
}

// Each yields the objects of a source.
func (s *Source) Each(yield func(Place, *object.Object)) {
	for _, o := range s.Objects {
		yield(Place{Ref: o.Ref()}, o)
	}
	for cluster, objs := range s.Bound {
		for _, o := range objs {
			yield(Place{cluster, o.Ref()}, o)
		}
	}
}

// Find returns an object of a source, best at its place; nil if there is none.
func (s *Source) Find(p Place) (found *object.Object) {
	s.Each(func(at Place, o *object.Object) {
		if at.Ref == p.Ref && (found == nil || at.Cluster == p.Cluster) {
			found = o
		}
	})
	return found
}
