package reconciler

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
)

// Registered lists the clusters that a snapshot of a source registers, in the order of their
// names. One whose file has an error is not among them.
func (r *Reconciler) Registered(ctx context.Context, s sources.Snapshot) ([]*karmada.Cluster, error) {
	src, err := r.load(ctx, s, render.With{})
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	set, _, _ := policies.Load(src.Objects, nil)
	registered := make([]*karmada.Cluster, len(set.Clusters))
	for i := range set.Clusters {
		registered[i] = &set.Clusters[i].Spec
	}
	return registered, nil
}
