package policies

import (
	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// addRollout files an object that is about roll-outs in stages. What a person cannot write is refused, and
// acts on nothing. A strategy with a mistake is not Broken: what it was before does not count, because what is
// bound to it stays as it is.
func (s *Set) addRollout(o *object.Object, c Cache) []diag.Diagnostic {
	if d, refused := kubefleet.Refusal(o); refused {
		return []diag.Diagnostic{d}
	}
	d := remembered(c, o, func(o *object.Object) Decoded {
		strategy, wrong := kubefleet.Read(o)
		if strategy == nil {
			return Decoded{wrong: wrong}
		}
		return Decoded{value: strategy, wrong: wrong}
	})
	if strategy, ok := d.value.(*kubefleet.Strategy); ok {
		s.Strategies = append(s.Strategies, Located[kubefleet.Strategy]{Object: o, Value: strategy})
	} else {
		s.BadStrategies = append(s.BadStrategies, o.Ref())
	}
	return d.wrong
}

// staged says what of the strategies does not fit the clusters that there are.
func (s *Set) staged() (diags []diag.Diagnostic) {
	if len(s.Strategies) == 0 {
		return nil
	}
	clusters := make([]kubefleet.Cluster, 0, len(s.Clusters))
	for i := range s.Clusters {
		clusters = append(clusters, kubefleet.Cluster{Name: s.Clusters[i].Spec.Name, Labels: s.Clusters[i].Spec.Labels})
	}
	for _, strategy := range s.Strategies {
		diags = append(diags, strategy.Value.Warnings(strategy.Value.Assign(clusters), strategy.Object)...)
	}
	return diags
}
