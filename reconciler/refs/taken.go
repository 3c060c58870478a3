package refs

import (
	"slices"
	"strings"
	"time"
)

const (
	// soonest is how long a host counts at first as one that takes branches only, which may have refused another ref for a reason of that
	// moment; after each time that it does so again it is twice as long, and latest at most.
	soonest = time.Minute
	latest  = time.Hour
)

// never are words by which Git refuses a ref for what it is.
var never = []string{"hidden ref", "funny ref"}

// taken is what is known of the refs that a Git host takes. The zero value is a host that takes any.
type taken struct {
	again time.Time     // until then it counts as one that takes branches only
	wait  time.Duration // how long that is
}

// branchesOnly reports a host to which no other refs are written now.
func (t taken) branchesOnly(now time.Time) bool { return now.Before(t.again) }

// refused is what is known once a host has refused a ref that is no branch, in its words, and taken a branch in its place.
func (t taken) refused(why string, now time.Time) taken {
	wait := min(max(soonest, 2*t.wait), latest)
	if slices.ContainsFunc(never, func(words string) bool { return strings.Contains(why, words) }) {
		wait = latest
	}
	return taken{now.Add(wait), wait}
}
