package stage

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// cause is why a run stops or goes back, as a code and for people.
type cause struct {
	code rollouts.Reason
	text string
}

// stopped returns a record of a run in which nothing more is released.
func stopped(r run, why cause) run {
	r.Status.Phase, r.Status.Reason, r.Status.Message = rollouts.Stopped, why.code, why.text
	return r
}

// canGoBack reports a run whose base can be published again.
func canGoBack(v *view, s rollouts.Status) bool {
	return s.Base.IsKnown() && v.isReadable(s.Base.Commit, &s)
}

// goBack returns a record in which every cluster shows the base.
func goBack(v *view, r run, why cause) run {
	for n := range r.clusters {
		if r.known[n] {
			r.set(n, withdrawn(v, &r.clusters[n], r.Status.Base.Commit))
		}
	}
	r.Status.Phase, r.Status.Reason, r.Status.Message = rollouts.Returning, why.code, why.text
	return r
}

// wentBack returns a record of a run that goes back if a plan had it do so that recorded nothing: clusters that were released have
// the base.
func wentBack(v *view, r run) run {
	isAnyBack := false
	for n := range v.Clusters {
		e := &r.clusters[n]
		isAnyBack = isAnyBack || v.Clusters[n].isTakenBack() && isReleased(e) && e.State != rollouts.Skipped && e.State != rollouts.Leaving
	}
	if !isOpen(r.Status.Phase) || !canGoBack(v, r.Status) || !isAnyBack {
		return r
	}
	return goBack(v, r, cause{rollouts.TooManyFailed, "a plan had it go back that was not recorded"})
}

// failedRun returns a record of a run that failed: it stops, or goes back if its strategy says so, it can, and there is evidence. What is
// a mistake of the source alone takes nothing back: what reached clusters before may be good.
func failedRun(v *view, r run, isEvident bool, why cause) run {
	switch goesBack := v.strategy.OnFailure == rollouts.ReturnOnFailure && canGoBack(v, r.Status); {
	case goesBack && isEvident:
		return goBack(v, r, why)
	case goesBack:
		why.text += "; nothing goes back, for no cluster says so: the target cannot be made"
	}
	return stopped(r, why)
}

// isMistake reports a cluster that failed because the target cannot be made for it: a mistake of the source, and no evidence.
func isMistake(e *rollouts.Cluster) bool {
	return e.State == rollouts.Failed && e.Reason == rollouts.NotWritable
}

// isEvident reports a run of which more clusters of a stage failed than may, also without mistakes.
func isEvident(v *view, r run) bool {
	return slices.ContainsFunc(v.stages, func(s rollouts.Stage) bool {
		evident := slices.DeleteFunc(failures(v, r, s.Name), func(n int) bool { return isMistake(&r.clusters[n]) })
		return len(evident) > v.amount(s.MaxFailures, s.Name)
	})
}

// judgedRun returns a record of a run that fails if too many clusters failed in a stage of which any was
// released, be it over or not.
func judgedRun(v *view, r run) run {
	if !isOpen(r.Status.Phase) {
		return r
	}
	for n := range v.stages {
		if s := &v.stages[n]; isFailed(v, r, s) {
			return failedRun(v, r, isEvident(v, r), tooManyFailed(v, r, s))
		}
	}
	return r
}

// isFailed reports that more clusters of a stage failed than may.
func isFailed(v *view, r run, s *rollouts.Stage) bool {
	return len(failures(v, r, s.Name)) > v.amount(s.MaxFailures, s.Name)
}

// failures are the clusters of a stage whose failure counts: not of those that were unhealthy before, which
// the change may cure, nor of those that joined when the stage was over.
func failures(v *view, r run, stage string) (all []int) {
	for _, n := range v.members[stage] {
		if e := &r.clusters[n]; e.State == rollouts.Failed && !e.WasUnhealthy && !e.Forgiven && !e.Joined {
			all = append(all, n)
		}
	}
	return all
}

