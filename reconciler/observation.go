package reconciler

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/history"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// Observation is everything a plan is made from, and the heads it is made against.
type Observation struct {
	planner.Observation

	Heads publish.Heads
	// Moved are the clusters that were published elsewhere than the config says now, and Left
	// where another layout of it publishes and nothing goes any more.
	Moved map[string]publish.Moved
	Left  []render.Address
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
	r = remembering(r)
	planning := r.Planner()
	src, err := planning.Load(ctx, snapshot, render.With{})
	if err != nil {
		return Observation{}, fmt.Errorf("reading the source: %w", err)
	}
	if d, broken := src.BadConfig(); broken {
		return Observation{}, &render.ConfigError{Diagnostic: d}
	}
	obs := Observation{Observation: planning.Observe(snapshot, src, plan.Branch)}
	registered := registeredBy(src.Objects, obs.Input.Memo.Policies())
	heads, err := r.observe(ctx, &obs, registered)
	if err == nil {
		obs.Input.Staging.Posted, err = posted(ctx, r, heads, &obs)
	}
	if err == nil {
		err = goOn(ctx, r, &obs, heads, registered)
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
	r = remembering(r)
	planning := r.Planner()
	src, err := planning.Load(ctx, s, render.With{})
	if err != nil {
		return Observation{}, fmt.Errorf("reading the source: %w", err)
	}
	nothing := func() Observation { return Observation{Observation: planning.Observe(s, src, medium)} }
	obs := nothing()
	if r.Target == nil {
		return obs, nil
	}
	_, err = r.observe(ctx, &obs, registeredBy(src.Objects, nil))
	obs.Input.Staging.Posted = map[string]*staged.Posted{} // nobody is asked for a report: what is recorded stays
	if _, other := errors.AsType[*published.OtherSourceError](err); other {
		return nothing(), nil // nothing was published from this one
	}
	if err != nil {
		return Observation{}, fmt.Errorf("reading what is published: %w", err)
	}
	return obs, nil
}

// observe reads what is published, what maintainers approved, and what clusters report of what moves. It returns where all
// branches are.
func (r *Reconciler) observe(ctx context.Context, obs *Observation, registered func() []*karmada.Cluster) (map[string]files.ID, error) {
	heads, err := r.Target.Heads(ctx)
	if err != nil {
		return nil, err
	}
	config, in := &obs.Source.Config, &obs.Input
	is, err := r.Published().Content(ctx, heads, published.Asked{Revision: obs.Source.Revision, Publish: &config.Publish, Clusters: registered})
	if err != nil {
		return nil, err
	}
	in.State, in.Published, obs.Heads, obs.Moved, obs.Left, obs.Ahead = is.State, is.Clusters, is.Heads, is.Moved, is.Left, is.Ahead
	in.Staging.Unrecorded = is.Unrecorded
	if err := commanded(ctx, r, heads, obs); err != nil {
		return nil, err
	}
	of := reports.Moves{
		Bindings: in.State.Bindings, Leaving: in.State.Leaving, Failover: config.Failover, Published: in.Published, Addresses: config.Publish.Addresses(),
		Registered: reporting(&obs.Source, &in.State, registered),
	}
	obs.Ask = func(ctx context.Context, moving map[object.Ref][]string) (evict.Evidence, error) {
		return r.Reports().EvidenceOf(ctx, heads, of, moving)
	}
	in.Evidence, err = r.Reports().Evidence(ctx, heads, of)
	if err == nil && plan.Stages(&in.State, &obs.Source) {
		in.Staging.Seen, err = r.Reports().Seen(ctx, heads, of.Registered)
	}
	return heads, err
}

// reporting returns what lists the clusters whose reports count: those that a source registers and, where a part of it cannot
// be used, those that were published and may be registered there. Such a cluster is planned for as it was last good.
func reporting(src *render.Source, published *state.State, registered func() []*karmada.Cluster) func() ([]*karmada.Cluster, error) {
	return func() ([]*karmada.Cluster, error) {
		all := registered()
		if published.Root() == nil || len(src.Broken) == 0 && len(all) == len(registration.Written(src.Objects)) {
			return all, nil
		}
		before, err := state.Clusters(published.Root())
		if err != nil {
			return nil, err
		}
		before = slices.DeleteFunc(before, func(was *karmada.Cluster) bool {
			return slices.ContainsFunc(all, func(c *karmada.Cluster) bool { return c.Name == was.Name })
		})
		return slices.Concat(all, before), nil
	}
}

// goOn finds how branches go on whose history was lost, for one who writes.
func goOn(
	ctx context.Context, r *Reconciler, obs *Observation, heads map[string]files.ID, registered func() []*karmada.Cluster,
) (err error) {
	finder := history.Finder{Target: r.Target, Reports: r.Reports(), Restored: r.Restored, Memory: &r.Seen.history}
	obs.Continued, err = finder.Continue(ctx, history.Branches{
		Heads: heads, Clusters: obs.Heads.Clusters, Addresses: obs.Source.Config.Publish.Addresses(),
		Written: registration.Written(obs.Source.Objects), Registered: registered, Now: r.Now(),
	})
	return err
}

// registeredBy returns what decodes the clusters that objects register when it is asked first, and no more than once: most
// observations do without.
func registeredBy(objects []*object.Object, remembered policies.Cache) func() []*karmada.Cluster {
	var all []*karmada.Cluster
	known := false
	return func() []*karmada.Cluster {
		if !known {
			all, known = registration.Registered(objects, remembered), true
		}
		return all
	}
}
