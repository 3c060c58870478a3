package facts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources/lock"
)

// Memory is what is remembered of new versions of images and charts.
type Memory struct {
	updates.Memory
	// At is when something was noted last; zero for never.
	At time.Time
}

// memoryOf reads what a repository remembers of new versions, when somebody asks, once.
func memoryOf(ctx context.Context, from published.Repository) func() (Memory, error) {
	if err := from.Fetch(ctx, updates.MemoryBranch); err != nil {
		return func() (Memory, error) { return Memory{}, fmt.Errorf("fetching %s: %w", updates.MemoryBranch, err) }
	}
	head, _, err := from.Branch(ctx, updates.MemoryBranch)
	return sync.OnceValues(func() (Memory, error) {
		if err != nil {
			return Memory{}, fmt.Errorf("reading what is remembered of new versions: %w", err)
		}
		m, err := updates.Decode(head.Tree)
		if err != nil {
			return Memory{}, err
		}
		return Memory{*m, head.When}, nil
	})
}

// Subscribed is what a version of the source subscribes to.
type Subscribed struct {
	Commit   string
	Settings subscribe.Updates
	Source   updates.Source
}

// subscribed remembers what was read last.
type subscribed struct {
	mu   sync.Mutex
	last *Subscribed
}

// Subscriptions are what the source subscribes to now: its image policies, and of charts what its lock file has of ranges, whether
// anything names it still. It reads the source, once for each version of it, and renders nothing.
func Subscriptions(ctx context.Context, r *Reader) (*Subscribed, error) {
	known := &r.subscribed
	known.mu.Lock()
	defer known.mu.Unlock()
	s, err := r.Reconciler.Source.Snapshot(ctx, r.Rev, r.Reconciler.Subdir)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	if known.last != nil && known.last.Commit == s.Revision().Commit {
		return known.last, nil
	}
	reads := *r.Reconciler
	reads.Seen = reconciler.NewCache() // several may read meanwhile
	read, err := reads.Planner().Load(ctx, s, render.With{})
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	if bad, is := read.BadConfig(); is {
		return nil, &render.ConfigError{Diagnostic: bad}
	}
	now := &Subscribed{Commit: s.Revision().Commit, Settings: read.Config.Updates}
	if now.Settings.Acts() {
		if now.Source, err = updates.Read(s, &read, updates.Charts{Uses: lockedCharts(&read.Lock)}); err != nil {
			return nil, err
		}
	}
	known.last = now
	return now, nil
}

// lockedCharts are the charts that a lock file has.
func lockedCharts(l *lock.Lock) (all []planner.ChartUse) {
	for _, e := range l.Entries() {
		all = append(all, planner.ChartUse{Ref: e.Ref})
	}
	return all
}
