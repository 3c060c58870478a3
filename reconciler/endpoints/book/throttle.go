package book

import (
	"fmt"
	"net/url"
	"time"

	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/render/exchange"
)

const (
	// soon is how long a change waits by which an endpoint is gone, or not ready any more.
	soon = 2 * time.Second
	// mostPushes is how many pushes a minute are made of one cluster.
	mostPushes = 6
	// usual is how long other changes wait.
	usual = 10 * time.Second
	// large is that where more than manyBooks are in a repository, or it is at a public host.
	large     = 60 * time.Second
	manyBooks = 50
	// mostPublic is how many books may be in a repository at a public host, which bears as many pushes a minute.
	mostPublic = 6
	// apart is how long it is between two pushes where several were made at once; less where silence counts sooner, and no less than
	// leastApart, by which there are mostPushes a minute.
	apart      = 15 * time.Second
	leastApart = time.Minute / mostPushes
	// renewals is how many books, or looks for them, come in the time after which a cluster is silent.
	renewals = 3
)

// Times are those of pushes of books to a repository, and of looks for them there.
type Times struct {
	// Wait is how long changes wait by which nothing is lost, and Soon how long others do.
	Wait, Soon time.Duration
	// Apart is how long it is between two pushes of one cluster. AtOnce may be made without that, if none was for a while: each that is
	// made so comes off those that may be, and is given back after that time.
	Apart  time.Duration
	AtOnce int
	// Renew is how old a book may be that says nothing new until it is written again, which shows that its cluster answers; zero: as old
	// as may be.
	Renew time.Duration
	// Look is how long it is between two looks for books of others.
	Look time.Duration
	// Silent is how long a cluster may write no book until it counts as silent; zero: for ever.
	Silent time.Duration
}

// TimesOf are the times by what the config says, where so many books are in the repository at an origin, as scheme://host. The error is that
// it does not bear them.
func TimesOf(by exchange.Services, origin string, books int) (Times, error) {
	stale := by.StaleAfter.Duration
	p := Times{Wait: by.MinInterval.Duration, Apart: apart, Renew: stale / renewals, Silent: stale}
	if u, err := url.Parse(origin); err == nil && heartbeat.IsPublic(origin) {
		p.Wait, p.Soon, p.Apart, p.AtOnce = max(p.Wait, large), soon, large, 1
		if p.Look = p.Wait; stale > 0 {
			p.Renew = max(p.Renew, large)
			p.Look, p.Silent = min(p.Look, p.Renew), max(stale, renewals*p.Renew)
		}
		if books > mostPublic {
			err = fmt.Errorf("%d clusters would push their endpoints to one repository on %s, which bears %d pushes a minute; keep that repository on a server of your own", books, u.Hostname(), mostPublic)
		}
		return p, err
	}
	switch {
	case p.Wait > 0:
	case books > manyBooks:
		p.Wait = large
	default:
		p.Wait = usual
	}
	p.Soon, p.Look = min(p.Wait, soon), p.Wait
	if p.Renew > 0 {
		p.Look, p.Apart = min(p.Look, p.Renew), max(min(p.Apart, p.Renew), leastApart)
	}
	p.AtOnce = 1 + mostPushes - int((time.Minute+p.Apart-1)/p.Apart)
	return p, nil
}

// Throttle says when the book of a cluster is pushed. The zero value has pushed none yet.
type Throttle struct {
	due   time.Time // of the change that waits; zero: none does
	rests time.Time // when as many may be pushed at once as ever
}

// Changed notes a change, which may have been noted before: it waits so long.
func (p *Throttle) Changed(now time.Time, wait time.Duration) {
	if at := now.Add(wait); p.due.IsZero() || at.Before(p.due) {
		p.due = at
	}
}

// Settled notes that what was pushed is right again.
func (p *Throttle) Settled() { p.due = time.Time{} }

// Due is when to push; zero: there is nothing to push.
func (p *Throttle) Due(by Times) time.Time {
	free := p.rests.Add(-by.Apart * time.Duration(by.AtOnce-1))
	if p.due.IsZero() || free.Before(p.due) {
		return p.due
	}
	return free
}

// Pushed notes a push, be it one that failed: the change waits no more until it is noted anew.
func (p *Throttle) Pushed(now time.Time, by Times) {
	p.due = time.Time{}
	if p.rests.Before(now) {
		p.rests = now
	}
	p.rests = p.rests.Add(by.Apart)
}
