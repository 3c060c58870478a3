package plan

import (
	"github.com/waybill-dev/waybill/render/object"
)

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
