package applier

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/render/object"
)

// observed is what the status of a round is told from, besides what was done.
type observed struct {
	branch    string
	source    string // the source commit
	objects   []apply.Object
	health    map[object.Ref]health.Health
	resources map[schema.GroupKind]string // what kinds are called in paths of the API
	reached   bool
}

// look sees how the objects are that a round left. That it cannot be seen is no error of the
// round.
func (a *Applier) look(ctx context.Context, client *clusters.Client, res *Result) {
	res.reached = true
	if !a.Looks || a.DryRun || res.Err != nil {
		return
	}
	refs := make([]object.Ref, 0, len(res.objects))
	for i := range res.objects {
		refs = append(refs, res.objects[i].Ref)
	}
	for r := range res.Report.Inventory.Entries {
		refs = append(refs, r)
	}
	resources := map[schema.GroupKind]string{}
	for _, r := range refs {
		k := schema.GroupKind{Group: r.Group, Kind: r.Kind}
		if _, ok := resources[k]; !ok {
			resources[k] = client.Resource(k)
		}
	}
	res.resources = resources
	looking, end := traces.Begin(ctx, "health")
	seen, err := client.Health(looking, refs)
	if end(err, traces.Count("objects", len(refs))); err != nil {
		return
	}
	res.health = seen
	if a.Saw != nil {
		cluster, entries := res.Cluster, res.Report.Inventory.Entries
		client.Saw = func(r object.Ref, h health.Health) {
			if _, ours := entries[r]; ours {
				a.Saw(cluster, r, h)
			}
		}
	}
}

// Round is what a status says of a round; nil if there was none, and nothing is to be said of that.
func (a *Result) Round() *status.Round {
	if !a.reached && a.Err == nil && a.Suspension.Why == "" {
		return nil
	}
	r := &status.Round{
		Branch: a.branch, Commit: a.Commit, Source: a.source, Objects: a.objects, Report: a.Report, Health: a.health, Resources: a.resources, Expires: a.recorded(),
	}
	if refused, ok := errors.AsType[*ancestry.RefusedError](a.Err); ok && refused.State {
		r.RefusedState = refused.Applied
	} else if ok {
		r.Refused = refused.Applied
	}
	switch {
	case a.Suspension.Why != "":
		r.Trouble = status.Verdict{Reason: status.Suspended, Message: a.Suspension.Why}
	case a.Err == nil:
	case errors.Is(a.Err, clusters.ErrNoCredential):
		r.Trouble = status.Verdict{Reason: status.NoCredential, Message: a.Err.Error()}
	case !a.reached:
		r.Trouble = status.Verdict{Reason: status.Unreachable, Message: a.Err.Error()}
	default:
		r.Trouble = status.Verdict{Reason: status.Errored, Message: a.Err.Error()}
	}
	return r
}

// Rounds are what statuses say of rounds, by cluster.
func Rounds(results []Result) map[string]*status.Round {
	rounds := map[string]*status.Round{}
	for i := range results {
		if round := results[i].Round(); round != nil {
			rounds[results[i].Cluster] = round
		}
	}
	return rounds
}
