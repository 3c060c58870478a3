package schedule

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// leaves reports that a template leaves a cluster that it did not leave before.
func (m *item) leaves() bool { return m.Moves != nil && m.Moves.begun }

// resume goes on with the moves of a template that are under way.
func (d *decider) resume(m *item) {
	if old := d.before(m); d.evictor != nil && old != nil && len(old.Spec.GracefulEvictionTasks)+len(state.WaitsOf(old)) > 0 {
		m.Moves = &Moves{Tasks: slices.Clone(old.Spec.GracefulEvictionTasks)}
		d.result.Timed = true
		for i := range m.Moves.Tasks {
			if t := &m.Moves.Tasks[i]; t.PurgeMode == karmada.PurgeModeNever {
				evict.Release(t, m.Policy.Spec.Failover)
			}
		}
	}
}

// leave begins to move a template from the clusters that drive it out, as far as it may, and
// has somewhere else to go.
func (d *decider) leave(m *item, s *place.Scheduler) {
	x := d.evictor
	if x == nil || x.off || len(x.tainted) == 0 && m.Template.Part == nil && !failsOver(m) {
		return // most templates, most of the time
	}
	for _, c := range d.placedBefore(m) {
		due := d.due(m, c.Name)
		if !due.Now(d.in.Now) {
			if !due.Never() {
				d.recheck(due.At)
			}
			continue
		}
		d.result.Timed = true
		if m.Moves == nil {
			m.Moves = &Moves{}
		}
		if x.frozen && m.Template.Part == nil {
			m.Moves.wait(state.WaitsForFleet)
			continue
		}
		d.tryToLeave(m, s, c, due)
	}
}

// tryToLeave moves a template from a cluster, unless it would be nowhere then.
func (d *decider) tryToLeave(m *item, s *place.Scheduler, from Target, due evict.Due) {
	t, why := d.task(m, from, due)
	if why != "" {
		m.Moves.wait(why)
		return
	}
	was := *m.Moves
	if !m.Moves.begun {
		m.Moves.remaining = d.placedBefore(m)
	}
	m.Moves.begun = true
	m.Moves.remaining = slices.DeleteFunc(slices.Clone(m.Moves.remaining), func(c Target) bool { return c.Name == from.Name })
	m.Moves.Tasks, m.Moves.Begun = append(slices.Clone(was.Tasks), t), append(slices.Clone(was.Begun), t)
	follows := m.Template.Part != nil
	if (d.evictor.rules.KeepLast || due.ForGain()) && !follows {
		if placed, gains := d.elsewhere(m, s); !placed || due.ForGain() && !gains {
			*m.Moves = was
			m.Moves.wait(state.WaitsForPlace)
			m.Moves.only = m.Moves.only || !placed || due.Fails()
			return
		}
	}
	if why := d.stops(m, from.Name, due, was.begun); why != "" {
		*m.Moves = was
		m.Moves.wait(why)
		if why == state.WaitsForPace {
			d.recheck(d.evictor.pace.Next())
		}
		if !d.evictor.settled {
			d.recheck(d.in.Now.Add(time.Second))
		}
		return
	}
	d.evictor.moved = true
}

// task is the task of what begins to leave a cluster, which is the one that is recorded where a
// plan is made again. What is to be preserved of its status has to be known.
func (d *decider) task(m *item, from Target, due evict.Due) (evict.Task, state.Waits) {
	seen, b := d.in.Failover.Evidence[m.Ref()][from.Name], m.Policy.Spec.Failover
	t := due.Task(evict.From{Cluster: from, Before: d.placedBefore(m), Seen: seen}, b, d.in.Now)
	if d.in.Failover.Recorded == nil {
		if due.Preserves(b) != nil && t.PreservedLabelState == nil {
			return t, state.WaitsForStatus
		}
		return t, ""
	}
	recorded := d.in.Failover.Recorded(m.Ref())
	if recorded == nil {
		return t, ""
	}
	for _, r := range recorded.Spec.GracefulEvictionTasks {
		if r.FromCluster == t.FromCluster && r.CreationTimestamp.Equal(t.CreationTimestamp) {
			return r, ""
		}
	}
	if why := state.WaitsOf(recorded); why == state.WaitsForStatus || due.Fails() {
		return t, why
	}
	return t, ""
}

