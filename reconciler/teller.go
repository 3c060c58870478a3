package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

const (
	// tellEvery is the least time between two pushes of status branches. Git hosts ask for no
	// more than six a minute.
	tellEvery = 10 * time.Second
	// tellTime is how long a push of status branches may take.
	tellTime = 5 * time.Minute
)

// Teller writes what becomes of branches in clusters to the status branches. Whoever applies
// tells it, and waits for nothing: what cannot be written is written later, together with
// what happened since. One push writes what is due of all clusters.
type Teller struct {
	Target Repository
	Now    func() time.Time
	Log    *slog.Logger
	// Every is the least time between two pushes.
	Every time.Duration

	news chan news
	gone chan struct{} // closed when nobody listens any more
}

// NewTeller returns a teller. Run has it listen.
func NewTeller(target Repository, now func() time.Time, log *slog.Logger) *Teller {
	const pending = 1024
	return &Teller{Target: target, Now: now, Log: log, Every: tellEvery, news: make(chan news, pending), gone: make(chan struct{})}
}

// news is what happened at a cluster: a round ended, or an object was seen, or nobody applies
// there any more.
type news struct {
	cluster string
	at      time.Time
	round   *status.Round
	ref     object.Ref
	health  health.Health
}

// Ended tells of a round, if there was one. A nil teller tells nobody.
func (t *Teller) Ended(a *Application) {
	if t != nil && a.happened() {
		t.tell(news{cluster: a.Cluster, round: a.told()})
	}
}

// Saw tells of the health of an object.
func (t *Teller) Saw(cluster string, r object.Ref, h health.Health) {
	t.tell(news{cluster: cluster, ref: r, health: h})
}

// Forget tells that nobody applies to a cluster here any more. What its branch says stays.
func (t *Teller) Forget(cluster string) {
	if t != nil {
		t.tell(news{cluster: cluster})
	}
}

func (t *Teller) tell(n news) {
	n.at = t.Now()
	select {
	case t.news <- n:
	case <-t.gone:
	}
}

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
	heads, err := StatusHeads(ctx, t.Target)
	if err != nil {
		t.Log.WarnContext(ctx, "status branches cannot be read, and are written over", "err", err)
		return map[string]git.Head{}
	}
	return heads
}

// StatusHeads reads the heads of all status branches, by cluster: with one look and one fetch.
func StatusHeads(ctx context.Context, target Repository) (map[string]git.Head, error) {
	at, err := target.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for status branches: %w", err)
	}
	return statusHeads(ctx, target, at)
}

func statusHeads(ctx context.Context, target Repository, at map[string]files.ID) (map[string]git.Head, error) {
	var branches []string
	for name := range at {
		if _, ok := status.ClusterOf(name); ok {
			branches = append(branches, name)
		}
	}
	slices.Sort(branches)
	if err := target.Fetch(ctx, branches...); err != nil {
		return nil, err //nolint:wrapcheck // it says what
	}
	heads := make(map[string]git.Head, len(branches))
	for _, name := range branches {
		cluster, _ := status.ClusterOf(name)
		head, err := target.Commit(ctx, at[name])
		if err != nil {
			return nil, err //nolint:wrapcheck // it names the commit
		}
		heads[cluster] = head
	}
	return heads, nil
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
		heads, err := writeStatus(ctx, o.Target, updates)
		o.wrote <- written{heads, err}
	}()
}

// settle notes what a push came to. What failed is due again, and then has what happened
// meanwhile, too.
func (o *office) settle(ctx context.Context, w written) {
	if w.err != nil {
		o.fails++
		o.next = o.Now().Add(min(o.Every<<min(o.fails, 4), backoffCeiling))
		o.Log.WarnContext(ctx, "status not written", "err", w.err)
	} else {
		o.fails = 0
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

// writeStatus pushes updates of status branches, and returns the heads of those that are
// written, by cluster. Where another writer moved one, what it wrote is written over: one
// writes a branch, and who applied last knows best.
func writeStatus(ctx context.Context, target Repository, updates map[string]git.Update) (map[string]files.ID, error) {
	const tries = 5
	clusters := slices.Sorted(maps.Keys(updates))
	list := make([]git.Update, len(clusters))
	for i, name := range clusters {
		list[i] = updates[name]
	}
	for n := 0; ; n++ {
		ids, err := target.Publish(ctx, list)
		if err == nil {
			heads := make(map[string]files.ID, len(ids))
			for i, id := range ids {
				heads[clusters[i]] = id
			}
			return heads, nil
		}
		_, raced := errors.AsType[*git.RaceError](err)
		forced := slices.ContainsFunc(list, func(u git.Update) bool { return u.Anew && !u.Old.IsZero() })
		if n == tries || ctx.Err() != nil || !raced && !forced {
			return nil, fmt.Errorf("writing the status of %d clusters: %w", len(clusters), err)
		}
		at, lookErr := target.Heads(ctx)
		if lookErr != nil {
			return nil, fmt.Errorf("writing the status of %d clusters: %w", len(clusters), lookErr)
		}
		for i := range list {
			list[i].Old = at[list[i].Branch]
			list[i].Anew = list[i].Anew && raced // a server may refuse to rewrite a branch
		}
	}
}

// Tell writes what rounds came to, once.
func Tell(ctx context.Context, target Repository, now time.Time, apps []Application) error {
	heads, err := StatusHeads(ctx, target)
	if err != nil {
		return err
	}
	updates := map[string]git.Update{}
	for i := range apps {
		if !apps[i].happened() {
			continue
		}
		d := deskOf(apps[i].Cluster, heads)
		d.ledger.Ended(apps[i].told(), now)
		if due := d.ledger.Due(); !due.IsZero() && due.Before(now.Add(time.Hour)) {
			updates[apps[i].Cluster] = d.past.Next(apps[i].Cluster, d.ledger.Layout(), now)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	_, err = writeStatus(ctx, target, updates)
	return err
}
