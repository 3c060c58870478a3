package failover

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// queued is a cluster in the eviction queue.
type queued struct {
	cluster string
	rank    rank
	since   time.Time // when something should have left it
}

// rank is what is known of a cluster that is to be left. The lower is left first.
type rank int

const (
	evicting   rank = iota // it is being left
	pending                // something should leave it
	unaffected             // nothing is known to
)

// admitted says which clusters of the queue may be left now: those at its head.
func admitted(in Input, queue []*queued, servers int) map[string]bool {
	left, admitted := map[string]bool{}, map[string]bool{} // servers, clusters
	for _, next := range queue {
		c, _ := in.Fleet.Lookup(next.cluster)
		if left[c.Server()] || len(left) < in.Settings.Rules.Limits.AtOnce(servers) {
			left[c.Server()], admitted[next.cluster] = true, true
		}
	}
	return admitted
}

// evictionQueue returns tainted clusters in the order in which they are left, by the bindings of the
// last plan: what is left already, then what should have been left first. What waits because it
// has nowhere to go, or is the last copy, keeps no other cluster waiting.
func evictionQueue(in Input, tainted map[string]taints) []*queued {
	clusters := map[string]*queued{}
	for name := range tainted {
		clusters[name] = &queued{cluster: name, rank: unaffected}
	}
	for _, b := range in.Bindings {
		if w := state.WaitsOf(b); w == state.WaitsForPlace || w == state.WaitsForCopy {
			continue
		}
		for _, t := range b.Spec.GracefulEvictionTasks {
			if q := clusters[t.FromCluster]; q != nil && (t.SuppressDeletion == nil || !*t.SuppressDeletion) {
				q.rank = evicting
			}
		}
		for _, c := range b.Spec.Clusters {
			if q := clusters[c.Name]; q != nil && b.Spec.Placement != nil {
				q.note(in.Fleet, b, in.Now)
			}
		}
	}
	queue := make([]*queued, 0, len(clusters))
	for _, q := range clusters {
		queue = append(queue, q)
	}
	slices.SortFunc(queue, func(a, b *queued) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.since.Compare(b.since), cmp.Compare(a.cluster, b.cluster))
	})
	return queue
}

// note notes that work of a binding is in the cluster.
func (q *queued) note(f fleet.Fleet, b *karmada.ResourceBinding, now time.Time) {
	c, ok := f.Lookup(q.cluster)
	if !ok {
		return
	}
	leaves := evict.ByTaints(c.Taints, b.Spec.Placement.ClusterTolerations)
	if !leaves.Now(now) {
		return
	}
	if q.rank == unaffected || leaves.At.Before(q.since) {
		q.since = leaves.At
	}
	q.rank = min(q.rank, pending)
}
