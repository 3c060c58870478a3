package reconciler

import (
	"context"
	"fmt"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
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

// Enrolled lists the Clusters of a snapshot of a source as they are written, with the places
// where they stand, and whether or not they have an error.
func (r *Reconciler) Enrolled(ctx context.Context, s sources.Snapshot) ([]*object.Object, error) {
	src, err := r.load(ctx, s, render.With{})
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	var enrolled []*object.Object
	for _, o := range src.Objects {
		if o.Ref().Group == "cluster.karmada.io" && o.Ref().Kind == "Cluster" {
			enrolled = append(enrolled, o)
		}
	}
	return enrolled, nil
}
