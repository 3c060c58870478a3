// Package failover decides how work leaves clusters that fail, or in which it fails (Karmada
// section A.14): what begins to leave, what waits and for what, and when an old copy may go.
//
// An Evictor looks over the fleet once a plan, and does not change. For each template, in the
// order in which they are placed, Begin takes the moves that are under way and returns those that
// go on from here; what one template uses up of the pace is in the Progress that the next one is
// given. Where a template would go is asked of whoever places it. When all are placed, End says
// which moves are over.
//
// What clusters say of health is Evidence. A plan that is made again has the evidence that the
// plan before it recorded; nothing else here knows of replays.
package failover

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/render/object"
)

// Settings are how work leaves clusters.
type Settings struct {
	Enabled bool // otherwise what is under way ends, and nothing begins
	Rules   evict.Rules
	// Record is that of the last plan.
	Record   Record
	Evidence Evidence
}

// Record is what the next plan has to know, besides bindings.
type Record struct {
	Pace  time.Time // see evict.Pace
	Moved time.Time // when something began or ended last
	// Frozen says that something waited because too few clusters were ready, and DelayedUntil, when
	// they are again, until when it waits nevertheless.
	Frozen       bool
	DelayedUntil time.Time
}

// Input is what moves follow from that is the same for all templates.
type Input struct {
	Settings *Settings // nil if nothing moves
	Fleet    fleet.Fleet
	Marks    fleet.Marks
	Bindings map[object.Ref]*karmada.ResourceBinding // of the last plan
	Now      time.Time
}

// Try says where a template would be placed that was in some clusters, and may not be in others.
type Try func(previous []karmada.TargetCluster, evicting []string) place.Decision

// Progress is what has begun to move so far in a plan.
type Progress struct {
	pace  evict.Pace
	moved bool // something begins to move, or ends
	// Recheck is when the moves may be others.
	Recheck recheck.Recheck
}

// Evictor is what is the same for all templates that leave clusters in a plan. Of nil nothing leaves.
type Evictor struct {
	in      Input
	off     bool              // nothing begins to move
	tainted map[string]taints // clusters with a taint that drives work out
	// frozen reports that nothing moves: unready of the servers are not ready, and threshold
	// percent may be. Virtual clusters of one API server count as one server.
	frozen       bool
	servers      int
	unready      []string
	threshold    int
	delayedUntil time.Time       // enough of them are ready again, and until then nothing moves nevertheless
	admitted     map[string]bool // the tainted clusters that may be left now
	// settled reports that nothing moved at this very time yet: what ends makes room for another
	// cluster from the next second on, so that a plan of the same time is the same.
	settled bool
}

// taints are those of a cluster that drive work out: what files say, and what follows from what was
// observed.
type taints struct{ said, observed []corev1.Taint }

// New looks over the fleet; nil if work does not leave clusters.
func New(in Input) *Evictor {
	s := in.Settings
	if s == nil || !s.Enabled && !isAnyLeaving(in.Bindings) {
		return nil
	}
	e := &Evictor{in: in, off: !s.Enabled, tainted: map[string]taints{}, admitted: map[string]bool{}, settled: in.Now.After(s.Record.Moved)}
	servers, unready := map[string]bool{}, map[string]bool{}
	for _, c := range in.Fleet.Clusters() {
		servers[c.Server()] = true
		if t := taintsOf(c, in.Marks); len(t.said)+len(t.observed) > 0 {
			e.tainted[c.Name] = t
		}
		if c.IsUnready() {
			unready[c.Server()] = true
		}
	}
	e.servers, e.unready = len(servers), slices.Sorted(maps.Keys(unready))
	e.threshold, e.frozen = s.Rules.Limits.Frozen(len(e.unready), e.servers)
	if !e.frozen {
		e.delayedUntil = delay(s.Record, in.Now)
		e.frozen = !e.delayedUntil.IsZero()
	}
	if len(e.tainted) > 0 && !e.frozen {
		queue := evictionQueue(in, e.tainted)
		if !e.settled { // no other cluster is begun to be left
			queue = slices.DeleteFunc(queue, func(q *queued) bool { return q.rank != evicting })
		}
		e.admitted = admitted(in, queue, e.servers)
	}
	return e
}

// Start is the progress of a plan in which nothing has begun to move.
func (e *Evictor) Start() Progress {
	if e == nil {
		return Progress{}
	}
	return Progress{pace: e.in.Settings.Rules.Pace(e.in.Settings.Record.Pace)}
}

// StaysInGroup reports that a template stays in the affinity group that it failed over to.
func (e *Evictor) StaysInGroup() bool { return e != nil && !e.off }

// taintsOf returns the taints of a cluster that drive work out.
func taintsOf(c *fleet.Cluster, marks fleet.Marks) (t taints) {
	for _, taint := range c.Taints {
		switch {
		case taint.Effect != corev1.TaintEffectNoExecute:
		case marks.Observed(c.Name, taint):
			t.observed = append(t.observed, taint)
		default:
			t.said = append(t.said, taint)
		}
	}
	return t
}

// delay returns until when what waited for the fleet waits although enough clusters are ready
// again; zero if it need not.
func delay(last Record, now time.Time) time.Time {
	until := last.DelayedUntil
	if last.Frozen {
		until = now.Add(evict.RecoveryDelay)
	}
	if !until.After(now) {
		return time.Time{}
	}
	return until
}

func isAnyLeaving(bindings map[object.Ref]*karmada.ResourceBinding) bool {
	for _, b := range bindings {
		if len(b.Spec.GracefulEvictionTasks) > 0 {
			return true
		}
	}
	return false
}