// ended returns a record in which a run is over whose last step is published.
func ended(v *view, r run) run {
	switch r.Status.Phase {
	case rollouts.Finishing:
		if r = withBehind(v, r); len(unpublished(v, r)) == 0 {
			return finishedRun(r)
		}
	case rollouts.Returning:
		r = withBehind(v, r)
		switch isBack := len(unpublished(v, r)) == 0; {
		case isBack && v.Source.Is(r.Status.Base):
			return finishedRun(r)
		case isBack:
			return stopped(r, cause{rollouts.KeptBack, keptBack(r.Status)})
		}
	case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving, rollouts.Stopped, rollouts.Done:
	}
	return r
}

// withBehind returns a record of a run whose last step was carried out that says of clusters to which that did not come why, as far as that
// is known: the guard holds them, or their branches do not have it.
func withBehind(v *view, r run) run {
	behind := make([]bool, len(r.clusters))
	for _, n := range unpublished(v, r) {
		behind[n] = r.known[n]
	}
	for n, isBehind := range behind {
		e := &r.clusters[n]
		switch {
		case isBehind && v.Clusters[n].Held:
			e.Reason = rollouts.ClusterHeld
		case isBehind:
			e.Reason = rollouts.NotPublished
		case e.Reason == rollouts.ClusterHeld || e.Reason == rollouts.NotPublished:
			e.Reason = ""
		}
	}
	return r
}

// unpublished are the clusters whose branch does not have yet what they show at the end of a run, and can have it. What left one
// that does not answer stays on its branch until it does, which nobody waits for.
func unpublished(v *view, r run) (all []int) {
	for n := range v.Clusters {
		c := &v.Clusters[n]
		isAwaited, isThere := showsTarget(&r.clusters[n]) && c.Unwritable == "", c.IsTarget
		if r.Status.Phase == rollouts.Returning {
			isAwaited, isThere = !c.StaysAhead, c.IsBase
		}
		isLost := c.Leaves && c.Evidence.Health == Silent
		if isAwaited && !isThere && !c.Suspended && !isLost {
			all = append(all, n)
		}
	}
	return all
}

// showsTarget reports a cluster that has the target in the end.
func showsTarget(e *rollouts.Cluster) bool {
	return e.State != rollouts.Skipped && (isReleased(e) || e.State == rollouts.Leaving || e.State == rollouts.Unchanged)
}

// finishedRun returns a record of a run that is over, with the clusters that do not show its version yet.
func finishedRun(r run) run {
	s := r.Status
	if s.Phase == rollouts.Returning {
		s.Target = s.Base
	}
	isBypassed := s.Reason == rollouts.Bypassed
	r.Status = rollouts.Status{
		Run: s.Run, Phase: rollouts.Done, Base: s.Target, Target: s.Target, StartTime: s.StartTime, Commands: s.Commands,
	}
	for n := range r.clusters {
		e := &r.clusters[n]
		// A bypass releases all: what is skipped was skipped after it.
		staysBehind := isBehind(e) && s.Phase != rollouts.Returning && (!isBypassed || e.State == rollouts.Skipped)
		if !staysBehind {
			r.drop(n)
		}
	}
	return r
}

// isBehind reports a cluster that does not show the target at the end of a run, or not for long: the strategy goes
// on for it.
func isBehind(e *rollouts.Cluster) bool {
	return e.State != rollouts.Unchanged && e.State != rollouts.Leaving && (!isReleased(e) || isAwaited(e))
}

// pruned returns a record without the clusters of which nothing has to be known when a run is done: those that
// have its version, also where they were skipped, and those that failed if no other is behind. To one that was skipped and has nothing the
// version may give nothing, either: then only the version before sends the unit there, and the next plan does not know the cluster.
func pruned(v *view, r run) run {
	if r.Status.Phase != rollouts.Done {
		return r
	}
	isAnyBehind := false
	for n := range r.clusters {
		if v.Clusters[n].IsTarget && !isReleased(&r.clusters[n]) {
			r.drop(n)
		}
		isAnyBehind = isAnyBehind || r.known[n] && isBehind(&r.clusters[n])
	}
	for n := range r.clusters {
		if e := &r.clusters[n]; !isAnyBehind || !isBehind(e) && e.State != rollouts.Failed {
			r.drop(n)
		}
	}
	return r
}
