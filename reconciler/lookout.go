package reconciler

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
)

// Lookout sees what others publish, for a replica that applies and does not lead.
type Lookout struct {
	Reconciler *Reconciler
	Interval   time.Duration // between two looks at the repository
	Log        *slog.Logger
	// Wake is called when something was published: every publication moves the state branch.
	Wake func()
	// Report is told of every look.
	Report func(error)
}

// Run looks until ctx ends.
func (l *Lookout) Run(ctx context.Context) error {
	var last files.ID
	for {
		heads, err := l.Reconciler.Target.Heads(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			err = fmt.Errorf("looking at what is published: %w", err)
			l.Log.WarnContext(ctx, "cannot look", "err", err)
		} else if now := heads[state.Branch]; now != last {
			last = now
			l.Wake()
		}
		l.Report(err)
		timer := time.NewTimer(l.Interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}
