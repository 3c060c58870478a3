package place

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// strategy is how the chosen clusters share the replicas (section A.12).
type strategy int

const (
	duplicated strategy = iota
	static              // by the policy's weights
	dynamic             // by the room there is
	aggregated          // by the room there is, in as few clusters as will do
)

// byCapacity reports whether the strategy asks for room.
func (s strategy) byCapacity() bool { return s == dynamic || s == aggregated }

// newStrategy fills in what Karmada's webhooks fill in: no scheduling at all is
// Duplicated, an empty one Divided, and division without a preference Weighted.
func newStrategy(r *karmada.ReplicaScheduling) (strategy, error) {
	if r == nil {
		return duplicated, nil
	}
	switch r.ReplicaSchedulingType {
	case karmada.ReplicaSchedulingTypeDuplicated:
		return duplicated, nil
	case karmada.ReplicaSchedulingTypeDivided, "":
	default:
		return 0, fmt.Errorf("replicaSchedulingType %q: want Duplicated or Divided", r.ReplicaSchedulingType)
	}
	switch r.ReplicaDivisionPreference {
	case karmada.ReplicaDivisionPreferenceAggregated:
		return aggregated, nil
	case karmada.ReplicaDivisionPreferenceWeighted, "":
	default:
		return 0, fmt.Errorf("replicaDivisionPreference %q: want Aggregated or Weighted", r.ReplicaDivisionPreference)
	}
	if r.WeightPreference == nil || r.WeightPreference.DynamicWeight == "" {
		return static, nil
	}
	if w := r.WeightPreference.DynamicWeight; w != karmada.DynamicWeightByAvailableReplicas {
		return 0, fmt.Errorf("dynamicWeight %q: want AvailableReplicas", w)
	}
	return dynamic, nil
}

// newWeights returns each cluster's static weight: the largest of the entries
// that match it, 0 where none does.
func newWeights(p *karmada.ClusterPreferences, clusters []*fleet.Cluster) []int64 {
	weights := make([]int64, len(clusters))
	if p == nil {
		return weights
	}
	for i := range p.StaticWeightList {
		entry := &p.StaticWeightList[i]
		m := fleet.Compile(&entry.TargetCluster)
		for j, c := range clusters {
			if m.Matches(c) {
				weights[j] = max(weights[j], entry.Weight)
			}
		}
	}
	return weights
}

// shortError says that the clusters have too little room.
type shortError struct{ message string }

func (e shortError) Error() string { return e.message }

// assign gives the chosen clusters their seats.
func (s *Scheduler) assign(chosen []*candidate, q *query) error {
	if len(chosen) == 0 {
		return errors.New("no clusters available to schedule")
	}
	if !q.workload {
		return nil
	}
	switch s.strategy {
	case duplicated:
		for _, c := range chosen {
			c.seats = int64(q.Replicas)
		}
		return nil
	case static:
		s.assignStatic(chosen, q)
		return nil
	default:
		return s.assignTiers(chosen, q)
	}
}

// assignStatic divides by the policy's weights, whatever the capacity and
// whatever was before. Clusters without a weight have no part, unless none has
// one: then all have the same.
func (s *Scheduler) assignStatic(chosen []*candidate, q *query) {
	weighted := false
	for _, c := range chosen {
		c.weight = s.weights[c.index]
		weighted = weighted || c.weight > 0
	}
	if !weighted {
		for _, c := range chosen {
			c.weight = 1
		}
	}
	if q.grows {
		q.grow(chosen)
		return
	}
	q.give(int64(q.Replicas), chosen)
}

