// Package reconciler observes, plans and acts: it reads a source and what was
// published from it, asks plan.Build what should be, and has it written. It holds
// every effect of the product but the commands' own, and no judgement.
package reconciler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/reconciler/trail"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/seal/unseal"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// Reconciler publishes one source to one repository.
type Reconciler struct {
	Source Repository // nil for one who only applies what is published, as an agent does
	Target Repository // may be Source
	// Told is where agents say what became of branches; nil: where the branches are.
	Told Repository
	// Shared is that agents may write where the branches are. What is said there of clusters whose agents
	// have no key then counts for moving work only if Key signed it.
	Shared bool
	// Key is who signs what is published; nil: nobody does.
	Key     *signing.Public
	Subdir  string // folder of the source to read; empty for all
	Cache   render.Cache
	Engine  render.Engine // nil: what needs one is reported as not rendered
	Version string        // of the running Waybill, for commit trailers
	Allow   string        // removals to allow, as guard.Allowance names them
	// ByComment says that maintainers allow removals by comments on pull requests; see guard.Allowance.
	ByComment bool
	// TakeOver lets branches be written that were published from another source, and
	// Rollback from a commit that comes before the one published last.
	TakeOver, Rollback bool
	// Restored says that what is published was restored from a backup: every cluster is asked what it applied.
	Restored bool
	// Random is what releases draw from. Its source is filled in.
	Random plan.Random
	// Identities returns what decrypts what SOPS encrypted, to apply it; nil: nothing does. It
	// is asked anew whenever a branch has something encrypted.
	Identities func(context.Context) (unseal.Identities, error)
	// Signers are those of whom one has to have signed what is applied; the zero value asks for
	// no signature.
	Signers signing.Signers
	// Now tells the time for which schedules of the source are judged.
	Now func() time.Time
	// Pauses come before a publication that lost a race is planned again.
	Pauses Pauses
	// Accept is asked before a plan is published, which its error prevents. Nil accepts all.
	Accept func(*plan.Plan) error

	seen *memory
}

// memory is what was read of the target last. It saves reading it again, no more: what
// is in it is known by the ids of commits.
type memory struct {
	state    *state.State
	plans    *plan.Memo
	branches map[string]branch    // by the addresses of clusters
	trail    trail.Trail          // of the branch that clusters share
	words    map[string]heardWord // by cluster
	taken    files.ID             // head of the state branch that one without a source went by last
	lasts    lasts
}

// heardWord is what a status branch says at a head.
type heardWord struct {
	head files.ID
	word *status.Word
}

// branch is a head and, for a cluster's address, what is there: the head has its files only.
type branch struct {
	head      git.Head
	published tree.Published
}

// memory returns what the reconciler remembers.
func (r *Reconciler) memory() *memory {
	if r.seen == nil {
		r.seen = &memory{}
	}
	if r.seen.plans == nil {
		r.seen.branches, r.seen.words, r.seen.plans = map[string]branch{}, map[string]heardWord{}, plan.NewMemo()
	}
	return r.seen
}

// Observation is everything a plan is made from, and the heads it is made against.
type Observation struct {
	// Input is the plan's but for what Build finds out: what was last good, and what
	// releases render to.
	Input plan.Input
	Heads publish.Heads
	// Snapshot is what Source was read from.
	Snapshot sources.Snapshot
	Source   render.Source
	// Moved are the clusters that were published elsewhere than the config says now, and Left
	// where another layout of it publishes and nothing goes any more.
	Moved map[string]publish.Moved
	Left  []render.Address
	// Ahead are what was published after the publication that the state names, in the order
	// of dates: where a push is not atomic, a branch may be ahead of the state.
	Ahead []state.Publication
	// Continued says how branches go on whose history was lost, by cluster or by the name of the state branch.
	Continued map[string]ancestry.Continuation
}

// Observe reads the source at rev and what is published from it.
func (r *Reconciler) Observe(ctx context.Context, rev string) (Observation, error) {
	snapshot, err := r.Source.Snapshot(ctx, rev, r.Subdir)
	if err != nil {
		return Observation{}, fmt.Errorf("reading the source: %w", err)
	}
	if isPublished(snapshot) {
		return Observation{}, &publishedError{rev}
	}
	src, err := r.load(ctx, snapshot, render.With{})
	if err != nil {
		return Observation{}, fmt.Errorf("reading the source: %w", err)
	}
	if d, broken := src.BadConfig(); broken {
		return Observation{}, &ConfigError{Diagnostic: d}
	}
	obs := r.observation(snapshot, src, plan.Branch)
	heads, err := r.Target.Heads(ctx)
	if err == nil {
		err = r.published(ctx, &obs, heads)
	}
	if err == nil {
		err = r.histories(ctx, &obs, heads)
	}
	if err != nil {
		return Observation{}, fmt.Errorf("reading what is published: %w", err)
	}
	return obs, nil
}

// Look reads a snapshot of the source, and what is published from it as the target
// knows it, which may be what was fetched of another repository. It is for reports, and
// nothing is to be written from it.
func (r *Reconciler) Look(ctx context.Context, s sources.Snapshot, medium plan.Medium) (Observation, error) {
	src, err := r.load(ctx, s, render.With{})
	if err != nil {
		return Observation{}, fmt.Errorf("reading the source: %w", err)
	}
	obs := r.observation(s, src, medium)
	if r.Target == nil {
		return obs, nil
	}
	heads, err := r.Target.Heads(ctx)
	if err == nil {
		err = r.published(ctx, &obs, heads)
	}
	if _, other := errors.AsType[*otherSourceError](err); other {
		return r.observation(s, src, medium), nil // nothing was published from this one
	}
	if err != nil {
		return Observation{}, fmt.Errorf("reading what is published: %w", err)
	}
	return obs, nil
}

