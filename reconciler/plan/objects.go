package plan

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// OfRelease reports an object that a release renders, or rendered when it was published last.
func (p *Plan) OfRelease(r object.Ref) bool {
	of := func(rel state.Release) bool { return slices.Contains(rel.Objects, r) }
	return slices.ContainsFunc(p.Expanded.Releases, of) || p.Asked.State != nil && slices.ContainsFunc(p.Asked.State.Releases, of)
}

// Private returns the values of Secrets that manifests of the plan were rendered with, by
// what the manifests are called.
func (p *Plan) Private() map[object.Ref][]string {
	all := map[object.Ref][]string{}
	note := func(o *object.Object) {
		if o.Private() {
			all[o.Ref()] = append(all[o.Ref()], o.Secrets()...)
		}
	}
	for i := range p.Decisions {
		t := p.Decisions[i].Template
		if note(t.Object); t.Part != nil {
			for _, v := range t.Part.Variants {
				note(v.Object)
			}
		}
	}
	for _, objs := range p.Expanded.Bound {
		for _, o := range objs {
			note(o)
		}
	}
	return all
}

// Bound is what stands in the folder of a cluster, or what a release there renders. It goes there with
// no policy.
type Bound struct {
	Cluster string
	Object  *object.Object
	Of      object.Ref // the release that renders it; zero if none does
}

// Bound returns what is bound to a cluster, releases among it, in no order.
func (p *Plan) Bound(cluster string) (all []Bound) {
	of := map[*object.Object]object.Ref{}
	for _, u := range p.Expanded.Unclaimed {
		if u.Cluster != cluster {
			continue
		}
		for _, o := range u.Rendered {
			of[o] = u.Release.Ref()
		}
		all = append(all, Bound{cluster, u.Release, of[u.Release]})
	}
	for _, o := range p.Expanded.Bound[cluster] {
		all = append(all, Bound{cluster, o, of[o]})
	}
	return all
}
