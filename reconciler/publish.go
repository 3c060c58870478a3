package reconciler

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
)

// Result is what a publication did.
type Result struct {
	Plan    plan.Plan
	Updates []git.Update // the branches that advanced
	Heads   []files.ID   // their new heads
	Diags   []diag.Diagnostic

	awaits bool // clusters are asked what they applied, which their status branches say
}

// Publish plans the source at rev and writes the plan. A lost race is planned
// again from what is published then. So is, from nothing that is remembered, a plan
// that needs what somebody removed from the target.
func (r *Reconciler) Publish(ctx context.Context, rev string) (Result, error) {
	r = remembering(r)
	forgot := false
	for races := 0; ; {
		res, err := r.publishOnce(ctx, rev)
		race, lost := errors.AsType[*git.RaceError](err)
		switch {
		case lost:
			races++
			if err := r.Pauses.afterRace(ctx, races, race); err != nil {
				return res, err
			}
		case errors.Is(err, git.ErrMissing) && !forgot:
			forgot = true
			r.Seen.forget()
		default:
			return res, err
		}
	}
}

func (r *Reconciler) publishOnce(ctx context.Context, rev string) (Result, error) {
	res, err := r.prepare(ctx, rev)
	if err != nil {
		return res, err
	}
	ctx, end := traces.Begin(ctx, "publish")
	pushed := func() {}
	if n := len(res.Updates); n > 0 && r.Pushing != nil {
		pushed = r.Pushing(ctx, n)
	}
	res.Heads, err = publish.Do(ctx, r.Target, res.Updates)
	pushed()
	if end(err, traces.Count("branches", len(res.Updates))); err != nil {
		res.Updates = nil
		return res, err
	}
	r.Seen.history.Wrote(res.Updates, res.Heads)
	return res, nil
}

// DryRun does what Publish does, without writing.
func (r *Reconciler) DryRun(ctx context.Context, rev string) (Result, error) {
	return remembering(r).prepare(ctx, rev)
}

// prepare plans the source at rev, and says what is to be written.
func (r *Reconciler) prepare(ctx context.Context, rev string) (Result, error) {
	fetching, end := traces.Begin(ctx, "fetch")
	obs, err := r.Observe(fetching, rev)
	if end(err, traces.Commit(obs.Source.Revision.Commit)); err != nil {
		return Result{}, err
	}
	res := Result{awaits: r.Seen.history.Awaits()}
	planning, end := traces.Begin(ctx, "plan")
	res.Plan, err = r.Planner().Build(planning, &obs.Observation)
	if end(err, traces.Count("templates", len(res.Plan.Decisions)), traces.Count("clusters", len(res.Plan.Clusters))); err != nil {
		return res, err
	}
	if r.Accept != nil {
		if err := r.Accept(&res.Plan); err != nil {
			return res, err
		}
	}
	updates, diags, err := publish.Changes(&res.Plan, obs.base(), obs.Heads, r.Version)
	if err != nil {
		return res, err
	}
	res.Updates, res.Diags = updates, diag.Sort(append(slices.Clone(res.Plan.Diags), diags...))
	if len(updates) > 0 && !r.Rollback {
		err = forward(ctx, r.Source, res.Plan.Revision, append(obs.Ahead, obs.Input.State.Published))
	}
	return res, err
}

// Arrived is what is published of the clusters that are at the addresses which the config gives them.
func (o *Observation) Arrived() map[string]tree.Published {
	all := maps.Clone(o.Input.Published)
	maps.DeleteFunc(all, func(cluster string, _ tree.Published) bool {
		_, is := o.Moved[cluster]
		return is
	})
	return all
}

// base is what an observation was made over.
func (o *Observation) base() publish.Base {
	base := publish.Base{Published: o.Input.Published, State: &o.Input.State, Moved: o.Moved, Left: o.Left, Continued: o.Continued}
	for _, p := range o.Ahead {
		base.Ahead = append(base.Ahead, p.Commit)
	}
	return base
}
