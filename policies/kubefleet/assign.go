package kubefleet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// Cluster is a cluster as a strategy sees it.
type Cluster struct {
	Name   string
	Labels map[string]string
}

// Members are the clusters of a stage, in the order of their turn.
type Members struct {
	Stage    Stage
	Clusters []string
}

// Assignment says which clusters are in which stage.
type Assignment struct {
	// Stages are those of the strategy, in its order, and its Rest if that has a cluster.
	Stages []Members
	// Unmatched are the clusters that no stage selects, in the order of their names.
	Unmatched []string
	// Refused reports that there are such, and that the strategy starts no run then. They are in no stage.
	Refused bool
	// Overlaps are the clusters that several stages select, in the order of their names.
	Overlaps []Overlap
	// Unsorted are the clusters that come last in their stage because their label says no place.
	Unsorted []Unsorted
}

// Overlap is a cluster that several stages select. The last of them has it.
type Overlap struct {
	Cluster string
	Stages  []int // of the strategy
}

// Unsorted is a cluster whose label to sort by is absent, or is no integer.
type Unsorted struct {
	Cluster string
	Stage   int // of the strategy
}

// Assign says which of some clusters are in which stage. It does not depend on their order.
func (s *Strategy) Assign(clusters []Cluster) Assignment {
	clusters = slices.SortedFunc(slices.Values(clusters), func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	selectors := make([]labels.Selector, len(s.Stages))
	for i := range s.Stages {
		selectors[i] = s.Stages[i].selector()
	}
	var a Assignment
	members := make([][]Cluster, len(s.Stages))
	for _, c := range clusters {
		var in []int
		for i := range selectors {
			if selectors[i].Matches(labels.Set(c.Labels)) {
				in = append(in, i)
			}
		}
		if len(in) == 0 {
			a.Unmatched = append(a.Unmatched, c.Name)
			continue
		}
		if len(in) > 1 {
			a.Overlaps = append(a.Overlaps, Overlap{Cluster: c.Name, Stages: in})
		}
		last := in[len(in)-1]
		members[last] = append(members[last], c)
	}
	for i := range members {
		sorted, last := s.Stages[i].sorted(members[i])
		a.Stages = append(a.Stages, Members{Stage: s.Stages[i], Clusters: sorted})
		for _, name := range last {
			a.Unsorted = append(a.Unsorted, Unsorted{Cluster: name, Stage: i})
		}
	}
	if a.Refused = len(a.Unmatched) > 0 && s.Unmatched == Refuse; len(a.Unmatched) > 0 && !a.Refused {
		a.Stages = append(a.Stages, Members{Stage: s.Rest, Clusters: slices.Clone(a.Unmatched)})
	}
	return a
}

// selector is the selector of the stage. One that cannot be read, which Read refuses, selects nothing.
func (s *Stage) selector() labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(s.LabelSelector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// sorted returns the names of clusters, which are in the order of their names, in the order of their turn,
// and those of them that come last because their label says no place.
func (s *Stage) sorted(clusters []Cluster) (names, last []string) {
	type place struct {
		name   string
		number int64
	}
	var places []place
	for _, c := range clusters {
		number, err := int64(0), error(nil)
		if s.SortingLabel != "" {
			number, err = strconv.ParseInt(c.Labels[s.SortingLabel], 10, 64)
		}
		if err != nil {
			last = append(last, c.Name)
			continue
		}
		places = append(places, place{c.Name, number})
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.number, b.number) })
	for _, p := range places {
		names = append(names, p.name)
	}
	return append(names, last...), last
}

// Warnings says what of an assignment somebody may not have meant. The object is the one that the strategy was
// read from.
func (s *Strategy) Warnings(a Assignment, o *object.Object) []diag.Diagnostic {
	r := reader{object: o}
	s.warnOfOverlaps(a, &r)
	if len(a.Unmatched) > 0 {
		comes := "such clusters come last"
		if a.Refused {
			comes = "no run starts, because " + UnmatchedAction + " is " + string(Refuse)
		}
		r.add(field{"spec", "stages"}, diag.RolloutUnmatched, diag.Warning,
			fmt.Sprintf("no stage selects %s (%s): %s", words.Count(len(a.Unmatched), "cluster"), words.List(a.Unmatched), comes),
			"label them as one of the stages selects")
	}
	s.warnOfUnsorted(a, &r)
	return r.wrong
}

// warnOfOverlaps warns once for each two stages that select the same clusters.
func (s *Strategy) warnOfOverlaps(a Assignment, r *reader) {
	type two struct{ first, last int }
	of := map[two][]string{}
	var pairs []two
	for _, o := range a.Overlaps {
		p := two{o.Stages[0], o.Stages[len(o.Stages)-1]}
		if of[p] == nil {
			pairs = append(pairs, p)
		}
		of[p] = append(of[p], o.Cluster)
	}
	slices.SortFunc(pairs, func(a, b two) int { return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.first, b.first)) })
	for _, p := range pairs {
		first, last := s.Stages[p.first].Name, s.Stages[p.last].Name
		r.add(field{"spec", "stages", p.last, "labelSelector"}, diag.RolloutOverlap, diag.Warning,
			fmt.Sprintf("selects %s (%s) that stage %s selects, too; the later stage, %s, has what both select", words.Count(len(of[p]), "cluster"), words.List(of[p]), first, last),
			"narrow one of the selectors")
	}
}

// warnOfUnsorted warns once for each stage.
func (s *Strategy) warnOfUnsorted(a Assignment, r *reader) {
	of := make([][]string, len(s.Stages))
	for _, u := range a.Unsorted {
		of[u.Stage] = append(of[u.Stage], u.Cluster)
	}
	for i, names := range of {
		if len(names) == 0 {
			continue
		}
		r.add(field{"spec", "stages", i, "sortingLabelKey"}, diag.RolloutUnsorted, diag.Warning,
			fmt.Sprintf("%s (%s) of the stage have no integer in the label %s; they come last in it", words.Count(len(names), "cluster"), words.List(names), s.Stages[i].SortingLabel),
			"label them, as "+s.Stages[i].SortingLabel+`: "1"`)
	}
}
