package staged

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// withDivided returns what is recorded of a unit, nil for nothing, with how the replicas of its older versions are divided: by that the
// next plan divides them, for what clusters have may be of several versions.
func withDivided(after *rollouts.Rollout, c *comparison) *rollouts.Rollout {
	if after == nil {
		return nil
	}
	is, source := *after, c.asked.Source
	isSource := func(commit string) bool { // of that bindings say all, also that nothing can be divided now
		s := &is.Status
		return commit == s.Base.Commit && s.Base.Is(source) || commit == s.Target.Commit && s.Target.Is(source)
	}
	is.Divided = nil
	for _, commit := range shownBy(after) {
		if v, known := c.versions[commit]; known && (v == nil || !v.isNow) && !isSource(commit) {
			is.Divided = append(is.Divided, divisions(c, commit, v)...)
		}
	}
	return &is
}

// shownBy are the commits whose versions clusters show, or may get or go back to, by what is recorded; in their order.
func shownBy(r *rollouts.Rollout) []string {
	all := map[string]bool{r.Status.Base.Commit: true, r.Status.Target.Commit: true}
	for _, is := range r.Clusters {
		all[is.Shows] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// divisions are how replicas are divided by the version of a commit, nil if it cannot be read, in the order of objects: as it is decided
// now, unless the binding of the source says the same. Of what cannot be decided now, what was recorded stays: also by a plan that is made
// again, as where there are fewer commits than there were.
func divisions(c *comparison, commit string, v *laid) (all []rollouts.Division) {
	recorded := c.unit.Before
	if c.unit.IsReplay {
		recorded = c.unit.Recorded
	}
	if recorded != nil {
		for _, was := range recorded.Divided {
			if was.Commit == commit && !isDivided(v.decision(was.Object)) {
				all = append(all, was)
			}
		}
	}
	if v == nil {
		return all
	}
	for i := range v.Decisions {
		d := &v.Decisions[i]
		now := schedule.Find(c.in.Decisions, d.Ref())
		if !isDivided(d) || now != nil && state.PlacedAlike(d.Binding, now.Binding) {
			continue
		}
		is := rollouts.Division{Commit: commit, Object: d.Ref(), Clusters: make(map[string]int32, len(d.Scheduled))}
		for _, t := range d.Scheduled {
			is.Clusters[t.Name] = t.Replicas
		}
		all = append(all, is)
	}
	slices.SortFunc(all, func(a, b rollouts.Division) int { return a.Compare(&b) })
	return all
}

// isDivided reports a decision, or nil, by which replicas are divided, and that all of it could be made.
func isDivided(d *schedule.Decision) bool {
	if d == nil || !d.Divided() || d.Shares != nil || d.Outcome != schedule.Placed {
		return false
	}
	of := d.Template.Part
	return of == nil || len(of.Failed) == 0
}
