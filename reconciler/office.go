package reconciler

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

// desk is what a teller has of a cluster.
type desk struct {
	ledger *status.Ledger
	past   status.Past
}

// office is what a teller has of all clusters.
type office struct {
	*Teller

	heads map[string]git.Head // that were read at the start, by cluster; nil until then
	early []news              // that came before
	desks map[string]*desk
	read  chan map[string]git.Head
	wrote chan written
	sent  map[string]git.Update // by a push that is under way
	next  time.Time             // before which nothing is pushed
	fails int
}

// written is what a push came to.
type written struct {
	heads map[string]files.ID // by cluster
	err   error
}

// Run writes until ctx ends, and then what is not written yet.
func (t *Teller) Run(ctx context.Context) error {
	defer close(t.gone)
	o := &office{Teller: t, desks: map[string]*desk{}, read: make(chan map[string]git.Head, 1), wrote: make(chan written, 1)}
	go func() { o.read <- t.heads(ctx) }()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(o.wait())
		select {
		case <-ctx.Done():
			o.close(ctx)
			return nil
		case o.heads = <-o.read:
			for _, n := range o.early {
				o.hear(n)
			}
			o.early = nil
		case n := <-t.news:
			o.hear(n)
		case w := <-o.wrote:
			o.settle(ctx, w)
		case <-timer.C:
			o.push(ctx, o.due(t.Now()))
		}
	}
}

// heads reads the status branches. Where that fails they are written over.
func (t *Teller) heads(ctx context.Context) map[string]git.Head {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	heads, err := StatusHeads(ctx, t.Target, t.Clusters...)
	if err != nil {
		t.Log.WarnContext(ctx, "status branches cannot be read, and are written over", "err", err)
		return map[string]git.Head{}
	}
	return heads
}

// hear notes news.
func (o *office) hear(n news) {
	if o.heads == nil {
		o.early = append(o.early, n)
		return
	}
	d := o.desks[n.cluster]
	switch {
	case n.round != nil:
		if d == nil {
			d = deskOf(n.cluster, o.heads)
			o.desks[n.cluster] = d
		}
		d.ledger.Ended(n.round, n.at)
	case d == nil:
	case n.ref == object.Ref{}:
		delete(o.desks, n.cluster)
		delete(o.heads, n.cluster) // it may be written by somebody else by now
	default:
		d.ledger.Saw(n.ref, n.health, n.at)
	}
}

// deskOf goes on from what a branch says. One that cannot be read is written over.
func deskOf(cluster string, heads map[string]git.Head) *desk {
	d := &desk{}
	if h, ok := heads[cluster]; ok {
		d.past = status.PastOf(h)
		d.ledger, _ = status.Reopen(h.Tree, h.When)
	}
	if d.ledger == nil {
		d.ledger = status.NewLedger(cluster)
	}
	return d
}

// wait is how long there is nothing to push.
func (o *office) wait() time.Duration {
	const long = time.Hour
	if o.sent != nil {
		return long // until that is done
	}
	var due time.Time
	for _, d := range o.desks {
		if t := d.ledger.Due(); !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	if due.IsZero() {
		return long
	}
	if due.Before(o.next) {
		due = o.next
	}
	return max(0, due.Sub(o.Now()))
}

// due are the updates of clusters of which a commit is due by a time.
func (o *office) due(by time.Time) map[string]git.Update {
	updates := map[string]git.Update{}
	for cluster, d := range o.desks {
		if t := d.ledger.Due(); !t.IsZero() && !t.After(by) {
			updates[cluster] = d.past.Next(cluster, d.ledger.Layout(), o.Now())
		}
	}
	return updates
}

// push writes updates beside everything else.
func (o *office) push(ctx context.Context, updates map[string]git.Update) {
	if o.sent != nil || len(updates) == 0 {
		return
	}
	o.sent, o.next = updates, o.Now().Add(o.Every)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, tellTime)
		defer cancel()
		ctx, end := traces.Begin(ctx, "status")
		heads, err := writeStatus(ctx, o.Target, updates)
		end(err, traces.Count("clusters", len(updates)))
		o.wrote <- written{heads, err}
	}()
}

// settle notes what a push came to. What failed is due again, and then has what happened
// meanwhile, too.
func (o *office) settle(ctx context.Context, w written) {
	if w.err != nil {
		o.fails++
		o.next = o.Now().Add(min(o.Every<<min(o.fails, 4), max(o.Every, askCeiling)))
		o.Log.WarnContext(ctx, "status not written", "err", w.err)
	} else {
		o.fails = 0
	}
	if errors.Is(w.err, git.ErrMissing) { // as when the repository was restored from a backup
		for cluster := range o.sent {
			if d := o.desks[cluster]; d != nil {
				d.ledger.Anew()
			}
		}
	}
	for cluster, head := range w.heads {
		if d := o.desks[cluster]; d != nil {
			d.past = status.PastOf(git.Head{Commit: head, Message: o.sent[cluster].Message, When: o.sent[cluster].When})
			d.ledger.Wrote(o.Now())
		}
	}
	o.sent = nil
}

// close writes what is not written yet.
func (o *office) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if o.sent != nil {
		o.settle(ctx, <-o.wrote)
	}
	for len(o.news) > 0 {
		o.hear(<-o.news)
	}
	soon := o.Now().Add(time.Minute)
	if updates := o.due(soon); len(updates) > 0 {
		if _, err := writeStatus(ctx, o.Target, updates); err != nil {
			o.Log.WarnContext(ctx, "status not written", "err", err)
		}
	}
}