// elsewhere reports whether a template that begins to leave a cluster has somewhere to be then, and
// whether it gains a copy, or replicas, by that.
func (d *decider) elsewhere(m *item, s *place.Scheduler) (placed, gains bool) {
	p := d.answers.Schedule(s, d.request(m))
	if p.Reason != place.Success || len(p.Targets) == 0 {
		return false, false
	}
	return true, slices.ContainsFunc(p.Targets, func(c Target) bool {
		i := slices.IndexFunc(m.Moves.remaining, func(was Target) bool { return was.Name == c.Name })
		return i < 0 || m.Divided() && c.Replicas > m.Moves.remaining[i].Replicas
	})
}

// wait notes why a template does not leave a cluster; what was noted first counts.
func (m *Moves) wait(why state.Waits) {
	if m.Waits == "" {
		m.Waits = why
	}
}

// due is when a template leaves a cluster. What a release renders to goes with the release.
func (d *decider) due(m *item, cluster string) evict.Due {
	if m.Template.Part != nil {
		release := d.byRef[m.Template.Part.Release.Ref()]
		if release == nil || !release.Moves.Leaves(cluster) {
			return evict.Due{}
		}
		return evict.Due{Why: release.Moves.why(cluster)}
	}
	due := d.byTaints(m, cluster)
	if failsOver(m) && !due.Now(d.in.Now) {
		d.result.Awaits = true
		if fails := d.failing(m, cluster); !fails.Never() && (due.Never() || fails.At.Before(due.At)) {
			return fails
		}
	}
	return due
}

// byTaints is when the taints of a cluster drive a template out. What files say counts first; what
// follows from what was observed may have nowhere to go.
func (d *decider) byTaints(m *item, cluster string) evict.Due {
	t, tolerations := d.evictor.tainted[cluster], m.Policy.Spec.Placement.ClusterTolerations
	said, observed := evict.ByTaints(t.said, tolerations), evict.ByTaints(t.observed, tolerations).Observed()
	if said.Now(d.in.Now) || observed.Never() {
		return said
	}
	if !said.Never() {
		d.recheck(said.At)
	}
	if !said.Never() && said.At.Before(observed.At) {
		return said
	}
	return observed
}

// failsOver reports that a template leaves clusters in which it fails.
func failsOver(m *item) bool {
	f := m.Policy.Spec.Failover
	return f != nil && f.Application != nil
}

// failing is when a template leaves a cluster because it fails there. What a plan that is made
// again decided is recorded.
func (d *decider) failing(m *item, cluster string) evict.Due {
	var tasks []evict.Task
	if m.Moves != nil {
		tasks = m.Moves.Tasks
	}
	a := m.Policy.Spec.Failover.Application
	if d.in.Failover.Recorded == nil {
		return evict.ByHealth(d.in.Failover.Evidence[m.Ref()][cluster], a, tasks)
	}
	failing := evict.ByHealth(evict.Seen{Health: karmada.ResourceUnhealthy}, a, tasks)
	b := d.in.Failover.Recorded(m.Ref())
	switch {
	case b == nil:
		return evict.Due{}
	case slices.ContainsFunc(b.Spec.GracefulEvictionTasks, func(t evict.Task) bool {
		return t.FromCluster == cluster && t.Producer == evict.ApplicationFailover && t.CreationTimestamp.Time.Equal(d.in.Now)
	}):
		return failing
	}
	if why := state.WaitsOf(b); why == state.WaitsForFleet || why == state.WaitsForPlace || why == state.WaitsForStatus {
		return failing
	}
	return evict.Due{}
}

// evicting lists the clusters that a template is not to be placed in, because it leaves them,
// or would have to at once.
func (d *decider) evicting(m *item) (names []string) {
	if d.evictor == nil || m.Policy == nil {
		return nil
	}
	if m.Moves != nil {
		for _, t := range m.Moves.Tasks {
			names = append(names, t.FromCluster)
		}
	}
	if d.evictor.off {
		return names
	}
	for name := range d.evictor.tainted {
		_, stays := slices.BinarySearchFunc(d.previous(m), name, func(c Target, name string) int { return cmp.Compare(c.Name, name) })
		if !stays && !slices.Contains(names, name) && d.due(m, name).Now(d.in.Now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// recheck notes when a decision may be another one for time alone.
func (d *decider) recheck(at time.Time) {
	d.result.Timed = true
	if at = ceil(at); at.After(d.in.Now) && (d.result.RecheckAt.IsZero() || at.Before(d.result.RecheckAt)) {
		d.result.RecheckAt = at
	}
}

// ceil rounds up to seconds, in which the time of plans is.
func ceil(at time.Time) time.Time {
	if cut := at.Truncate(time.Second); cut.Before(at) {
		return cut.Add(time.Second)
	}
	return at
}
