// Package planner plans a source: it reads it, takes what cannot be read from the commits in which it was last good, has
// releases rendered, and asks plan.Build what should be. What is published comes in as a value.
package planner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/policies/unit"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
)

// Planner plans versions of one source.
type Planner struct {
	Source published.Repository // what earlier commits are read from
	Subdir string               // folder of it that is read; empty for all
	Cache  render.Cache
	Engine render.Engine // nil: what needs one is reported as not rendered
	Allow  guard.Allowance
	// Random is what releases draw from. Its source is filled in.
	Random plan.Random
	Now    func() time.Time
	// Version is that of what renders.
	Version string
	// Memo is what is remembered of the plan before; nil: nothing is. Only one at a time may plan with it.
	Memo *plan.Memo
}

// Observation is what a plan is made from.
type Observation struct {
	// Input is the plan's but for what Build finds out: what was last good, and what
	// releases render to.
	Input plan.Input
	// Snapshot is what Source was read from.
	Snapshot sources.Snapshot
	Source   render.Source
	// Ahead are what was published after the publication that the state names, in the order
	// of dates: where a push is not atomic, a branch may be ahead of the state.
	Ahead []state.Publication
	// Ask returns what clusters say of objects that a plan asks about, with an entry for each of them. Nil: nobody can be
	// asked.
	Ask func(context.Context, map[object.Ref][]string) (evict.Evidence, error)
}

// Observe begins an observation of a version of the source, for which nothing is published yet.
func (p *Planner) Observe(s sources.Snapshot, src render.Source, m plan.Medium) Observation {
	random := p.Random
	random.Source = published.SourceID(s.Revision().Repo, p.Subdir)
	memo := p.Memo
	if memo == nil {
		memo = plan.NewMemo()
	}
	return Observation{Snapshot: s, Source: src, Input: plan.Input{
		Medium: m, Allow: p.Allow, Random: random, Now: p.Now().UTC().Truncate(time.Second),
		Published: map[string]tree.Published{}, Memo: memo, Staging: plan.Staging{Renderer: p.Version},
	}}
}

// Load reads a snapshot with what the planner has to read it with. Schedules are a mistake of
// the config, too: nothing could be applied with them.
func (p *Planner) Load(ctx context.Context, s sources.Snapshot, with render.With) (render.Source, error) {
	with.Cache, with.Engine = p.Cache, p.Engine
	src, err := render.Load(ctx, s, with)
	if err != nil {
		return src, err
	}
	_, wrong := unit.ReadWindows(src.Config.Rollout.Windows)
	_, unread := images.ReadSchedule(&src.Config.Updates)
	wrong = append(wrong, unread...)
	if _, err := suspend.Parse(src.Config.Apply.SyncWindows); err != nil {
		wrong = append(wrong, diag.Diagnostic{
			Code: diag.BadConfig, Severity: diag.Error, Pos: diag.Pos{File: render.ConfigFile}, Message: err.Error(), Hint: "the options are listed in docs/config.md",
		})
	}
	if len(wrong) > 0 {
		src.Diags = diag.Sort(slices.Concat(src.Diags, wrong))
	}
	return src, nil
}

// Build plans an observation: it takes what cannot be read from the commits in which it
// was last good, has releases rendered, and asks plan.Build. The error is ours.
func (p *Planner) Build(ctx context.Context, obs *Observation) (plan.Plan, error) {
	return p.BuildEdited(ctx, obs, func(*plan.Input) error { return nil })
}

// BuildEdited is Build with something done to what is planned, once all of the source is known.
func (p *Planner) BuildEdited(ctx context.Context, obs *Observation, edit func(*plan.Input) error) (plan.Plan, error) {
	allows := func(digest string) bool { return obs.Input.Allow.Allows(obs.Source.Revision, digest) }
	err := p.Mend(ctx, obs, allows)
	if err == nil {
		obs.Input.Unlisted, err = p.unlisted(ctx, obs, allows)
	}
	if err != nil {
		return plan.Plan{}, err
	}
	if err := edit(&obs.Input); err != nil {
		return plan.Plan{}, err
	}
	if err := plan.Expand(&obs.Input, p.Renderer(ctx, obs.Snapshot)); err != nil {
		return plan.Plan{}, err
	}
	if _, err := p.ReadOlder(ctx, obs, plan.OlderCommits(&obs.Input)); err != nil {
		return plan.Plan{}, err
	}
	return p.plan(ctx, obs)
}

// plan makes the plan, and makes it anew as long as something can be said of what it asks about.
func (p *Planner) plan(ctx context.Context, obs *Observation) (plan.Plan, error) {
	for {
		is := plan.Build(obs.Input)
		isTold, err := p.ReadOlder(ctx, obs, is.Missing)
		if err == nil && !isTold {
			isTold, err = obs.ask(ctx, is.Asks)
		}
		switch {
		case err != nil:
			return plan.Plan{}, err
		case !isTold:
			return is, nil
		}
	}
}

// ask asks clusters, and reports whether they say anything.
func (o *Observation) ask(ctx context.Context, asks map[object.Ref][]string) (isTold bool, err error) {
	if len(asks) == 0 || o.Ask == nil {
		return false, nil
	}
	said, err := o.Ask(ctx, asks)
	if err != nil {
		return false, fmt.Errorf("reading what clusters say of what moves: %w", err)
	}
	all := maps.Clone(o.Input.Evidence)
	if all == nil {
		all = evict.Evidence{}
	}
	for r := range asks {
		all[r] = said[r]
		isTold = isTold || len(said[r]) > 0
	}
	o.Input.Evidence = all
	return isTold, nil
}

// ReadOlder reads older commits, which clusters may show still, and expands them. It reports whether one of them can be read: what
// clusters have of the others stays. The error is ours.
func (p *Planner) ReadOlder(ctx context.Context, obs *Observation, commits []string) (isAny bool, err error) {
	snapshots := earlier{planner: p, read: map[string]sources.Snapshot{}}
	for _, commit := range commits {
		s := snapshots.at(ctx, commit)
		if s == nil {
			plan.Unreadable(&obs.Input, commit)
			continue
		}
		src, err := p.Load(ctx, s, render.With{})
		if err != nil || len(src.Broken) > 0 {
			plan.Unreadable(&obs.Input, commit)
			continue
		}
		if err := plan.ExpandOlder(&obs.Input, commit, src, p.Renderer(ctx, s)); err != nil {
			return false, err
		}
		isAny = true
	}
	return isAny, nil
}

// Renderer renders over the files of a snapshot.
func (p *Planner) Renderer(ctx context.Context, s sources.Snapshot) expand.Render {
	if p.Engine == nil {
		return engine.Unrendered
	}
	return func(jobs []engine.Job) ([]engine.Rendered, error) {
		results, err := p.Engine.Render(ctx, s, jobs)
		if err != nil {
			return nil, fmt.Errorf("rendering releases: %w", err)
		}
		return results, nil
	}
}
