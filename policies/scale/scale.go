// Package scale is what a CronFederatedHPA says at a time (Karmada section E.6): how many
// replicas its target has, and when that changes next. Time is an argument.
package scale

import (
	"fmt"
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
	s := Scale{Wrong: map[int]error{}}
	var since time.Time
	for i, r := range rules {
		if r.Suspend != nil && *r.Suspend || r.TargetReplicas == nil {
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
		if last, came := w.Last(now); came && !last.Before(since) {
			since, s.Replicas = last, r.TargetReplicas
		}
	}
	return s
}
