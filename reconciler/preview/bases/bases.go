// Package bases remembers what changes are compared with: many open pull requests left a branch at one commit, and the plan
// of that is made once for all of them. It holds values of any kind, few of them, and none that is out of date.
package bases

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/sources/files"
)

// Key is what the plan of a base depends on.
type Key struct {
	// Tip is, of what strangers' changes are compared with, the head of the branch, whose config and lock count; it is
	// zero for what members' are: the two never share anything.
	Tip    files.ID
	Base   files.ID // where the changes left the branch
	Moment Moment
}

// Moment is when something was planned, and over what.
type Moment struct {
	State  files.ID  // head of the state branch
	Orders files.ID  // head of the branch of orders
	Hour   time.Time // for which schedules were judged
}

// At is the moment of a time.
func At(now time.Time, state, orders files.ID) Moment {
	return Moment{State: state, Orders: orders, Hour: now.UTC().Truncate(time.Hour)}
}

// most is how many bases are remembered.
const most = 4

// Cache remembers the bases that were used last, as long as their moment lasts. The zero value is empty. It serves one
// user at a time.
type Cache[V any] struct {
	known []entry[V] // the one that was used last is the last
}

type entry[V any] struct {
	key   Key
	value V
}

// Find returns what is remembered of a base, and forgets what is of another moment.
func (c *Cache[V]) Find(k Key) (value V, ok bool) {
	c.known = slices.DeleteFunc(c.known, func(e entry[V]) bool { return e.key.Moment != k.Moment })
	i := slices.IndexFunc(c.known, func(e entry[V]) bool { return e.key == k })
	if i < 0 {
		return value, false
	}
	e := c.known[i]
	c.known = append(slices.Delete(c.known, i, i+1), e)
	return e.value, true
}

// Keep remembers a base. Of too many that is forgotten which was used longest ago.
func (c *Cache[V]) Keep(k Key, value V) {
	c.known = slices.DeleteFunc(c.known, func(e entry[V]) bool { return e.key == k })
	c.known = append(c.known, entry[V]{k, value})
	c.known = slices.Delete(c.known, 0, max(0, len(c.known)-most))
}

// Forget forgets all.
func (c *Cache[V]) Forget() { c.known = nil }