// load reads a snapshot with what the reconciler has to read it with. Schedules are a mistake of
// the config, too: nothing could be applied with them.
func (r *Reconciler) load(ctx context.Context, s sources.Snapshot, with render.With) (render.Source, error) {
	with.Cache, with.Engine = r.Cache, r.Engine
	src, err := render.Load(ctx, s, with)
	if err != nil {
		return src, err //nolint:wrapcheck // it says what
	}
	if _, err := suspend.Parse(src.Config.Apply.SyncWindows); err != nil {
		src.Diags = diag.Sort(append(slices.Clone(src.Diags), diag.Diagnostic{
			Code: diag.BadConfig, Severity: diag.Error, Pos: diag.Pos{File: render.ConfigFile}, Message: err.Error(), Hint: "the options are listed in docs/config.md",
		}))
	}
	return src, nil
}

func (r *Reconciler) observation(s sources.Snapshot, src render.Source, m plan.Medium) Observation {
	random := r.Random
	random.Source = sourceID(s.Revision().Repo, r.Subdir)
	return Observation{Snapshot: s, Source: src, Input: plan.Input{
		Medium: m, Allow: r.allowance(), Random: random, Now: r.Now().UTC().Truncate(time.Second),
		Published: map[string]tree.Published{}, Memo: r.memory().plans,
	}}
}

// allowance is what whoever runs this allows.
func (r *Reconciler) allowance() guard.Allowance {
	return guard.Allowance{Named: r.Allow, ByComment: r.ByComment}
}

// ReadState reads a commit of the state branch. What is as in an earlier state, which may
// be nil, is not read again.
func ReadState(head git.Head, earlier *state.State) (state.State, error) {
	s, err := state.Decode(head.Tree, earlier)
	if err != nil {
		return state.State{}, err //nolint:wrapcheck // the caller says of what
	}
	s.Commit = head.Commit.String()
	if isObservation(head) {
		s.Planned = publish.Trailer(head.Message, publish.TrailerState)
	}
	if s.Published.Commit == "" { // the older form leaves it to the commit
		s.Published = state.Publication{Commit: publish.Trailer(head.Message, publish.TrailerCommit), When: head.When}
	}
	return s, nil
}

// Build plans an observation: it takes what cannot be read from the commits in which it
// was last good, has releases rendered, and asks plan.Build. The error is ours.
func (r *Reconciler) Build(ctx context.Context, obs *Observation) (plan.Plan, error) {
	return r.build(ctx, obs, func(*plan.Input) error { return nil })
}

// build is Build with something done to what is planned, once all of the source is known.
func (r *Reconciler) build(ctx context.Context, obs *Observation, edit func(*plan.Input) error) (plan.Plan, error) {
	allows := func(digest string) bool { return obs.Input.Allow.Allows(obs.Source.Revision, digest) }
	err := r.mend(ctx, obs, allows)
	if err == nil {
		obs.Input.Unlisted, err = r.unlisted(ctx, obs, allows)
	}
	if err != nil {
		return plan.Plan{}, err
	}
	if err := edit(&obs.Input); err != nil {
		return plan.Plan{}, err
	}
	if err := plan.Expand(&obs.Input, r.renderer(ctx, obs.Snapshot)); err != nil {
		return plan.Plan{}, err //nolint:wrapcheck // it is the renderer's
	}
	return plan.Build(obs.Input), nil
}

// renderer renders over the files of a snapshot.
func (r *Reconciler) renderer(ctx context.Context, s sources.Snapshot) expand.Render {
	if r.Engine == nil {
		return engine.Unrendered
	}
	return func(jobs []engine.Job) ([]engine.Rendered, error) {
		results, err := r.Engine.Render(ctx, s, jobs)
		if err != nil {
			return nil, fmt.Errorf("rendering releases: %w", err)
		}
		return results, nil
	}
}

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
			r.seen, forgot = &memory{lasts: r.memory().lasts}, true
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
	res.Heads, err = publish.Do(ctx, r.Target, res.Updates)
	if end(err, traces.Count("branches", len(res.Updates))); err != nil {
		res.Updates = nil
		return res, err //nolint:wrapcheck // it says what
	}
	r.memory().lasts.wrote(res.Updates, res.Heads)
	return res, nil
}

// DryRun does what Publish does, without writing.
func (r *Reconciler) DryRun(ctx context.Context, rev string) (Result, error) {
	return r.prepare(ctx, rev)
}

// prepare plans the source at rev, and says what is to be written.
func (r *Reconciler) prepare(ctx context.Context, rev string) (Result, error) {
	fetching, end := traces.Begin(ctx, "fetch")
	obs, err := r.Observe(fetching, rev)
	if end(err, traces.Commit(obs.Source.Revision.Commit)); err != nil {
		return Result{}, err
	}
	res := Result{awaits: len(r.memory().lasts.asked) > 0}
	planning, end := traces.Begin(ctx, "plan")
	res.Plan, err = r.Build(planning, &obs)
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
		return res, err //nolint:wrapcheck // it says what
	}
	res.Updates, res.Diags = updates, diag.Sort(append(slices.Clone(res.Plan.Diags), diags...))
	if len(updates) > 0 {
		err = r.forward(ctx, res.Plan.Revision, append(obs.Ahead, obs.Input.State.Published))
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
