package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
)

// Lookout sees what others publish, for one who applies and does not publish: a replica that does
// not lead, or an agent.
type Lookout struct {
	Reconciler *Reconciler
	// Branches are those that are looked at besides the one of the state, which every publication
	// moves; only a server that cannot push atomically moves them before it.
	Branches func() []string
	// Now has it look at once; nil: nobody does.
	Now      <-chan struct{}
	Interval time.Duration // between two looks at the repository
	Log      *slog.Logger
	// Wake is called when something was published.
	Wake func()
	// Report is told of every look.
	Report func(error)
}

// Run looks until ctx ends.
func (l *Lookout) Run(ctx context.Context) error {
	var last []files.ID
	return looking(ctx, l.Interval, l.Now, func() {
		heads, err := l.Reconciler.Target.Heads(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			err = fmt.Errorf("looking at what is published: %w", err)
			l.Log.WarnContext(ctx, "cannot look", "err", err)
		} else if now := l.at(heads); !slices.Equal(now, last) {
			last = now
			l.Wake()
		}
		l.Report(err)
	})
}

// at is where the branches are that count.
func (l *Lookout) at(heads map[string]files.ID) []files.ID {
	all := []files.ID{heads[state.Branch]}
	if l.Branches != nil {
		for _, b := range l.Branches() {
			all = append(all, heads[b])
		}
	}
	return all
}
