package stage

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// releasedSome returns a record in which as many clusters of a stage are released as may be, in their order.
func releasedSome(v *view, r run, s *rollouts.Stage) run {
	if isClosed(v, s) {
		return r
	}
	all := eligible(v, r, s.Name)
	for _, n := range all[:min(len(all), room(v, r, s))] {
		r.set(n, releasedNow(v, r, n))
	}
	return r
}

// isClosed reports a stage of which no cluster may be released now.
func isClosed(v *view, s *rollouts.Stage) bool { return v.Refused != "" || v.Windows[s.Name].IsClosed }

// room is how many more clusters of a stage may be released.
func room(v *view, r run, s *rollouts.Stage) int {
	n := v.width(s)
	for _, m := range v.members[s.Name] {
		if isAwaited(&r.clusters[m]) {
			n--
		}
	}
	return max(0, n)
}

// isCrowded reports that a cluster of a stage that is over, as one that was silent until then, has to wait until others of it
// are healthy, or failed: then it has its turn.
func isCrowded(v *view, r run) bool {
	return slices.ContainsFunc(v.stages, func(s rollouts.Stage) bool {
		n := slices.IndexFunc(r.Status.Stages, func(st rollouts.StageStatus) bool { return st.Name == s.Name })
		return !r.Status.Stages[n].Skipped && !isClosed(v, &s) && !isFailed(v, r, &s) && room(v, r, &s) == 0 && len(eligible(v, r, s.Name)) > 0
	})
}

// releasedNow is a cluster that is released by this plan: what it said so far is not of the target.
func releasedNow(v *view, r run, n int) rollouts.Cluster {
	c := &v.Clusters[n]
	e := rested(v, released(v, r.clusters[n], r.Status.Target), c)
	e.Evidence = c.Evidence.Ref
	return e
}

// eligible are the clusters of a stage that may be released, in the order in which they are: first those that failed by
// a version that this one replaces, which it cannot break any more; last those that were unhealthy before. One that the
// guard holds waits for that in its turn. When its stage is over nothing of the run waits for it, so that it is to have the
// target like the others before the run ends: what is divided keeps its replicas elsewhere as long as it does not.
func eligible(v *view, r run, stage string) (all []int) {
	isOver := isStageOver(&r.Status, stage)
	for _, n := range v.members[stage] {
		c := &v.Clusters[n]
		if r.clusters[n].State == rollouts.Pending && !c.IsTarget && (isOver || !c.Held) && c.Unwritable == "" {
			all = append(all, n)
		}
	}
	rank := func(n int) int {
		switch e := &r.clusters[n]; {
		case e.FailedBefore:
			return 0
		case e.WasUnhealthy:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b int) int { return rank(a) - rank(b) })
	return all
}

// isStageOver reports a stage of a run that is over, while the run is not.
func isStageOver(s *rollouts.Status, stage string) bool {
	return slices.ContainsFunc(s.Stages, func(st rollouts.StageStatus) bool { return st.Name == stage && st.Phase == rollouts.Done })
}

// unwritable returns a record in which the clusters of a stage failed for which the target cannot be made.
func unwritable(v *view, r run, stage string) run {
	for _, n := range v.members[stage] {
		c := &v.Clusters[n]
		if e := r.clusters[n]; e.State == rollouts.Pending && !c.IsTarget && c.Unwritable != "" {
			r.set(n, failed(v, e, rollouts.NotWritable, c.Unwritable))
		}
	}
	return r
}
