package place

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/fleet"
)

// bucket is the candidates of one region (or zone, provider, label value).
type bucket struct {
	name    string
	members []*candidate // in score order, never empty
	score   int64
	chosen  bool
}

// divide sorts the fleet's clusters into the buckets of a property.
func (s *spread) divide(by property, clusters []*fleet.Cluster) {
	s.by = by.name
	for _, c := range clusters {
		if v := by.of(c); v != "" {
			s.names = append(s.names, v)
		}
	}
	slices.Sort(s.names)
	s.names = slices.Compact(s.names)
	s.bucket = make([]int, len(clusters))
	for i, c := range clusters {
		n, ok := slices.BinarySearch(s.names, by.of(c))
		if !ok {
			n = -1
		}
		s.bucket[i] = n
	}
}

// chooseBuckets is Karmada's region algorithm (section A.10): it scores the
// buckets, chooses the best combination of them, takes the first cluster of each
// and fills up with the others of these buckets in score order.
func (s *Scheduler) chooseBuckets(order []*candidate, q *query) ([]*candidate, []*bucket, error) {
	buckets := s.buckets(order, q)
	if len(buckets) < s.spread.buckets.min {
		return nil, buckets, fmt.Errorf("the number of feasible %s is less than spreadConstraint.MinGroups", s.spread.by)
	}
	options := make([]option, len(buckets))
	for i, b := range buckets {
		options[i] = option{clusters: len(b.members), score: b.score}
	}
	combination := combine(options, s.spread.buckets, s.spread.clusters.min)
	if len(combination) == 0 {
		return nil, buckets, errors.New("the number of clusters is less than the cluster spreadConstraint.MinGroups")
	}
	var chosen []*candidate
	for _, i := range combination {
		buckets[i].chosen = true
		chosen = append(chosen, buckets[i].members[0])
	}
	return s.fill(chosen, order, buckets), buckets, nil
}

// fill adds clusters of the chosen buckets, in score order, up to the bound. It
// takes no cluster away where there are more buckets than that.
func (s *Scheduler) fill(chosen, order []*candidate, buckets []*bucket) []*candidate {
	byName := make([]*bucket, len(s.spread.names))
	for _, b := range buckets {
		byName[s.spread.bucket[b.members[0].index]] = b
	}
	for _, c := range order {
		if len(chosen) >= s.spread.clusters.max {
			break
		}
		n := s.spread.bucket[c.index]
		if b := byName[n]; b.chosen && b.members[0] != c {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// buckets groups the candidates, by name of the bucket. All have the property:
// the filters saw to that.
func (s *Scheduler) buckets(order []*candidate, q *query) []*bucket {
	all := make([]bucket, len(s.spread.names))
	for _, c := range order {
		b := &all[s.spread.bucket[c.index]]
		b.members = append(b.members, c)
	}
	var found []*bucket
	for i := range all {
		b := &all[i]
		if len(b.members) == 0 {
			continue
		}
		b.name = s.spread.names[i]
		if s.strategy == duplicated {
			b.score = wholeScore(b.members, q)
		} else {
			b.score = s.dividedScore(b.members, q)
		}
		found = append(found, b)
	}
	return found
}

// unit is what one replica, or one cluster, of room counts in a bucket's score;
// below it count the scores of the clusters.
const unit = 1000

// wholeScore counts the clusters that have room for every replica.
func wholeScore(members []*candidate, q *query) int64 {
	var roomy, score int64
	for _, c := range members {
		if c.available() >= int64(q.Replicas) {
			roomy++
			score += c.score
		}
	}
	if roomy == 0 {
		return 0
	}
	return unit*roomy + score/roomy
}

// dividedScore counts the room for this bucket's part of the replicas, in as many
// clusters as the constraints ask for.
func (s *Scheduler) dividedScore(members []*candidate, q *query) int64 {
	parts := int64(s.spread.buckets.min)
	target := (int64(q.Replicas) + parts - 1) / parts
	enough := int64(max(s.spread.clusters.min, s.spread.buckets.min))
	var room, score, count int64
	for _, c := range members {
		room += c.available()
		score += c.score
		count++
		if count >= enough && room >= target {
			break
		}
	}
	return unit*min(room, target) + score/count
}
