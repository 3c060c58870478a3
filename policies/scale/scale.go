// Package scale is what a CronFederatedHPA says at a time (Karmada section E.6): how many
// replicas its target has, or between which bounds these are, and when that changes next. Time is an argument.
package scale

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/window"
)

// Scale is what the rules of a CronFederatedHPA say at a time.
type Scale struct {
	// Replicas are those of the rule that came about last; nil if none did. Rules that come
	// about at once count in the order of the file.
	Replicas *int32
	Next     time.Time // when a rule comes about the next time; zero for never
	// Wrong are the rules whose schedule cannot be read, by index.
	Wrong map[int]error
}

// InForce says what rules say at a time. Those that are suspended or set no replicas say
// nothing.
func InForce(rules []karmada.CronFederatedHPARule, now time.Time) Scale {
	s := Scale{}
	came := s.read(rules, now, func(r *karmada.CronFederatedHPARule) bool { return r.TargetReplicas != nil })
	if len(came) > 0 {
		s.Replicas = rules[came[len(came)-1]].TargetReplicas
	}
	return s
}

// Bounds are the fewest and the most replicas of what is scaled by load.
type Bounds struct{ Min, Max int32 }

// Bring returns replicas brought into the bounds.
func (b Bounds) Bring(replicas int32) int32 { return min(max(replicas, b.Min), b.Max) }

// BoundedScale is what rules say of bounds at a time.
type BoundedScale struct {
	Scale
	Bounds

	// Passed are the rules that came about and count for nothing, because the least would be above the most, by index.
	Passed []int
}

// BoundsInForce says what rules make of bounds at a time: each that came about, in the order of time, sets what it names.
func BoundsInForce(from Bounds, rules []karmada.CronFederatedHPARule, now time.Time) BoundedScale {
	s := BoundedScale{Bounds: from}
	came := s.read(rules, now, func(r *karmada.CronFederatedHPARule) bool {
		return r.TargetMinReplicas != nil || r.TargetMaxReplicas != nil
	})
	for _, i := range came {
		next := s.Bounds
		if least := rules[i].TargetMinReplicas; least != nil {
			next.Min = *least
		}
		if most := rules[i].TargetMaxReplicas; most != nil {
			next.Max = *most
		}
		if next.Min > next.Max {
			s.Passed = append(s.Passed, i)
			continue
		}
		s.Bounds = next
	}
	return s
}

// read notes when rules that say something come about the next time, and which cannot be read, and returns those that came
// about, by index, in the order of time; those that came about at once are in the order of the file.
func (s *Scale) read(rules []karmada.CronFederatedHPARule, now time.Time, says func(*karmada.CronFederatedHPARule) bool) (came []int) {
	s.Wrong = map[int]error{}
	last := make([]time.Time, len(rules))
	for i := range rules {
		r := &rules[i]
		if r.Suspend != nil && *r.Suspend || !says(r) {
			continue
		}
		zone := ""
		if r.TimeZone != nil {
			zone = *r.TimeZone
		}
		w, err := window.Parse(r.Schedule, zone)
		if err != nil {
			s.Wrong[i] = fmt.Errorf("rule %s: %w", r.Name, err)
			continue
		}
		if next, ok := w.Next(now); ok && (s.Next.IsZero() || next.Before(s.Next)) {
			s.Next = next
		}
		if at, ok := w.Last(now); ok {
			last[i], came = at, append(came, i)
		}
	}
	slices.SortStableFunc(came, func(a, b int) int { return cmp.Or(last[a].Compare(last[b]), a-b) })
	return came
}