// assignTiers fills one tier of the affinity group after the other, each with as
// many replicas as it has room for. Where no cluster overflows, the one tier is
// asked for all.
func (s *Scheduler) assignTiers(chosen []*candidate, q *query) error {
	left := int64(q.Replicas)
	if !slices.ContainsFunc(chosen, func(c *candidate) bool { return c.tier > 0 }) {
		return s.assignDynamic(left, chosen, q)
	}
	rest := slices.Clone(chosen)
	slices.SortStableFunc(rest, func(a, b *candidate) int { return cmp.Compare(a.tier, b.tier) })
	for len(rest) > 0 {
		end := slices.IndexFunc(rest, func(c *candidate) bool { return c.tier != rest[0].tier })
		if end < 0 {
			end = len(rest)
		}
		part := min(left, total(rest[:end], (*candidate).available))
		if err := s.assignDynamic(part, rest[:end], q); err != nil {
			return err
		}
		left -= part
		rest = rest[end:]
	}
	if left > 0 {
		return shortError{"Clusters available replicas are not enough to schedule."}
	}
	return nil
}

// assignDynamic divides replicas by the room there is. Unless it starts afresh,
// what runs stays where it runs: more replicas are added by free room, fewer are
// left in proportion to what was.
func (s *Scheduler) assignDynamic(replicas int64, part []*candidate, q *query) error {
	prev := func(c *candidate) int64 { return c.prev }
	assigned := total(part, prev)
	if q.Fresh {
		setWeights(part, (*candidate).available)
		return during("do fresh scale", s.share(replicas, part, q, heaviest))
	}
	if assigned > replicas {
		setWeights(part, prev)
		return during("scale down", s.share(replicas, part, q, heaviestByName))
	}
	for _, c := range part {
		c.seats = c.prev
	}
	if assigned == replicas {
		return nil
	}
	setWeights(part, func(c *candidate) int64 { return c.free })
	return during("scale up", s.share(replicas-assigned, part, q, settledFirst))
}

// share gives replicas to the clusters by weight. Aggregated, only the first in
// order that together weigh enough have a part.
func (s *Scheduler) share(replicas int64, part []*candidate, q *query, order func(a, b *candidate) int) error {
	weight := total(part, func(c *candidate) int64 { return c.weight })
	if weight < replicas {
		return shortError{fmt.Sprintf("Clusters available replicas %d are not enough to schedule.", weight)}
	}
	if s.strategy == aggregated {
		part = slices.Clone(part)
		slices.SortStableFunc(part, order)
		var sum int64
		for _, c := range part {
			if sum >= replicas {
				c.weight = 0
			}
			sum += c.weight
		}
	}
	q.give(replicas, part)
	return nil
}

// heaviest orders by weight, largest first.
func heaviest(a, b *candidate) int { return cmp.Compare(b.weight, a.weight) }

// heaviestByName orders by weight, largest first, then by name: previous clusters come in
// the order of their names, and not in that of the candidates.
func heaviestByName(a, b *candidate) int {
	return cmp.Or(heaviest(a, b), cmp.Compare(a.index, b.index))
}

// settledFirst orders clusters that have replicas before the others, and each by
// weight, largest first.
func settledFirst(a, b *candidate) int {
	return cmp.Or(cmp.Compare(min(b.prev, 1), min(a.prev, 1)), heaviest(a, b))
}

// give divides replicas by the weights of the clusters and adds them to their
// seats; ties go to the lower name.
func (q *query) give(replicas int64, part []*candidate) {
	parties := make([]party, 0, len(part))
	for i, c := range part {
		if c.weight > 0 {
			parties = append(parties, party{weight: c.weight, rank: c.index, of: i})
		}
	}
	if q.record {
		q.divisions = append(q.divisions, newDivision(replicas, parties, part))
	}
	apportion(replicas, parties)
	for _, p := range parties {
		part[p.of].seats += p.seats
	}
}

func setWeights(cs []*candidate, weight func(*candidate) int64) {
	for _, c := range cs {
		c.weight = weight(c)
	}
}

func total(cs []*candidate, of func(*candidate) int64) int64 {
	var sum int64
	for _, c := range cs {
		sum += of(c)
	}
	return sum
}

// during words what failed as Karmada does.
func during(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("failed to %s: %w", what, err)
}
