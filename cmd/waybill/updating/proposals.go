package updating

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/chart"
	"github.com/waybill-dev/waybill/sources/forge"
)

// Proposals brings new versions to a source: by pull requests, or by commits.
type Proposals struct {
	Upstream published.Repository // which is pushed to
	Base     string               // the branch that is followed
	// Reconciler reads the source from Upstream.
	Reconciler *reconciler.Reconciler
	Forge      forge.Proposer // nil for none
	Mode       subscribe.Mode // that is expected; empty: any
	// Asked says which registries are asked for a source with some config.
	Asked func(render.ConfigSpec) fetching.Asked
	Now   func() time.Time

	asked registries
}

// registries are those that are asked for a config, which remember how often they may be.
type registries struct {
	of      *render.ConfigSpec // nil: none were opened
	images  propose.Registry
	catalog func() *chart.Catalog
}

// run runs once, and prints what was done and what there is.
func (p *Proposals) run(ctx context.Context, out io.Writer) (propose.Result, error) {
	proposer := p.proposer()
	result, err := proposer.Run(ctx)
	if len(result.Outcomes) > 0 {
		if err := report.Proposals(result.Outcomes).Write(out, report.Table); err != nil {
			return result, err
		}
	}
	if err != nil {
		return result, err
	}
	return result, write(out, &result.Found, p.Now(), report.Table)
}

// Loop returns what runs again and again, whenever there may be something to do.
func (p *Proposals) Loop(interval time.Duration, log *slog.Logger) func(context.Context) error {
	l := &propose.Loop{Proposer: p.proposer(), Interval: interval, Log: log}
	l.Proposer.Scheduled, l.Proposer.Cache = true, propose.NewCache()
	return l.Run
}

func (p *Proposals) proposer() propose.Proposer {
	return propose.Proposer{
		Repository: p.Upstream, Forge: p.Forge, Registries: p.registries, Base: p.Base, Subdir: p.Reconciler.Subdir, Mode: p.Mode, Now: p.Now,
		Load: func(ctx context.Context, s sources.Snapshot) (render.Source, error) {
			return p.Reconciler.Planner().Load(ctx, s, render.With{})
		},
		Charts: charts(p.Reconciler.Planner()), Preview: p.preview, Judge: p.judge, Rollouts: p.rollouts,
	}
}

// registries opens those of a config, if they are not those that are open.
func (p *Proposals) registries(config render.ConfigSpec) (propose.Registry, propose.Catalog, error) {
	is := config
	if p.asked.of == nil || !reflect.DeepEqual(p.asked.of.Updates, is.Updates) || !reflect.DeepEqual(p.asked.of.Charts, is.Charts) {
		images, catalog, err := p.Asked(config).Versions()
		if err != nil {
			return nil, nil, err
		}
		p.asked = registries{of: &is, images: images, catalog: catalog}
	}
	return p.asked.images, p.asked.catalog(), nil
}

// preview says as Markdown of at most limit bytes what going from one commit to another does to every cluster, and what that means for
// roll-outs that are open.
func (p *Proposals) preview(ctx context.Context, base, head string, limit int) (string, updates.Effect, error) {
	s, err := p.Reconciler.Source.Snapshot(ctx, head, p.Reconciler.Subdir)
	if err != nil {
		return "", updates.Effect{}, err
	}
	key, err := draw.Throwaway(rand.Reader)
	if err != nil {
		return "", updates.Effect{}, err
	}
	c, err := versions.Preview(ctx, p.Reconciler, versions.Question{Base: base, Head: s, Key: key})
	return post.Text(&c, limit), updates.EffectOf(&c), err
}

// judge begins with a commit, and returns what says of versions of the source what going there does. Where it cannot be read how far
// roll-outs are, nothing may be carried out.
func (p *Proposals) judge(ctx context.Context, base string) (propose.Judgement, error) {
	_, unreadable, err := p.recorded(ctx)
	if err != nil {
		return nil, err
	}
	if len(unreadable) > 0 {
		unit := slices.SortedFunc(maps.Keys(unreadable), rollouts.Unit.Compare)[0]
		wrong := fmt.Sprintf("it cannot be read how far the roll-out of %s is: %v", unit, unreadable[unit])
		return func(context.Context, sources.Snapshot) (updates.Effect, error) {
			return updates.Effect{Wrong: wrong}, nil
		}, nil
	}
	key, err := draw.Throwaway(rand.Reader)
	if err != nil {
		return nil, err
	}
	begun, err := versions.Begin(ctx, p.Reconciler, base, key)
	if err != nil {
		return nil, err
	}
	against := versions.Against{Base: begun, By: *p.Reconciler, Head: *p.Reconciler}
	return func(ctx context.Context, head sources.Snapshot) (updates.Effect, error) {
		c, err := against.Answer(ctx, versions.Question{Base: base, Head: head, Key: key})
		return updates.EffectOf(&c), err
	}, nil
}

// rollouts are those that are recorded where the source is published.
func (p *Proposals) rollouts(ctx context.Context) ([]rollouts.Rollout, error) {
	all, _, err := p.recorded(ctx)
	return all, err
}

// recorded are the roll-outs that are recorded where the source is published, and those whose record cannot be read.
func (p *Proposals) recorded(ctx context.Context) ([]rollouts.Rollout, map[rollouts.Unit]error, error) {
	if _, err := p.Reconciler.Target.Heads(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.Reconciler.Target.Fetch(ctx, state.Branch); err != nil {
		return nil, nil, err
	}
	return commands.Recorded(ctx, p.Reconciler.Target)
}
