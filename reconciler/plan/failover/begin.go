package failover

import (
	"slices"
	"strings"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// Item is a template that a policy claims.
type Item struct {
	Ref    object.Ref
	Policy *policies.Propagation
	Before *karmada.ResourceBinding // of the last plan; nil for none
	// IsPart reports that a release renders it: it goes where that goes, whose moves are those of
	// Release.
	IsPart      bool
	Release     *Moves
	IsDelivered bool // clusters get it
	IsDivided   bool // its replicas are shared out
}

// placed are the clusters in which it was placed by the last plan.
func (i *Item) placed() []karmada.TargetCluster {
	if i.Before == nil {
		return nil
	}
	return i.Before.Spec.Clusters
}

// failsOver reports that it leaves clusters in which it fails.
func (i *Item) failsOver() bool {
	f := i.Policy.Spec.Failover
	return f != nil && f.Application != nil
}

// Resume returns the moves of a template that are under way; nil if there are none.
func (e *Evictor) Resume(i *Item, p Progress) (*Moves, Progress) {
	if e == nil || i.Before == nil || len(i.Before.Spec.GracefulEvictionTasks)+len(state.WaitsOf(i.Before)) == 0 {
		return nil, p
	}
	p.Recheck.Timed = true
	m := &Moves{Tasks: slices.Clone(i.Before.Spec.GracefulEvictionTasks)}
	for n := range m.Tasks {
		if t := &m.Tasks[n]; t.PurgeMode == karmada.PurgeModeNever {
			evict.Release(t, i.Policy.Spec.Failover)
		}
	}
	return m, p
}

// Begin begins to move a template from the clusters that drive it out, as far as it may, and has
// somewhere else to go. It takes the moves that are under way, and returns all.
func (e *Evictor) Begin(i *Item, m *Moves, p Progress, try Try) (*Moves, Progress) {
	if e == nil || e.off || len(e.tainted) == 0 && !i.IsPart && !i.failsOver() {
		return m, p // most templates, most of the time
	}
	for _, from := range i.placed() {
		due, again := e.due(i, from.Name, m)
		p.Recheck = p.Recheck.And(again)
		switch {
		case due.Never():
		case !due.Now(e.in.Now):
			p.Recheck = p.Recheck.By(due.At, e.in.Now)
		case e.frozen && !i.IsPart:
			p.Recheck.Timed = true
			m = m.wait(state.WaitsForFleet)
		default:
			p.Recheck.Timed = true
			m, p = e.leave(leaver{i, m, from, due}, p, try)
		}
	}
	return m, p
}

// leaver is a template that is due to leave a cluster.
type leaver struct {
	*Item

	moves *Moves
	from  karmada.TargetCluster
	due   evict.Due
}

// leave moves a template from a cluster, unless it would be nowhere then.
func (e *Evictor) leave(l leaver, p Progress, try Try) (*Moves, Progress) {
	from := evict.From{Cluster: l.from, Before: l.placed()}
	t, why := e.in.Settings.Evidence.Begins(l.Ref, l.due, from, l.Policy.Spec.Failover)
	if why != "" {
		return l.moves.wait(why), p
	}
	next := l.with(t)
	if isAsked := e.in.Settings.Rules.KeepLast || l.due.ForGain(); isAsked && !l.IsPart {
		if placed, gains := e.elsewhere(l.Item, next, try); !placed || l.due.ForGain() && !gains {
			waits := l.moves.wait(state.WaitsForPlace)
			waits.isOnly = waits.isOnly || !placed || l.due.Fails()
			return waits, p
		}
	}
	if why, p = e.stops(l, p); why == "" {
		p.moved = true
		return next, p
	}
	if why == state.WaitsForPace {
		p.Recheck = p.Recheck.By(p.pace.Next(), e.in.Now)
	}
	if !e.settled {
		p.Recheck = p.Recheck.By(e.in.Now.Add(time.Second), e.in.Now)
	}
	return l.moves.wait(why), p
}

// with returns the moves with a task that begins.
func (l *leaver) with(t evict.Task) *Moves {
	var next Moves
	if l.moves != nil {
		next = *l.moves
	}
	if len(next.Begun) == 0 {
		next.Remaining = l.placed()
	}
	next.Remaining = slices.DeleteFunc(slices.Clone(next.Remaining), func(c karmada.TargetCluster) bool { return c.Name == l.from.Name })
	next.Tasks, next.Begun = append(slices.Clone(next.Tasks), t), append(slices.Clone(next.Begun), t)
	return &next
}

// elsewhere reports whether a template with moves has somewhere to be then, and whether it gains a
// copy, or replicas, by that.
func (e *Evictor) elsewhere(i *Item, m *Moves, try Try) (placed, gains bool) {
	avoids, _ := e.Evicting(i, m, m.Remaining)
	d := try(m.Remaining, avoids)
	if d.Reason != place.Success || len(d.Targets) == 0 {
		return false, false
	}
	return true, slices.ContainsFunc(d.Targets, func(c karmada.TargetCluster) bool {
		n := slices.IndexFunc(m.Remaining, func(was karmada.TargetCluster) bool { return was.Name == c.Name })
		return n < 0 || i.IsDivided && c.Replicas > m.Remaining[n].Replicas
	})
}

// stops says why a template that has somewhere to go may not leave a cluster now; empty if it
// may, and begins to. One that began to leave another cluster in this plan is not paced again: it would
// go where it has to leave at once. What a release renders to goes with the release, which is not
// paced: where it goes is asked before the others are known.
func (e *Evictor) stops(l leaver, p Progress) (state.Waits, Progress) {
	switch {
	case l.IsPart:
	case !l.due.Fails() && !e.admitted[l.from.Name]:
		if !e.settled && state.WaitsOf(l.Before) != state.WaitsForCluster {
			return state.WaitsForPace, p // it is asked again when this second is over
		}
		return state.WaitsForCluster, p
	case l.IsDelivered && !l.moves.Begins() && !p.pace.Take(e.in.Now):
		return state.WaitsForPace, p
	}
	return "", p
}

// due is when a template leaves a cluster. What a release renders to goes with the release.
func (e *Evictor) due(i *Item, cluster string, m *Moves) (evict.Due, recheck.Recheck) {
	if i.IsPart {
		if !i.Release.Leaves(cluster) {
			return evict.Due{}, recheck.Recheck{}
		}
		return evict.Along(i.Release.why(cluster)), recheck.Recheck{}
	}
	due, again := e.byTaints(i, cluster)
	if !i.failsOver() || due.Now(e.in.Now) {
		return due, again
	}
	again.Awaits = true
	var under []evict.Task
	if m != nil {
		under = m.Tasks
	}
	fails := e.in.Settings.Evidence.Fails(i.Ref, cluster, i.Policy.Spec.Failover.Application, under)
	if !fails.Never() && (due.Never() || fails.At.Before(due.At)) {
		return fails, again
	}
	return due, again
}

// byTaints is when the taints of a cluster drive a template out. What files say counts first; what
// follows from what was observed may have nowhere to go.
func (e *Evictor) byTaints(i *Item, cluster string) (due evict.Due, again recheck.Recheck) {
	t, tolerations := e.tainted[cluster], i.Policy.Spec.Placement.ClusterTolerations
	said, observed := evict.ByTaints(t.said, tolerations), evict.ByTaints(t.observed, tolerations).Observed()
	if said.Now(e.in.Now) || observed.Never() {
		return said, again
	}
	if said.Never() {
		return observed, again
	}
	again = again.By(said.At, e.in.Now)
	if said.At.Before(observed.At) {
		return said, again
	}
	return observed, again
}

// Evicting lists the clusters in which a template is not to be placed, because it leaves them, or
// would have to at once. Previous are the clusters in which it is, in the order of names.
func (e *Evictor) Evicting(i *Item, m *Moves, previous []karmada.TargetCluster) (names []string, again recheck.Recheck) {
	if e == nil || i.Policy == nil {
		return nil, again
	}
	if m != nil {
		for _, t := range m.Tasks {
			names = append(names, t.FromCluster)
		}
	}
	if e.off {
		return names, again
	}
	for name := range e.tainted {
		_, stays := slices.BinarySearchFunc(previous, name, func(c karmada.TargetCluster, name string) int {
			return strings.Compare(c.Name, name)
		})
		if stays || slices.Contains(names, name) {
			continue
		}
		due, more := e.due(i, name, m)
		if again = again.And(more); due.Now(e.in.Now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, again
}
