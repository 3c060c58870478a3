package facts

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/explain"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// planKept is how long a plan is kept after somebody asked it. It holds all that clusters have.
const planKept = 5 * time.Minute

// why remembers the plan that was asked last.
type why struct {
	mu   sync.Mutex
	key  string // of what it was made from
	plan *plan.Plan
	drop *time.Timer
}

// Explain tells why a template goes where it goes, as waybill explain does; false if the source has no
// such template now. It plans, once for each version of what is published, and one after the other.
func (r *Reader) Explain(ctx context.Context, f *Facts, ref object.Ref) (e explain.Explanation, ok bool, err error) {
	w := &r.why
	w.mu.Lock()
	defer w.mu.Unlock()
	s, err := r.Reconciler.Source.Snapshot(ctx, r.Rev, r.Reconciler.Subdir)
	if err != nil {
		return e, false, fmt.Errorf("reading the source: %w", err)
	}
	if key := s.Revision().Commit + f.Fleet.State.Commit.String(); w.plan == nil || w.key != key {
		p, err := r.plan(ctx, s)
		if err != nil {
			return e, false, err
		}
		w.key, w.plan = key, &p
	}
	if w.drop != nil {
		w.drop.Stop()
	}
	w.drop = time.AfterFunc(planKept, w.forget)
	e, ok = explain.Template(w.plan, ref)
	return e, ok, nil
}

func (w *why) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plan = nil
}

// plan plans a snapshot of the source.
func (r *Reader) plan(ctx context.Context, s sources.Snapshot) (plan.Plan, error) {
	planner := *r.Reconciler
	planner.Seen = reconciler.NewCache() // several may read meanwhile
	obs, err := planner.Look(ctx, s, plan.Branch)
	if err != nil {
		return plan.Plan{}, err
	}
	return planner.Planner().Build(ctx, &obs.Observation)
}
