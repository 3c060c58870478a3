package reconciler

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/compare"
	"github.com/waybill-dev/waybill/reconciler/preview/suppose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
)

// Question is what a preview answers: what going from the source at Base to Head does, with what is
// supposed of Head, within a scope.
type Question struct {
	Base    string // a revision
	Head    sources.Snapshot
	Suppose suppose.Suppositions
	Within  compare.Scope
	// Config is what counts in place of what Head says; nil: that counts.
	Config *render.ConfigSpec
}

// Compare reports what going from the source at base to the snapshot head does to every cluster.
func (r *Reconciler) Compare(ctx context.Context, base string, head sources.Snapshot) (preview.Comparison, error) {
	return r.Preview(ctx, Question{Base: base, Head: head})
}

// Preview answers a question. Both versions are planned from the same previous decisions.
func (r *Reconciler) Preview(ctx context.Context, q Question) (preview.Comparison, error) {
	obs, err := r.Observe(ctx, q.Base)
	if err != nil {
		return preview.Comparison{}, err
	}
	before, err := r.Build(ctx, &obs)
	if err != nil {
		return preview.Comparison{}, err
	}
	if obs.Source, err = r.load(ctx, q.Head, render.With{Config: q.Config}); err != nil {
		return preview.Comparison{}, fmt.Errorf("reading the source: %w", err)
	}
	obs.Snapshot = q.Head
	after, err := r.build(ctx, &obs, q.supposed)
	if err != nil {
		return preview.Comparison{}, err
	}
	c, err := compare.Plans(&before, &after, q.Within)
	c.Supposed = q.Suppose.Say()
	return c, err //nolint:wrapcheck // it says what
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
	return err //nolint:wrapcheck // it names the cluster
}
