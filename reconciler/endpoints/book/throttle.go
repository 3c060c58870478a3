package book

import (
	"fmt"
	"net/url"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
)

const (
	// Soon is how long a change waits by which an endpoint is gone, or not ready any more.
	Soon = 2 * time.Second
	// mostPushes is how many pushes a minute are made of one cluster.
	mostPushes = 6
	// Usual is how long other changes wait.
	Usual = 10 * time.Second
	// Large is Usual where more than manyBooks are in a repository, or it is at a public host.
	Large     = 60 * time.Second
	manyBooks = 50
	// mostPublic is how many books may be in a repository at a public host, which bears as many pushes a minute.
	mostPublic = 6
)

// Interval is how long changes wait by which nothing is lost, and about how often it is looked for books of others: by what the config
// says, zero for nothing, where so many books are in the repository at an origin, as scheme://host.
func Interval(config time.Duration, origin string, books int) (time.Duration, error) {
	if u, err := url.Parse(origin); err == nil && heartbeat.IsPublic(origin) {
		if books > mostPublic {
			return Large, fmt.Errorf("%d clusters would push their endpoints to one repository on %s, which bears %d pushes a minute; keep that repository on a server of your own", books, u.Hostname(), mostPublic)
		}
		return max(config, Large), nil
	}
	switch {
	case config > 0:
		return config, nil
	case books > manyBooks:
		return Large, nil
	}
	return Usual, nil
}

// Throttle says when the book of a cluster is pushed. The zero value has pushed none yet.
type Throttle struct {
	due    time.Time   // of the change that waits; zero: none does
	pushed []time.Time // the last ones, the oldest first
}

// Lost notes a change, which may have been noted before, by which an endpoint is lost: it waits an interval, but no longer than Soon.
func (p *Throttle) Lost(now time.Time, interval time.Duration) { p.Changed(now, min(interval, Soon)) }

// Changed notes another change, which may have been noted before: it waits so long.
func (p *Throttle) Changed(now time.Time, wait time.Duration) {
	if at := now.Add(wait); p.due.IsZero() || at.Before(p.due) {
		p.due = at
	}
}

// Settled notes that what was pushed is right again.
func (p *Throttle) Settled() { p.due = time.Time{} }

// Due is when to push; zero: there is nothing to push.
func (p *Throttle) Due() time.Time {
	if p.due.IsZero() || len(p.pushed) < mostPushes {
		return p.due
	}
	if free := p.pushed[0].Add(time.Minute); free.After(p.due) {
		return free
	}
	return p.due
}

// Pushed notes a push, be it one that failed: the change waits no more until it is noted anew.
func (p *Throttle) Pushed(now time.Time) {
	p.due = time.Time{}
	if p.pushed = append(p.pushed, now); len(p.pushed) > mostPushes {
		p.pushed = p.pushed[1:]
	}
}
