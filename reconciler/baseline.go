package reconciler

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/draw"
)

// baseline is what changes are compared with: a version of the source with its plans, each of which is made when it is
// asked for, once. Changes that are compared with one draw from its key.
type baseline struct {
	observed Observation
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

// observe begins a baseline at a revision. The key takes the place of the random key, if there is one.
func observe(ctx context.Context, r *Reconciler, rev string, key draw.Key) (*baseline, error) {
	obs, err := r.Observe(ctx, rev)
	if err != nil {
		return nil, err
	}
	if !obs.Input.Random.Key.IsZero() {
		obs.Input.Random.Key = key
	}
	return &baseline{observed: obs, plans: map[variant]*plan.Plan{}}, nil
}

// as is an observation as a variant of its plan is made from it.
func (v variant) as(obs Observation) Observation {
	if v != asIs {
		obs.Input.Random = obs.Input.Random.Twin()
	}
	if v == disguisedAllowed {
		obs.Input.Allow.Named = guard.AllowAll
	}
	return obs
}

// planned is the plan of the baseline.
func (b *baseline) planned(ctx context.Context, r *Reconciler, v variant) (*plan.Plan, error) {
	if p, ok := b.plans[v]; ok {
		return p, nil
	}
	obs := v.as(b.observed)
	p, err := r.Build(ctx, &obs)
	if err != nil {
		return nil, fmt.Errorf("planning what it is compared with: %w", err)
	}
	b.plans[v] = &p
	return &p, nil
}
