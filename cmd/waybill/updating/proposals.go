package updating

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Proposals opens, renews and closes pull requests.
type Proposals struct {
	Upstream published.Repository // which is pushed to
	Base     string               // the branch that they are for
	// Reconciler reads the source from Upstream.
	Reconciler *reconciler.Reconciler
	Forge      forge.Proposer
	Registry   propose.Registry
	Catalog    func() *chart.Catalog // for one look
	Now        func() time.Time
}

// Run runs once, and prints what was done and what there is.
func (p *Proposals) Run(ctx context.Context, out io.Writer) (propose.Result, error) {
	proposer := propose.Proposer{
		Repository: p.Upstream, Forge: p.Forge, Registry: p.Registry, Base: p.Base, Subdir: p.Reconciler.Subdir, Now: p.Now,
		Load: func(ctx context.Context, s sources.Snapshot) (render.Source, error) {
			return p.Reconciler.Planner().Load(ctx, s, render.With{})
		},
		Catalog: func() propose.Catalog { return p.Catalog() }, Charts: charts(p.Reconciler.Planner()), Preview: p.preview, Rollouts: p.rollouts,
	}
	result, err := proposer.Run(ctx)
	if len(result.Outcomes) > 0 {
		if err := report.Proposals(result.Outcomes).Write(out, report.Table); err != nil {
			return result, err
		}
	}
	if err != nil {
		return result, err
	}
	return result, Write(out, &result.Found, p.Now(), report.Table)
}

// preview says as Markdown of at most limit bytes what going from one commit to another does to every cluster.
func (p *Proposals) preview(ctx context.Context, base, head string, limit int) (string, error) {
	key, err := draw.Throwaway(rand.Reader)
	if err != nil {
		return "", err
	}
	s, err := p.Reconciler.Source.Snapshot(ctx, head, p.Reconciler.Subdir)
	if err != nil {
		return "", err
	}
	c, err := versions.Preview(ctx, p.Reconciler, versions.Question{Base: base, Head: s, Key: key})
	return post.Text(&c, limit), err
}

// rollouts are those that are recorded where the source is published.
func (p *Proposals) rollouts(ctx context.Context) ([]rollouts.Rollout, error) {
	if _, err := p.Reconciler.Target.Heads(ctx); err != nil {
		return nil, err
	}
	if err := p.Reconciler.Target.Fetch(ctx, state.Branch); err != nil {
		return nil, err
	}
	all, _, err := commands.Recorded(ctx, p.Reconciler.Target)
	return all, err
}
