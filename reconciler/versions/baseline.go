package versions

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/draw"
)

// Baseline is what changes are compared with: a version of the source with its plans, each of which is made when it is
// asked for, once. Changes that are compared with one draw from its key.
type Baseline struct {
	Observed reconciler.Observation
	plans    map[variant]*plan.Plan
}

// variant is how a version is planned.
type variant int

const (
	asIs variant = iota
	// disguised has other values of Secrets and other draws.
	disguised
	// disguisedAllowed is that in which no removal holds anything.
	disguisedAllowed
)

// Begin begins a baseline at a revision. The key takes the place of the random key, if there is one.
func Begin(ctx context.Context, r *reconciler.Reconciler, rev string, key draw.Key) (*Baseline, error) {
	obs, err := r.Observe(ctx, rev)
	if err != nil {
		return nil, err
	}
	obs.Input.AtTheEnd = true // of both versions: what a change does at last, whatever goes out in stages
	if !obs.Input.Random.Key.IsZero() {
		obs.Input.Random.Key = key
	}
	return &Baseline{Observed: obs, plans: map[variant]*plan.Plan{}}, nil
}

// as is an observation as a variant of its plan is made from it.
func (v variant) as(obs reconciler.Observation) reconciler.Observation {
	if v != asIs {
		obs.Input.Random = obs.Input.Random.Twin()
	}
	if v == disguisedAllowed {
		obs.Input.Allow.Named = guard.AllowAll
	}
	return obs
}

// Plan has the plan of the baseline be made, as it is.
func (b *Baseline) Plan(ctx context.Context, r *reconciler.Reconciler) error {
	_, err := b.planned(ctx, r, asIs)
	return err
}

// planned is the plan of the baseline.
func (b *Baseline) planned(ctx context.Context, r *reconciler.Reconciler, v variant) (*plan.Plan, error) {
	if p, ok := b.plans[v]; ok {
		return p, nil
	}
	obs := v.as(b.Observed)
	p, err := r.Planner().Build(ctx, &obs.Observation)
	if err != nil {
		return nil, fmt.Errorf("planning what it is compared with: %w", err)
	}
	b.plans[v] = &p
	return &p, nil
}
