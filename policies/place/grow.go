package place

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Grow gives out total seats in one sequence that begins with a seat for each name, the heaviest first,
// then the lower name, and goes on as Divide. More seats take nothing from a name that has some, so that
// what is divided as a least number is nowhere above what is divided as a most.
//
// The result has every name with a weight above 0 once, in name order; a name for which no seat is left has 0.
func Grow(total int64, weights []Weight) []Seats {
	weights = slices.DeleteFunc(slices.Clone(weights), func(w Weight) bool { return w.Weight <= 0 })
	slices.SortFunc(weights, func(a, b Weight) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Name, b.Name))
	})
	first := make([]Seats, len(weights))
	for i, w := range weights {
		first[i].Name = w.Name
		if int64(i) < total {
			first[i].Seats = 1
		}
	}
	return Divide(total-int64(len(weights)), weights, first...)
}

// grows reports that a division gives each cluster one replica before any has two.
func grows(s strategy, r *Request) bool { return r.Most > 0 && s == static }

// grow divides the replicas of what is scaled in each cluster by itself.
func (q *query) grow(chosen []*candidate) {
	weights, parties := make([]Weight, len(chosen)), make([]party, 0, len(chosen))
	for i, c := range chosen {
		weights[i] = Weight{c.cluster.Name, c.weight}
	}
	total := max(int64(q.Replicas), min(int64(len(Grow(0, weights))), int64(q.Most)))
	seats := map[string]int64{}
	for _, s := range Grow(total, weights) {
		seats[s.Name] = s.Seats
	}
	for i, c := range chosen {
		if c.seats = seats[c.cluster.Name]; c.seats > 0 {
			parties = append(parties, party{weight: c.weight, seats: 1, rank: c.index, of: i})
		}
	}
	if q.record {
		d := newDivision(total-int64(len(parties)), parties, chosen)
		d.Each = true
		q.divisions = append(q.divisions, d)
	}
}

// seatless are the clusters that were chosen, have a weight, and get nothing, of what is scaled in each by itself.
func (a attempt) seatless() (names []string) {
	if !a.query.grows {
		return nil
	}
	for i := range a.candidates {
		if c := &a.candidates[i]; c.chosen && c.weight > 0 && c.seats == 0 {
			names = append(names, c.cluster.Name)
		}
	}
	return names
}

// StaticWeights are the weights of the clusters of a template, in their order: those that it was divided by, or 1 each
// where none has one; false if the placement does not divide by static weights.
func StaticWeights(s *Scheduler, of []karmada.TargetCluster) ([]Weight, bool) {
	if s.strategy != static {
		return nil, false
	}
	weights, find, weighted := make([]Weight, len(of)), s.finder(), false
	for n, c := range of {
		weights[n].Name = c.Name
		if i, ok := find(c.Name); ok {
			weights[n].Weight = s.weights[i]
		}
		weighted = weighted || weights[n].Weight > 0
	}
	for n := range weights {
		if !weighted {
			weights[n].Weight = 1
		}
	}
	return weights, true
}
