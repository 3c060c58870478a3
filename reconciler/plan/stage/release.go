package stage

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// releasedSome returns a record in which as many clusters of a stage are released as may be, in their order.
func releasedSome(v *view, r run, s *rollouts.Stage) run {
	if v.Refused != "" || v.Windows[s.Name].IsClosed {
		return r
	}
	room := v.width(s)
	for _, n := range v.members[s.Name] {
		if isAwaited(&r.clusters[n]) {
			room--
		}
	}
	for _, n := range eligible(v, r, s.Name) {
		if room <= 0 {
			break
		}
		r.set(n, releasedNow(v, r, n))
		room--
	}
	return r
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
