package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/reconciler/observation"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// recorder keeps the branches that say what is observed of clusters. It begins from what they
// say, so that an agent which starts anew writes nothing that is written.
type recorder struct {
	repo     published.Repository
	clusters []string
	now      func() time.Time
	may      func(context.Context) error // returns an error if it may not write
	key      *signing.Public             // of this agent; what it did not sign is written over; nil: all counts
	serving  atomic.Pointer[[]*karmada.Cluster]
	last     map[string]uint64 // sequence numbers, by cluster
}

// set says as what the clusters are registered.
func (r *recorder) set(all []*karmada.Cluster) { r.serving.Store(&all) }

// page is a branch as it is.
type page struct {
	branch string
	past   status.Past
	root   *files.Folder
}

// record is a observe.Record.
func (r *recorder) record(ctx context.Context, next observe.Next) (map[string]*karmada.ClusterStatus, error) {
	pages, recorded, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	changed, why := next(recorded, *r.serving.Load())
	if len(changed) == 0 {
		return recorded, nil
	}
	var updates []git.Update
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		p := pages[name]
		root, err := state.Observe(p.root, map[string]*karmada.ClusterStatus{name: changed[name]})
		if err != nil {
			return nil, fmt.Errorf("telling what is observed: %w", err)
		}
		r.last[name] = heartbeat.Next(r.last[name], r.now())
		update := p.past.Then(p.branch, "observed: "+said(why, name), root, r.now())
		update.Message += fmt.Sprintf("%s: %d\n", observation.TrailerSequence, r.last[name])
		updates = append(updates, update)
	}
	if err = r.may(ctx); err == nil {
		_, err = r.repo.Publish(ctx, updates)
	}
	if err != nil {
		return nil, fmt.Errorf("telling what is observed: %w", err)
	}
	maps.Copy(recorded, changed)
	return recorded, nil
}

// said is what the words for several clusters, a line each, say of one.
func said(why, cluster string) string {
	for line := range strings.Lines(why) {
		if strings.HasPrefix(line, cluster+": ") {
			return strings.TrimSuffix(line, "\n")
		}
	}
	return why
}

// read reads the branches.
func (r *recorder) read(ctx context.Context) (pages map[string]page, recorded map[string]*karmada.ClusterStatus, err error) {
	heads, err := r.repo.Heads(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("looking for what is observed: %w", err)
	}
	pages, recorded = map[string]page{}, map[string]*karmada.ClusterStatus{}
	var there []string
	for _, name := range r.clusters {
		p := page{branch: observation.Prefix + name, root: files.NewFolder(nil)}
		if p.past.Head = heads[p.branch]; !p.past.Head.IsZero() {
			there = append(there, p.branch)
		}
		pages[name] = p
	}
	if err := r.repo.Fetch(ctx, there...); err != nil {
		return nil, nil, err
	}
	for name, p := range pages {
		if p.past.Head.IsZero() {
			continue
		}
		head, ok, err := r.own(ctx, name, p.past.Head)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue // it is written over
		}
		p.past, p.root = status.PastOf(head), head.Tree
		pages[name], recorded[name] = p, state.Observed(head.Tree)[name]
	}
	return pages, recorded, nil
}

// own reads a commit of a cluster's branch; false if it is not the last one that this agent, or the one before it, wrote
// there: another key signed it, it cannot be read, or the branch was set back.
func (r *recorder) own(ctx context.Context, cluster string, id files.ID) (git.Head, bool, error) {
	head, err := published.SignedBy(ctx, r.repo, id, r.key)
	if err != nil {
		return head, false, ctx.Err()
	}
	sequence, err := observation.SequenceOf(head.Message)
	if err != nil || sequence < r.last[cluster] {
		return head, false, nil
	}
	if heartbeat.GoesOn(sequence, r.now()) {
		r.last[cluster] = sequence
	}
	return head, true, nil
}

// mayTell returns an error if another agent tells of the clusters: what one that lost the Lease sees
// of an API server, which another one reaches, is worth nothing.
func (a *Agent) mayTell(ctx context.Context) error {
	if a.Heart == nil || a.leadership.Holds() {
		return nil
	}
	return a.alone(ctx)
}
