package plan

import "github.com/waybill-dev/waybill/render/object"

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
	for _, objs := range p.table.in.Expanded.Bound {
		for _, o := range objs {
			note(o)
		}
	}
	return all
}
