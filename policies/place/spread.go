package place

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// selection is how clusters are chosen among the candidates.
type selection int

const (
	everyCluster selection = iota // no constraint, or none that counts
	byCluster                     // the best, a bounded number of them
	byBucket                      // the best regions first, then clusters of these
	unsupported                   // only constraints that Karmada knows but cannot meet
)

// ordered reports whether the selection goes by score order.
func (s selection) ordered() bool { return s == byCluster || s == byBucket }

// bounds is how many groups a constraint wants. Karmada does not default max, so
// that 0 means none (section A.2).
type bounds struct{ min, max int }

// property is what clusters are grouped by.
type property struct {
	name string // region, zone, provider, or the key of a label
	of   func(*fleet.Cluster) string
}

// spread is the spread constraints of a placement.
type spread struct {
	how      selection
	clusters bounds
	buckets  bounds     // only byBucket
	by       string     // the property of the buckets
	names    []string   // of the buckets, sorted
	bucket   []int      // by cluster: index into names; -1 where the property is empty
	required []property // what every cluster must have
}

// newSpread reads the constraints by section A.10, steps 0 and 1. Static weights
// make them moot, but for the demand that the property be there; they do not
// where weightPreference is given and empty.
func newSpread(p *karmada.Placement, clusters []*fleet.Cluster, how strategy, mode Spread) (spread, error) {
	var s spread
	var groupings []grouping
	bound := false
	if labelsOnly(p.SpreadConstraints) {
		mode = SpreadStrict
	}
	for i, c := range p.SpreadConstraints {
		by, err := propertyOf(c)
		switch {
		case err != nil:
			return spread{}, fmt.Errorf("compiling spreadConstraints[%d]: %w", i, err)
		case by.of == nil:
			s.clusters, bound = newBounds(c), true
			continue
		case c.SpreadByLabel == "" || mode == SpreadStrict:
			s.required = append(s.required, by)
		}
		if c.SpreadByField == karmada.SpreadByFieldRegion || mode == SpreadStrict {
			groupings = append(groupings, grouping{by, newBounds(c)})
		}
	}
	switch {
	case len(p.SpreadConstraints) == 0 || how == static && !emptyPreference(p.ReplicaScheduling):
		s.how = everyCluster
	case len(groupings) > 1:
		return spread{}, fmt.Errorf("spreading strictly by %s and %s: only one of them can group clusters",
			groupings[0].by.name, groupings[1].by.name)
	case len(groupings) == 1:
		s.how, s.buckets = byBucket, groupings[0].bounds
		if !bound && mode == SpreadStrict {
			s.clusters.max = math.MaxInt
		}
		s.divide(groupings[0].by, clusters)
	case bound:
		s.how = byCluster
	default:
		s.how = unsupported
	}
	return s, nil
}

// labelsOnly reports constraints by label and nothing else, on which Karmada fails
// whatever the clusters are. They act here without being asked to.
func labelsOnly(cs []karmada.SpreadConstraint) bool {
	return len(cs) > 0 && !slices.ContainsFunc(cs, func(c karmada.SpreadConstraint) bool { return c.SpreadByLabel == "" })
}

// grouping is a constraint that groups clusters.
type grouping struct {
	by     property
	bounds bounds
}

func emptyPreference(r *karmada.ReplicaScheduling) bool {
	return r.WeightPreference != nil && len(r.WeightPreference.StaticWeightList) == 0
}

func newBounds(c karmada.SpreadConstraint) bounds {
	return bounds{min: max(c.MinGroups, 1), max: c.MaxGroups}
}

// propertyOf returns what the clusters have that c speaks of, or the zero property
// for the clusters themselves: Karmada's webhook makes those of an empty field.
func propertyOf(c karmada.SpreadConstraint) (property, error) {
	if key := c.SpreadByLabel; key != "" {
		return property{key, func(c *fleet.Cluster) string { return c.Labels[key] }}, nil
	}
	switch c.SpreadByField {
	case karmada.SpreadByFieldCluster, "":
		return property{}, nil
	case karmada.SpreadByFieldRegion:
		return property{"region", func(c *fleet.Cluster) string { return c.Region }}, nil
	case karmada.SpreadByFieldZone:
		return property{"zone", firstZone}, nil
	case karmada.SpreadByFieldProvider:
		return property{"provider", func(c *fleet.Cluster) string { return c.Provider }}, nil
	default:
		return property{}, fmt.Errorf("spreadByField %q: want cluster, region, zone or provider", c.SpreadByField)
	}
}

// firstZone is where a cluster in several zones counts.
func firstZone(c *fleet.Cluster) string {
	if len(c.Zones) == 0 {
		return ""
	}
	return c.Zones[0]
}

// choose applies the spread constraints to candidates in score order. Of the
// chosen it sets chosen; where clusters were grouped it also returns the groups.
func (s *Scheduler) choose(order []*candidate, q *query) (chosen []*candidate, buckets []*bucket, err error) {
	switch s.spread.how {
	case everyCluster:
		chosen = order
	case byCluster:
		chosen, err = s.chooseClusters(order, q)
	case byBucket:
		chosen, buckets, err = s.chooseBuckets(order, q)
	case unsupported:
		err = errors.New("just support cluster and region spread constraint")
	}
	for _, c := range chosen {
		c.chosen = true
	}
	return chosen, buckets, err
}

// chooseClusters takes the first clusters in score order, and where these have
// too little room for a divided workload, exchanges them from the last to the
// first for the one with the most room (section A.10).
func (s *Scheduler) chooseClusters(order []*candidate, q *query) ([]*candidate, error) {
	if len(order) < s.spread.clusters.min {
		return nil, errors.New("the number of feasible clusters is less than spreadConstraint.MinGroups")
	}
	count := min(len(order), max(s.spread.clusters.max, 0))
	if s.strategy == duplicated {
		return order[:count], nil
	}
	all := slices.Clone(order)
	chosen, rest := all[:count], all[count:]
	var room int64
	for _, c := range chosen {
		room += c.available()
	}
	best := roomiest(rest)
	for i := count - 1; i >= 0 && room < int64(q.Replicas) && best >= 0; i-- {
		gain := rest[best].available() - chosen[i].available()
		if gain <= 0 {
			continue
		}
		chosen[i], rest[best] = rest[best], chosen[i]
		room += gain
		best = roomiest(rest)
	}
	if count == 0 || room < int64(q.Replicas) {
		return nil, fmt.Errorf("no enough resource when selecting %d clusters", count)
	}
	return chosen, nil
}

// roomiest is the index of the first candidate with the most room, or -1.
func roomiest(cs []*candidate) int {
	best := -1
	for i, c := range cs {
		if best < 0 || c.available() > cs[best].available() {
			best = i
		}
	}
	return best
}
