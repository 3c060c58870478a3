package evict

import (
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Copies is what is known of the copies of work that leaves a cluster.
type Copies struct {
	// Placed reports that clusters could be found for all of it.
	Placed bool
	New    []Copy // in the clusters that it goes to
	Old    Copy   // in the one that it leaves
}

// Copy is what is known of a copy. The zero value is that nobody says anything.
type Copy struct {
	Told    bool // the cluster says something
	Healthy bool // the copy is there as it should be, and healthy
	Gone    bool // there is none
}

// End is what becomes of a task.
type End struct {
	Over bool
	// Last reports that the timeout has passed, and the old copy stays because it is the last.
	Last bool
	// Gap reports that new copies have to wait until the old one is gone.
	Gap bool
	// Next is when time alone may change this; zero for never.
	Next time.Time
}

// Ends says what becomes of a task now.
func (r *Rules) Ends(t *Task, c Copies, now time.Time) End {
	if t.SuppressDeletion != nil && *t.SuppressDeletion {
		return End{}
	}
	limit := t.CreationTimestamp.Add(r.grace(t))
	late := !limit.After(now)
	direct := t.PurgeMode == karmada.PurgeModeDirectly
	gap := direct && !late && !c.Old.Gone
	switch {
	case c.Placed && len(c.New) > 0 && !gap && all(c.New, func(n Copy) bool { return n.Told && n.Healthy }):
		return End{Over: true}
	case !late:
		return End{Gap: gap, Next: limit}
	case r.KeepLast && !direct && c.isLast():
		return End{Last: true}
	}
	return End{Over: true}
}

// grace is how long a task lasts at most.
func (r *Rules) grace(t *Task) time.Duration {
	if t.GracePeriodSeconds != nil {
		return time.Duration(*t.GracePeriodSeconds) * time.Second
	}
	return r.Timeout
}

// isLast reports that no other copy could be placed, or that each of them is known not to be healthy.
func (c *Copies) isLast() bool {
	return !c.Placed || all(c.New, func(n Copy) bool { return n.Told && !n.Healthy })
}

func all(cs []Copy, is func(Copy) bool) bool {
	for _, c := range cs {
		if !is(c) {
			return false
		}
	}
	return true
}
