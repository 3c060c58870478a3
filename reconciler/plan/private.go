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
