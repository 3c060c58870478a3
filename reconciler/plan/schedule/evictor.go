package schedule

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// evictor is what is the same for all templates that leave clusters in a plan.
type evictor struct {
	off     bool // nothing begins to move
	rules   evict.Rules
	pace    evict.Pace
	tainted map[string]taints // clusters with a taint that drives work out
	// frozen reports that nothing moves: unready of the servers are not ready, and threshold
	// percent may be.
	frozen       bool
	servers      int // virtual clusters of one API server count as one: they come and go together
	unready      []string
	threshold    int
	delayedUntil time.Time       // enough of them are ready again, and until then nothing moves nevertheless
	admitted     map[string]bool // the tainted clusters that may be left now
	moved        bool            // something begins to move, or ends
	// settled reports that nothing moved at this very time yet: what ends makes room for another
	// cluster from the next second on, so that a plan of the same time is the same.
	settled bool
}

// taints are those of a cluster that drive work out: what files say, and what follows from what was
// observed.
type taints struct{ said, observed []corev1.Taint }

// tainted returns the taints of a cluster that drive work out; false for none.
func (d *decider) tainted(c *fleet.Cluster) (t taints, is bool) {
	for _, taint := range c.Taints {
		switch {
		case taint.Effect != corev1.TaintEffectNoExecute:
		case d.in.Policies.Marks.Observed(c.Name, taint):
			t.observed = append(t.observed, taint)
		default:
			t.said = append(t.said, taint)
		}
	}
	return t, len(t.said)+len(t.observed) > 0
}

// newExodus looks over the fleet; nil if work does not leave clusters.
func (d *decider) newEvictor() *evictor {
	f := d.in.Failover
	if f == nil || !f.Enabled && !isAnyLeaving(d.in.State.Bindings) {
		return nil
	}
	x := &evictor{off: !f.Enabled, rules: f.Rules, pace: f.Rules.Pace(f.Record.Pace), tainted: map[string]taints{}, admitted: map[string]bool{}}
	servers, unready := map[string]bool{}, map[string]bool{}
	for _, c := range d.in.Policies.Fleet.Clusters() {
		servers[serverOf(c)] = true
		if t, is := d.tainted(c); is {
			x.tainted[c.Name] = t
		}
		if isUnready(c) {
			unready[serverOf(c)] = true
		}
	}
	x.servers, x.unready = len(servers), slices.Sorted(maps.Keys(unready))
	x.settled = d.in.Now.After(f.Record.Moved)
	x.threshold, x.frozen = f.Rules.Limits.Frozen(len(x.unready), x.servers)
	if !x.frozen {
		x.delay(f.Record, d.in.Now)
	}
	if len(x.tainted) > 0 && !x.frozen {
		d.admit(x)
	}
	return x
}

// admit says which of the tainted clusters may be left now.
func (d *decider) admit(x *evictor) {
	left := map[string]bool{} // servers
	for _, next := range d.evictionQueue(x.tainted) {
		c, _ := d.in.Policies.Fleet.Lookup(next.cluster)
		if server := serverOf(c); (left[server] || len(left) < d.in.Failover.Rules.Limits.AtOnce(x.servers)) && (next.rank == evicting || x.settled) {
			left[server], x.admitted[next.cluster] = true, true
		}
	}
}

// serverOf returns the name of the cluster whose API server a cluster has: its own, if it is not
// virtual.
func serverOf(c *fleet.Cluster) string {
	return cmp.Or(c.Source.Annotations[karmada.VirtualOfAnnotation], c.Name)
}

// delay has what waited for the fleet wait for a while longer.
func (x *evictor) delay(last Record, now time.Time) {
	if x.delayedUntil = last.DelayedUntil; last.Frozen {
		x.delayedUntil = now.Add(evict.RecoveryDelay)
	}
	if x.frozen = x.delayedUntil.After(now); !x.frozen {
		x.delayedUntil = time.Time{}
	}
}

func isAnyLeaving(bindings map[object.Ref]*karmada.ResourceBinding) bool {
	for _, b := range bindings {
		if len(b.Spec.GracefulEvictionTasks) > 0 {
			return true
		}
	}
	return false
}

func isUnready(c *fleet.Cluster) bool {
	ready := meta.FindStatusCondition(c.Source.Status.Conditions, karmada.ConditionReady)
	return ready != nil && ready.Status != metav1.ConditionTrue
}

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

// inLine returns tainted clusters in the order in which they are left, by the bindings of the
// last plan: what is left already, then what should have been left first. What waits because it
// has nowhere to go, or is the last copy, keeps no other cluster waiting.
func (d *decider) evictionQueue(tainted map[string]taints) []*queued {
	clusters := map[string]*queued{}
	for name := range tainted {
		clusters[name] = &queued{cluster: name, rank: unaffected}
	}
	for _, b := range d.in.State.Bindings {
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
				q.note(d.in.Policies.Fleet, b, d.in.Now)
			}
		}
	}
	queue := make([]*queued, 0, len(clusters))
	for _, t := range clusters {
		queue = append(queue, t)
	}
	slices.SortFunc(queue, func(a, b *queued) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), a.since.Compare(b.since), cmp.Compare(a.cluster, b.cluster))
	})
	return queue
}

// note notes that work of a binding is in the cluster.
func (t *queued) note(f fleet.Fleet, b *karmada.ResourceBinding, now time.Time) {
	c, ok := f.Lookup(t.cluster)
	if !ok {
		return
	}
	leaves := evict.ByTaints(c.Taints, b.Spec.Placement.ClusterTolerations)
	if !leaves.Now(now) {
		return
	}
	if t.rank == unaffected || leaves.At.Before(t.since) {
		t.since = leaves.At
	}
	t.rank = min(t.rank, pending)
}

// stops says why a template that has somewhere to go may not leave a cluster now; empty if it
// may, and begins to. One that began to leave another cluster in this plan is not paced again: it would
// go where it has to leave at once. What a release renders to goes with the release, which is not
// paced: where it goes is asked before the others are known.
func (d *decider) stops(m *item, cluster string, due evict.Due, begun bool) state.Waits {
	x := d.evictor
	switch {
	case m.Template.Part != nil:
	case !due.Fails() && !x.admitted[cluster]:
		if old := d.before(m); !x.settled && (old == nil || state.WaitsOf(old) != state.WaitsForCluster) {
			return state.WaitsForPace // it is asked for its turn when this second is over
		}
		return state.WaitsForCluster
	case m.Template.IsDelivered() && !begun && !x.pace.Take(d.in.Now):
		return state.WaitsForPace
	}
	return ""
}

// onward reports that a template stays in the affinity group that it failed over to.
func (d *decider) onward() bool { return d.evictor != nil && !d.evictor.off }
