// Package versions plans two versions of a source beside each other, and says what going from one to the other does to the
// clusters.
package versions

import (
	"context"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/compare"
	"github.com/waybill-dev/waybill/reconciler/preview/whatif"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/sources"
)

// Question is what a preview answers: what going from the source at Base to Head does, with what is
// supposed of Head, within a scope.
type Question struct {
	Base    string // a revision
	Head    sources.Snapshot
	Suppose whatif.Suppositions
	Within  compare.Scope
	// Config is what counts in place of what Head says; nil: that counts.
	Config *render.ConfigSpec
	// Key takes the place of the random key, and both versions draw from it: one that is thrown away, unless
	// whoever has the random key is the only one to read the answer. With the zero value nothing is drawn.
	Key draw.Key
}

// Compare reports what going from the source at base to the snapshot head does to every cluster.
func Compare(ctx context.Context, r *reconciler.Reconciler, base string, head sources.Snapshot) (preview.Comparison, error) {
	return Preview(ctx, r, Question{Base: base, Head: head, Key: r.Random.Key})
}

// Preview answers a question.
func Preview(ctx context.Context, r *reconciler.Reconciler, q Question) (preview.Comparison, error) {
	base, err := Begin(ctx, r, q.Base, q.Key)
	if err != nil {
		return preview.Comparison{}, err
	}
	return (&Against{Base: base, By: *r, Head: *r}).Answer(ctx, q)
}

// Against answers questions about what is compared with a baseline. Both versions are planned from the same previous
// decisions. Where a release reads a Secret, or may draw, both are planned twice, so that what depends on either is told
// and not shown.
type Against struct {
	Base *Baseline
	By   reconciler.Reconciler // which plans the base
	Head reconciler.Reconciler // which plans the head
}

// Answer answers a question.
func (a *Against) Answer(ctx context.Context, q Question) (c preview.Comparison, err error) {
	head := a.Base.Observed
	if head.Source, err = a.Head.Planner().Load(ctx, q.Head, render.With{Config: q.Config}); err != nil {
		return c, fmt.Errorf("reading the source: %w", err)
	}
	head.Snapshot = q.Head
	before, after, err := a.versions(ctx, asIs, head, q.supposed)
	if err != nil {
		return c, err
	}
	var twins compare.Twins
	if before.Expanded.Sensitive || after.Expanded.Sensitive {
		twins.Base, twins.Head, err = a.versions(ctx, disguised, head, q.supposed)
		if err == nil && (!heldAlike(before, twins.Base) || !heldAlike(after, twins.Head)) { // because of names
			twins.Base, twins.Head, err = a.versions(ctx, disguisedAllowed, head, q.supposed)
		}
		if err != nil {
			return c, err
		}
	}
	c, err = compare.Plans(before, after, q.Within, twins)
	c.Supposed = q.Suppose.Say()
	return c, err
}

// versions plans two versions, of which the second one is edited.
func (a *Against) versions(ctx context.Context, v variant, head reconciler.Observation, edit func(*plan.Input) error) (before, after *plan.Plan, err error) {
	if before, err = a.Base.planned(ctx, &a.By, v); err != nil {
		return nil, nil, err
	}
	head = v.as(head)
	is, err := a.Head.Planner().BuildEdited(ctx, &head.Observation, edit)
	return before, &is, err
}

// heldAlike reports two plans that hold the same clusters.
func heldAlike(a, b *plan.Plan) bool {
	return slices.EqualFunc(a.Clusters, b.Clusters, func(a, b plan.Cluster) bool { return (a.Held == nil) == (b.Held == nil) })
}

// supposed edits what is planned.
func (q *Question) supposed(in *plan.Input) (err error) {
	if q.Suppose.None() {
		return nil
	}
	if !q.Suppose.At.IsZero() {
		in.Now = q.Suppose.At.UTC()
	}
	in.Source, err = q.Suppose.Apply(in.Source, in.State.Observed)
	return err
}
