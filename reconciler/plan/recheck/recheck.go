// Package recheck says when a plan may be another one although its source stays the same: as
// time passes, or as clusters say more. It is a value that each step of a plan adds to.
package recheck

import "time"

// Recheck is when to look again. The zero value is never.
type Recheck struct {
	// Timed reports that the time of the plan mattered.
	Timed bool
	// At is the next time at which it may matter; zero for never.
	At time.Time
	// Awaits reports that what clusters say of health may matter.
	Awaits bool
}

// By returns it with a time, rounded up to the seconds in which plans count. What is not after now
// has happened, and asks for nothing.
func (r Recheck) By(at, now time.Time) Recheck {
	r.Timed = true
	if cut := at.Truncate(time.Second); cut.Before(at) {
		at = cut.Add(time.Second)
	}
	if at.After(now) && (r.At.IsZero() || at.Before(r.At)) {
		r.At = at
	}
	return r
}

// And returns what asks for both.
func (r Recheck) And(o Recheck) Recheck {
	r.Timed, r.Awaits = r.Timed || o.Timed, r.Awaits || o.Awaits
	if !o.At.IsZero() && (r.At.IsZero() || o.At.Before(r.At)) {
		r.At = o.At
	}
	return r
}
