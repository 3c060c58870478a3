package propose

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/reconciler/poll"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/files"
)

// Loop runs a Proposer again and again: whenever a branch that it reads or writes moves, and when registries are to be asked.
type Loop struct {
	Proposer Proposer // which has to be Scheduled, and have Cache
	Interval time.Duration
	Log      *slog.Logger

	heads map[string]files.ID // when it looked last; nil: it did not, or failed
	named map[string]bool     // branches that automations push to, as it was then
	next  time.Time           // zero: at no time
}

// Run looks until ctx ends. What fails is said, and tried again.
func (l *Loop) Run(ctx context.Context) error {
	return poll.Every(ctx, l.Interval, nil, func() {
		if err := l.Look(ctx); err != nil && ctx.Err() == nil {
			l.Log.WarnContext(ctx, "new versions not looked for", "err", err)
		}
	})
}

// Look looks once, if there may be something to do.
func (l *Loop) Look(ctx context.Context) error {
	heads, err := l.Proposer.Repository.Heads(ctx)
	if err != nil {
		return err
	}
	isDue := !l.next.IsZero() && !l.Proposer.Now().Before(l.next)
	if l.heads != nil && maps.Equal(l.heads, l.read(heads)) && !isDue {
		return nil
	}
	l.heads = nil
	r, err := l.Proposer.Run(ctx)
	for _, o := range r.Outcomes {
		switch o.Did {
		case Stays, Waits, Theirs:
			l.Log.DebugContext(ctx, "update", "branch", o.Branch, "did", string(o.Did), "url", o.URL, "why", o.Why)
		default:
			l.Log.InfoContext(ctx, "update", "branch", o.Branch, "did", string(o.Did), "url", o.URL, "why", o.Why)
		}
	}
	for _, d := range r.Found.Source.Diags {
		l.Log.DebugContext(ctx, "diagnostic", "text", d.String())
	}
	switch {
	case errors.Is(err, errOff):
		r.Next = time.Time{}
	case err != nil:
		return err
	}
	l.named = r.named(l.Proposer.Base)
	l.heads, l.next = l.read(r.heads), r.Next
	return nil
}

// read leaves of branches those that a look reads.
func (l *Loop) read(heads map[string]files.ID) map[string]files.ID {
	some := map[string]files.ID{}
	for name, at := range heads {
		if name == l.Proposer.Base || name == updates.MemoryBranch || strings.HasPrefix(name, updates.BranchPrefix) || l.named[name] {
			some[name] = at
		}
	}
	return some
}

// named are the branches that automations name, as far as versions are pushed there.
func (r *Result) named(base string) map[string]bool {
	named := map[string]bool{}
	for i := range r.Found.Source.Subscriptions {
		if s := &r.Found.Source.Subscriptions[i]; s.Automation != nil {
			named[s.Branch(base, "")] = true
		}
	}
	return named
}
