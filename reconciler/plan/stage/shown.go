package stage

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// Replicas is how many replicas of a divided template a cluster has, by its shares in the base and in
// the target: while a run is open the larger one where the target is shown, so that the total falls below
// neither before all have it, and the old one elsewhere; the new one when every stage is over.
func Replicas(phase rollouts.Phase, choice Choice, old, next int32) int32 {
	switch {
	case phase == rollouts.Finishing || phase == rollouts.Done:
		return next
	case choice == Target:
		return max(old, next)
	}
	return old
}

// taken returns a record in which what other clusters lost runs where it goes, although it is not the turn of
// these: they get the target where their own version cannot be read. It names them.
func taken(v *view, r run) (next run, unsoaked []string) {
	if r.Status.Phase == rollouts.Returning || r.Status.Target.Absent {
		return r, nil
	}
	for n := range v.Clusters {
		c := &v.Clusters[n]
		e := r.clusters[n]
		isLeft := e.State == rollouts.Leaving || e.State == rollouts.Skipped
		if r.known[n] && c.Takes && c.Unwritable == "" && !isLeft && shown(v, &r.Status, r.of(n), c).Choice == Kept {
			r.set(n, released(v, e, r.Status.Target))
			unsoaked = append(unsoaked, c.Name)
		}
	}
	return r, unsoaked
}

// shown is which version a cluster shows, by what is recorded of it; nil for nothing.
func shown(v *view, s *rollouts.Status, e *rollouts.Cluster, c *Cluster) Shown {
	known := e != nil
	if !known {
		e = &rollouts.Cluster{}
	}
	isLeaving := e.State == rollouts.Leaving
	switch isFinishing := s.Phase == rollouts.Finishing; {
	case isMissed(s.Phase, e, c):
		if c.IsBase && v.isReadable(s.Base.Commit, s) { // it has the base, and gets its share of what is divided by that
			return Shown{Cluster: c.Name, Choice: Older, Commit: s.Base.Commit}
		}
	case !known && s.Target.Is(v.Source), isLeaving && isFinishing, !isLeaving && isReleased(e), e.State == rollouts.Unchanged:
		return Shown{Cluster: c.Name, Choice: Target, Commit: s.Target.Commit}
	case !known && s.Target.IsKnown() && !slices.Contains(v.Unreadable, s.Target.Commit): // the source says something that is refused
		return Shown{Cluster: c.Name, Choice: Older, Commit: s.Target.Commit, IsAnew: isBack(s) || c.IsNew && isOutdated(c)}
	case known && !isReleased(e) && v.isReadable(e.Shows, s):
		return Shown{Cluster: c.Name, Choice: Older, Commit: e.Shows, IsAnew: isBack(s) || e.Outdated}
	}
	return Shown{Cluster: c.Name, Choice: Kept}
}

// isMissed reports a cluster that was released, and whose target did not come to its branch before the run stopped: it does not
// while that is so.
func isMissed(p rollouts.Phase, e *rollouts.Cluster, c *Cluster) bool {
	return p == rollouts.Stopped && isReleased(e) && !c.IsTarget && !c.Takes
}
