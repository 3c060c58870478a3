package applier

import (
	"context"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render/object"
)

// Orphans lists what was applied to a cluster from this source, and is neither on its branch
// nor in the inventory: what a lost inventory left, which nobody deletes. What could not be
// listed is in the error, beside what was found.
func (a *Applier) Orphans(ctx context.Context, in *published.Desired, cluster *karmada.Cluster) ([]object.Ref, error) {
	client, err := a.open(ctx, in, cluster)
	if err == nil {
		err = client.Reachable(ctx)
	}
	if err != nil {
		return nil, err
	}
	d, err := a.Published.Artifact(ctx, in, cluster.Name)
	if err != nil {
		return nil, err
	}
	stored, err := client.Inventory(ctx, d.Owner)
	if err != nil {
		return nil, err
	}
	known := map[object.Ref]bool{}
	for r := range stored.Inventory.Entries {
		known[r] = true
	}
	for i := range d.Objects {
		known[d.Objects[i].Ref] = true
	}
	owned, err := client.Owned(ctx, d.Owner)
	return slices.DeleteFunc(owned, func(r object.Ref) bool { return known[r] }), err
}
