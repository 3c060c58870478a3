package staged

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// Assigner says in which stages clusters are, of each strategy once: many units have one. The zero value knows of none.
type Assigner struct {
	clusters []kubefleet.Cluster // nil until somebody asks
	known    map[string]assignment
}

// assignment is where clusters are by a strategy.
type assignment struct {
	stages  []string
	turns   []int
	refused string
}

// Of says in which stage of a strategy clusters are, by index, and has their indices in the order in which they are released within a
// stage. Refused says why no run starts; empty if one may. Clusters are the same each time. What it returns is shared, and must not be
// changed.
func (a *Assigner) Of(s *rollouts.Strategy, clusters func() []kubefleet.Cluster) (stages []string, turns []int, refused string) {
	text, err := json.Marshal(s)
	if err != nil {
		panic("staged: what is recorded of a strategy does not encode: " + err.Error())
	}
	is, known := a.known[string(text)]
	if !known {
		if a.known == nil {
			a.clusters, a.known = clusters(), map[string]assignment{}
		}
		is = assigned(s, a.clusters)
		a.known[string(text)] = is
	}
	return is.stages, is.turns, is.refused
}

func assigned(s *rollouts.Strategy, clusters []kubefleet.Cluster) (a assignment) {
	of := kubefleet.Strategy{Unmatched: kubefleet.Unmatched(s.Unmatched), Rest: kubefleet.Stage{Name: rollouts.Unmatched}}
	for i := range s.Stages {
		is := &s.Stages[i]
		of.Stages = append(of.Stages, kubefleet.Stage{Name: is.Name, LabelSelector: is.LabelSelector, SortingLabel: is.SortingLabelKey})
	}
	at := make(map[string]int, len(clusters))
	for i := range clusters {
		at[clusters[i].Name] = i
	}
	a.stages, a.turns = make([]string, len(clusters)), make([]int, len(clusters))
	places := make([]int, len(clusters))
	is := of.Assign(clusters)
	for _, members := range is.Stages {
		for place, name := range members.Clusters {
			a.stages[at[name]], places[at[name]] = members.Stage.Name, place
		}
	}
	for i := range a.turns {
		a.turns[i] = i
	}
	slices.SortStableFunc(a.turns, func(i, j int) int { return cmp.Compare(places[i], places[j]) })
	if is.Refused {
		a.refused = fmt.Sprintf("no stage selects %s, and the strategy says that no run starts then", words.List(is.Unmatched))
	}
	return a
}
