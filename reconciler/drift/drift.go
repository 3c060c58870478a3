// Package drift counts how often objects of a cluster were put right in a row, so that one that somebody changes again
// and again is put right ever later, and no other for it. It is pure: the time is a parameter.
package drift

import (
	"time"

	"github.com/waybill-dev/waybill/render/object"
)

// Rest is how long an object has to stay as it was put right to begin anew.
const Rest = 5 * time.Minute

// Counts are the objects of a cluster that were put right lately.
type Counts map[object.Ref]Count

// Count is how often in a row an object was put right, and when last.
type Count struct {
	Times int
	Last  time.Time
}

// Of returns how often an object was put right in a row.
func (c Counts) Of(r object.Ref) int { return c[r].Times }

// Corrected notes that objects were put right, and forgets those that had their rest.
func (c Counts) Corrected(refs []object.Ref, now time.Time) {
	for _, r := range refs {
		is := c[r]
		if now.Sub(is.Last) > Rest {
			is.Times = 0
		}
		c[r] = Count{is.Times + 1, now}
	}
	for r, is := range c {
		if now.Sub(is.Last) > Rest {
			delete(c, r)
		}
	}
}
