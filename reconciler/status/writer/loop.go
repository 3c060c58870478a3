package writer

import (
	"context"
	"errors"
	"time"

	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// cluster is what a writer knows of a cluster.
type cluster struct {
	ledger *status.Ledger
	past   status.Past
}

// loop is a writer that runs.
type loop struct {
	*Writer

	heads    map[string]git.Head // that were read at the start, by cluster; nil until then
	early    []event             // that came before
	clusters map[string]*cluster
	read     chan map[string]git.Head
	pushed   chan outcome
	sent     map[string]git.Update // by a push that is under way
	next     time.Time             // before which nothing is pushed
	fails    int
}

// outcome is what a push came to.
type outcome struct {
	heads map[string]files.ID // by cluster
	err   error
}

// Run writes until ctx ends, and then what is not written yet.
func (w *Writer) Run(ctx context.Context) error {
	defer close(w.gone)
	l := &loop{Writer: w, clusters: map[string]*cluster{}, read: make(chan map[string]git.Head, 1), pushed: make(chan outcome, 1)}
	go func() { l.read <- w.heads(ctx) }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(l.wait())
		select {
		case <-ctx.Done():
			l.close(ctx)
			return nil
		case l.heads = <-l.read:
			for _, e := range l.early {
				l.take(e)
			}
			l.early = nil
		case e := <-w.events:
			l.take(e)
		case o := <-l.pushed:
			l.settle(ctx, o)
		case <-timer.C:
			l.push(ctx, l.due(w.Now()))
		}
	}
}

// heads reads the status branches. Where that fails they are written over.
func (w *Writer) heads(ctx context.Context) map[string]git.Head {
	ctx, cancel := context.WithTimeout(ctx, pushTime)
	defer cancel()
	heads, err := Heads(ctx, w.Target, w.Clusters...)
	if err != nil {
		w.Log.WarnContext(ctx, "status branches cannot be read, and are written over", "err", err)
		return map[string]git.Head{}
	}
	return heads
}

// take notes an event.
func (l *loop) take(e event) {
	if l.heads == nil {
		l.early = append(l.early, e)
		return
	}
	c := l.clusters[e.cluster]
	switch {
	case e.round != nil:
		if c == nil {
			c = open(e.cluster, l.heads)
			l.clusters[e.cluster] = c
		}
		c.ledger.Ended(e.round, e.at)
	case c == nil:
	case e.refused != nil:
		c.ledger.Refused(*e.refused, e.at)
	case e.ref == object.Ref{}:
		delete(l.clusters, e.cluster)
		delete(l.heads, e.cluster) // it may be written by somebody else by now
	default:
		c.ledger.Saw(e.ref, e.health, e.at)
	}
}

// open goes on from what a branch says. One that cannot be read is written over.
func open(name string, heads map[string]git.Head) *cluster {
	c := &cluster{}
	if h, ok := heads[name]; ok {
		c.past = status.PastOf(h)
		c.ledger, _ = status.Reopen(h.Tree, h.When)
	}
	if c.ledger == nil {
		c.ledger = status.NewLedger(name)
	}
	return c
}

// wait is how long there is nothing to push.
func (l *loop) wait() time.Duration {
	const long = time.Hour
	if l.sent != nil {
		return long // until that is done
	}
	var due time.Time
	for _, c := range l.clusters {
		if t := c.ledger.Due(); !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	if due.IsZero() {
		return long
	}
	if due.Before(l.next) {
		due = l.next
	}
	return max(0, due.Sub(l.Now()))
}

// due are the updates of clusters of which a commit is due by a time.
func (l *loop) due(by time.Time) map[string]git.Update {
	updates := map[string]git.Update{}
	for name, c := range l.clusters {
		if t := c.ledger.Due(); !t.IsZero() && !t.After(by) {
			updates[name] = c.past.Next(name, c.ledger.Layout(), l.Now())
		}
	}
	return updates
}

// push writes updates beside everything else.
func (l *loop) push(ctx context.Context, updates map[string]git.Update) {
	if l.sent != nil || len(updates) == 0 {
		return
	}
	l.sent, l.next = updates, l.Now().Add(l.Every)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, pushTime)
		defer cancel()
		ctx, end := traces.Begin(ctx, "status")
		heads, err := push(ctx, l.Target, updates)
		end(err, traces.Count("clusters", len(updates)))
		l.pushed <- outcome{heads, err}
	}()
}

// settle notes what a push came to. What failed is due again, and then has what happened
// meanwhile, too.
func (l *loop) settle(ctx context.Context, o outcome) {
	if o.err != nil {
		l.fails++
		l.next = l.Now().Add(min(l.Every<<min(l.fails, 4), max(l.Every, mostWait)))
		l.Log.WarnContext(ctx, "status not written", "err", o.err)
	} else {
		l.fails = 0
	}
	if errors.Is(o.err, git.ErrMissing) { // as when the repository was restored from a backup
		for name := range l.sent {
			if c := l.clusters[name]; c != nil {
				c.ledger.Anew()
			}
		}
	}
	for name, head := range o.heads {
		if c := l.clusters[name]; c != nil {
			c.past = status.PastOf(git.Head{Commit: head, Message: l.sent[name].Message, When: l.sent[name].When})
			c.ledger.Wrote(l.Now())
		}
	}
	l.sent = nil
}

// close writes what is not written yet.
func (l *loop) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	if l.sent != nil {
		l.settle(ctx, <-l.pushed)
	}
	for len(l.events) > 0 {
		l.take(<-l.events)
	}
	soon := l.Now().Add(time.Minute)
	if updates := l.due(soon); len(updates) > 0 {
		if _, err := push(ctx, l.Target, updates); err != nil {
			l.Log.WarnContext(ctx, "status not written", "err", err)
		}
	}
}
