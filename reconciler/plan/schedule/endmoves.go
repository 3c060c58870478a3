package schedule

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// endMoves ends the tasks whose time has come.
func (d *decider) endMoves() {
	x := d.evictor
	if d.in.Failover != nil {
		d.result.Record = d.in.Failover.Record
	}
	if x == nil {
		return
	}
	for _, m := range d.items {
		if m.Moves == nil || len(m.Moves.Tasks) == 0 || m.Outcome == Kept {
			continue
		}
		if x.frozen {
			m.Moves.wait(state.WaitsForFleet)
			continue
		}
		d.endTasks(m)
	}
	for _, m := range d.items {
		d.leaveWith(m)
	}
	d.sayMoves()
	d.recordFrozen()
	d.result.Record.Pace = x.pace.Full
	if x.moved { // what is known of health then, and who may move next
		d.result.Record.Moved = d.in.Now
		d.recheck(d.in.Now.Add(time.Second))
	}
}

// recordFrozen records that something waits for the fleet, if something does.
func (d *decider) recordFrozen() {
	r, x := &d.result.Record, d.evictor
	r.Frozen, r.DelayedUntil = false, time.Time{}
	isWaiting := func(m *item) bool { return m.Moves != nil && m.Moves.Waits == state.WaitsForFleet }
	switch {
	case !slices.ContainsFunc(d.items, isWaiting):
	case x.delayedUntil.IsZero():
		r.Frozen = true
	default:
		r.DelayedUntil = x.delayedUntil
		d.recheck(x.delayedUntil)
	}
}

// leaveWith notes of what a template pulled along which clusters it leaves.
func (d *decider) leaveWith(m *item) {
	if m.Moves == nil || len(m.Moves.Tasks)+len(m.Moves.Over) == 0 {
		return
	}
	for _, dep := range d.pulledBefore(m.Ref()) {
		if dep.Moves == nil {
			dep.Moves = &Moves{}
		}
		for _, t := range slices.Concat(m.Moves.Tasks, m.Moves.Over) {
			dep.Moves.With = append(dep.Moves.With, t.FromCluster)
		}
	}
}

// endTasks ends tasks of a template.
func (d *decider) endTasks(m *item) {
	var on []evict.Task
	for _, t := range m.Moves.Tasks {
		e := d.ends(m, &t)
		if !e.Next.IsZero() {
			d.recheck(e.Next)
		}
		switch {
		case e.Over:
			m.Moves.Over = append(m.Moves.Over, t)
			d.evictor.moved = true
			continue
		case e.Last:
			m.Moves.Last = append(m.Moves.Last, t.FromCluster)
			m.Moves.wait(state.WaitsForCopy)
		}
		m.Moves.Gap = m.Moves.Gap || e.Gap
		on, d.result.Awaits = append(on, t), true
	}
	m.Moves.Tasks = on
}

// ends says what becomes of a task, or what became of it where that is recorded.
func (d *decider) ends(m *item, t *evict.Task) evict.End {
	if d.in.Failover.Recorded == nil {
		return d.evictor.rules.Ends(t, d.copies(m, t), d.in.Now)
	}
	b := d.in.Failover.Recorded(m.Ref())
	goesOn := b != nil && slices.ContainsFunc(b.Spec.GracefulEvictionTasks, func(o evict.Task) bool {
		return o.FromCluster == t.FromCluster && o.CreationTimestamp.Equal(t.CreationTimestamp)
	})
	return evict.End{Over: !goesOn, Last: goesOn && state.WaitsOf(b) == state.WaitsForCopy, Gap: goesOn && state.WaitsForGone(b)}
}

// copies is what is known of the copies of a template that leaves a cluster.
func (d *decider) copies(m *item, t *evict.Task) evict.Copies {
	seen := d.in.Failover.Evidence[m.Ref()]
	c := evict.Copies{Placed: m.Reason == string(place.Success), Old: evict.Copy{Gone: seen[t.FromCluster].Gone}}
	for _, target := range m.Scheduled {
		s, told := seen[target.Name]
		c.New = append(c.New, evict.Copy{Told: told, Healthy: s.Done && s.Current && d.published(m, target)})
	}
	return c
}

// published reports that a cluster has a template with as many replicas as it should have, by
// the last plan.
func (d *decider) published(m *item, target Target) bool {
	old := d.before(m)
	return old != nil && slices.Contains(old.Spec.Clusters, target) &&
		!slices.ContainsFunc(old.Status.AggregatedStatus, func(s karmada.AggregatedStatusItem) bool { return s.ClusterName == target.Name })
}
