package applier

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/poll"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
)

// BranchPoller sees what others publish, for one who applies and does not publish: a replica that does
// not lead, or an agent.
type BranchPoller struct {
	Target published.Repository
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
func (p *BranchPoller) Run(ctx context.Context) error {
	var last []files.ID
	return poll.Every(ctx, p.Interval, p.Now, func() {
		heads, err := p.Target.Heads(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			err = fmt.Errorf("looking at what is published: %w", err)
			p.Log.WarnContext(ctx, "cannot look", "err", err)
		} else if now := p.at(heads); !slices.Equal(now, last) {
			last = now
			p.Wake()
		}
		p.Report(err)
	})
}

// at is where the branches are that count.
func (p *BranchPoller) at(heads map[string]files.ID) []files.ID {
	all := []files.ID{heads[state.Branch]}
	if p.Branches != nil {
		for _, b := range p.Branches() {
			all = append(all, heads[b])
		}
	}
	return all
}
