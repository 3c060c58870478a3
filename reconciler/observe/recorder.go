package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/git"
)

// What is observed of clusters is first a commit of the state branch, and only then what plans
// are made from: a commit of a cluster's branch names the commit of the state that it was planned
// on, and so what was known of the clusters.

// Recorder writes to the state branch.
type Recorder struct {
	Target  published.Repository
	Version string // of the running Waybill
	Now     func() time.Time
}

// Record writes what was observed of clusters to the state branch, where next says that it is
// not what is recorded. Next is given what is recorded, by cluster, and the registered clusters;
// it returns what to record instead, and what to say of it. Record returns what is recorded then.
func (r Recorder) Record(ctx context.Context, next Next) (map[string]*karmada.ClusterStatus, error) {
	if err := r.Target.Fetch(ctx, state.Branch); err != nil {
		return nil, err
	}
	head, ok, err := r.Target.Branch(ctx, state.Branch)
	if err != nil || !ok {
		return nil, err
	}
	registered, err := state.Clusters(head.Tree)
	if err != nil {
		return nil, err
	}
	recorded := state.Observed(head.Tree)
	changed, why := next(recorded, registered)
	if len(changed) == 0 {
		return recorded, nil
	}
	root, err := state.Observe(head.Tree, changed)
	if err != nil {
		return nil, err
	}
	o := publish.Observation{Head: head, Clusters: slices.Sorted(maps.Keys(changed)), Why: why, Version: r.Version, At: r.Now()}
	if _, err := r.Target.Publish(ctx, []git.Update{o.Update(root)}); err != nil {
		return nil, fmt.Errorf("recording what was observed of clusters: %w", err)
	}
	maps.Copy(recorded, changed)
	return recorded, nil
}
