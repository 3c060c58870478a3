package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/words"
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
	// Clusters are the only ones of which it tells; empty: it tells of all.
	Clusters []string
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

// Refused tells of its clusters that what is published was refused as a whole, if that is why: whoever publishes reads
// then what they went by. A nil teller tells nobody.
func (t *Teller) Refused(err error) {
	if _, refused := errors.AsType[*ancestry.RefusedError](err); !refused || t == nil {
		return
	}
	for _, cluster := range t.Clusters {
		t.Ended(&Application{Cluster: cluster, Err: err, observed: observed{reached: true}})
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

// StatusHeads reads the heads of the status branches, by cluster, with one look and one fetch:
// those of the clusters that are named, or all.
func StatusHeads(ctx context.Context, target Repository, only ...string) (map[string]git.Head, error) {
	at, err := target.Heads(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for status branches: %w", err)
	}
	if len(only) > 0 {
		maps.DeleteFunc(at, func(name string, _ files.ID) bool {
			cluster, _ := status.ClusterOf(name)
			return !slices.Contains(only, cluster)
		})
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
		switch head, err := target.Commit(ctx, at[name]); {
		case ctx.Err() != nil:
			return nil, ctx.Err() //nolint:wrapcheck // the caller knows
		case err != nil: // it is written over, and no other is
			heads[cluster] = git.Head{Commit: at[name], Tree: files.NewFolder(nil)}
		default:
			heads[cluster] = head
		}
	}
	return heads, nil
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
			return nil, fmt.Errorf("writing the status of %s: %w", words.Count(len(clusters), "cluster"), err)
		}
		at, lookErr := target.Heads(ctx)
		if lookErr != nil {
			return nil, fmt.Errorf("writing the status of %s: %w", words.Count(len(clusters), "cluster"), lookErr)
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
