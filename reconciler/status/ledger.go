package status

import (
	"time"

	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// The times of commits.
const (
	// gather is how long changes are gathered before the first commit.
	gather = time.Second
	// apart is the least time between two commits.
	apart = 10 * time.Second
	// flapping is the least time between two commits because of one object that flaps.
	flapping = time.Minute
	// Lasting is the age at which a word is written anew, so that an older one is that of
	// somebody who is not there any more.
	Lasting = 30 * 24 * time.Hour
)

// Ledger is what is known of a cluster now, and what of it is written. It is not safe for
// concurrent use. Times that it is given never go back.
type Ledger struct {
	cluster Cluster
	tracks  map[object.Ref]*track
	pending map[object.Ref]time.Time // since when a phase is not the one that is written
	sending map[object.Ref]phase     // of Layout
	last    time.Time                // when a commit was made
	works   map[string]*files.Blob   // that are as they should be, by namespace
	// flipped counts in the first round that goes by another edition of the rules; else nil.
	flipped map[string]int
}

// track is the history of a phase. The zero ref has that of the cluster.
type track struct {
	now, written phase
	// changed and wrote are when the phase changed last, and when such a change was written.
	changed, wrote time.Time
	// hasty counts changes that came soon after another one, but for what got well: an object flaps above 0.
	hasty int
}

// NewLedger returns the ledger of a cluster of which nothing is known.
func NewLedger(name string) *Ledger {
	return ledgerOf(Cluster{Summary: Summary{Name: name}, Objects: map[object.Ref]*Object{}}, time.Time{})
}

// Reopen returns the ledger of what a branch says, whose head was made at a time.
func Reopen(root *files.Folder, at time.Time) (*Ledger, error) {
	c, err := read(root)
	if err != nil {
		return nil, err
	}
	return ledgerOf(c, at), nil
}

func ledgerOf(c Cluster, last time.Time) *Ledger {
	l := &Ledger{cluster: c, last: last, tracks: map[object.Ref]*track{}, pending: map[object.Ref]time.Time{}, works: map[string]*files.Blob{}}
	l.tracks[object.Ref{}] = &track{now: c.phase(), written: c.phase(), wrote: last}
	for r, o := range c.Objects {
		l.tracks[r] = &track{now: o.phase(), written: o.phase(), wrote: last}
	}
	return l
}

// Saw notes the health of an object. What nobody applied is passed over.
func (l *Ledger) Saw(r object.Ref, h health.Health, at time.Time) {
	if o := l.cluster.Objects[r]; o != nil {
		l.judge(r, o, h, at)
		l.note(r, at)
	}
}

// MostRefused is how many refusals a status lists.
const MostRefused = 10

// Refused notes which endpoints of others are not taken.
func (l *Ledger) Refused(all []Refusal, at time.Time) {
	l.cluster.Refused, l.cluster.More = all, 0
	if more := len(all) - MostRefused; more > 0 {
		l.cluster.Refused, l.cluster.More = all[:MostRefused], more
	}
	l.note(object.Ref{}, at)
}

// judge notes a health, without what may hold values of Secrets.
func (l *Ledger) judge(r object.Ref, o *Object, h health.Health, at time.Time) {
	if o.private {
		h.Message, h.Status, h.Pods = "", nil, nil
	}
	before := o.Health
	o.Health = judged(h, before, at)
	l.flip(r, &before, &o.Health)
	delete(l.works, r.Namespace)
}

// note looks whether the phase of an object, or of the cluster, is another one.
func (l *Ledger) note(r object.Ref, at time.Time) {
	var now phase
	o := l.cluster.Objects[r]
	switch {
	case r == object.Ref{}:
		now = l.cluster.phase()
	case o != nil:
		now = o.phase()
	}
	t := l.tracks[r]
	if t == nil {
		t = &track{}
		l.tracks[r] = t
	}
	if now == t.now {
		return
	}
	switch {
	case now.commit != t.now.commit:
		t.hasty = -1 // what is applied anew may look as before for a moment
		if o != nil {
			o.Flaps = 0
		}
	case now.isSaidOtherwise(t.now):
	case at.Sub(t.changed) >= flapping:
		t.hasty = 0
	case !now.mends(t.now):
		t.hasty++
	}
	if t.hasty > 0 && o != nil {
		o.Flaps++
	}
	t.now, t.changed = now, at
	delete(l.works, r.Namespace)
	l.compare(r, t)
}

// compare notes whether a phase is written.
func (l *Ledger) compare(r object.Ref, t *track) {
	_, isPending := l.pending[r]
	switch {
	case t.now != t.written && !isPending:
		l.pending[r] = t.changed
	case t.now != t.written:
	case t.now == phase{}: // it is gone
		delete(l.tracks, r)
		delete(l.pending, r)
	default:
		delete(l.pending, r)
	}
}

// Due returns when the next commit is to be made, by what is known now; the zero time for
// never.
func (l *Ledger) Due() time.Time {
	var due time.Time
	for r, since := range l.pending {
		ready := since.Add(gather)
		if t := l.tracks[r]; t.hasty > 0 {
			ready = later(ready, t.wrote.Add(flapping))
		}
		if due.IsZero() || ready.Before(due) {
			due = ready
		}
	}
	switch {
	case l.last.IsZero():
		return due
	case due.IsZero():
		return l.last.Add(Lasting)
	}
	return later(due, l.last.Add(apart))
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Layout returns the folder to be written. Wrote says that it is.
func (l *Ledger) Layout() *files.Folder {
	l.sending = make(map[object.Ref]phase, len(l.pending))
	for r := range l.pending {
		l.sending[r] = l.tracks[r].now
	}
	l.cluster.Counts = count(l.cluster.Objects)
	return l.layout()
}

// Anew has the next Layout hold every file whole: what was stored of it may be gone.
func (l *Ledger) Anew() { l.works = map[string]*files.Blob{} }

// Wrote notes that what Layout returned last was written.
func (l *Ledger) Wrote(at time.Time) {
	for r, p := range l.sending {
		t := l.tracks[r]
		if t == nil { // it went meanwhile
			t = &track{changed: at}
			l.tracks[r] = t
		}
		t.written, t.wrote = p, at
		l.compare(r, t)
	}
	l.sending, l.last = nil, at
}
