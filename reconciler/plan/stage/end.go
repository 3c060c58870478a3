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
func stopped(r rollouts.Rollout, why cause) rollouts.Rollout {
	r.Status.Phase, r.Status.Reason, r.Status.Message = rollouts.Stopped, why.code, why.text
	return r
}

// canGoBack reports a run whose base can be published again.
func canGoBack(v *view, s rollouts.Status) bool {
	return s.Base.IsKnown() && v.isReadable(s.Base.Commit, s)
}

// goBack returns a record in which every cluster shows the base.
func goBack(v *view, r rollouts.Rollout, why cause) rollouts.Rollout {
	before := r.Clusters
	r.Clusters = make(map[string]rollouts.Cluster, len(before))
	for name, e := range before {
		r.Clusters[name] = withdrawn(v, e, r.Status.Base.Commit)
	}
	r.Status.Phase, r.Status.Reason, r.Status.Message = rollouts.Returning, why.code, why.text
	return r
}

// wentBack returns a record of a run that goes back if a plan had it do so that recorded nothing: clusters that were released have
// the base.
func wentBack(v *view, r rollouts.Rollout) rollouts.Rollout {
	isBack := func(c Cluster) bool {
		e := r.Clusters[c.Name]
		return c.isTakenBack() && isReleased(e) && e.State != rollouts.Skipped && e.State != rollouts.Leaving
	}
	if !isOpen(r.Status.Phase) || !canGoBack(v, r.Status) || !slices.ContainsFunc(v.Clusters, isBack) {
		return r
	}
	return goBack(v, r, cause{rollouts.TooManyFailed, "a plan had it go back that was not recorded"})
}

// failedRun returns a record of a run that failed: it stops, or goes back if its strategy says so, it can, and there is evidence. What is
// a mistake of the source alone takes nothing back: what reached clusters before may be good.
func failedRun(v *view, r rollouts.Rollout, isEvident bool, why cause) rollouts.Rollout {
	switch goesBack := v.strategy.OnFailure == rollouts.ReturnOnFailure && canGoBack(v, r.Status); {
	case goesBack && isEvident:
		return goBack(v, r, why)
	case goesBack:
		why.text += "; nothing goes back, for no cluster says so: the target cannot be made"
	}
	return stopped(r, why)
}

// isMistake reports a cluster that failed because the target cannot be made for it: a mistake of the source, and no evidence.
func isMistake(e rollouts.Cluster) bool {
	return e.State == rollouts.Failed && e.Reason == rollouts.NotWritable
}

// isEvident reports a run of which more clusters of a stage failed than may, also without mistakes.
func isEvident(v *view, r rollouts.Rollout) bool {
	return slices.ContainsFunc(v.stages, func(s rollouts.Stage) bool {
		names := slices.DeleteFunc(failures(v, r, s.Name), func(name string) bool { return isMistake(r.Clusters[name]) })
		return len(names) > v.amount(s.MaxFailures, s.Name)
	})
}

// judgedRun returns a record of a run that fails if too many clusters failed in a stage of which any was
// released, be it over or not.
func judgedRun(v *view, r rollouts.Rollout) rollouts.Rollout {
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
func isFailed(v *view, r rollouts.Rollout, s *rollouts.Stage) bool {
	return len(failures(v, r, s.Name)) > v.amount(s.MaxFailures, s.Name)
}

// failures are the clusters of a stage whose failure counts: not of those that were unhealthy before, which
// the change may cure, nor of those that joined when the stage was over.
func failures(v *view, r rollouts.Rollout, stage string) (names []string) {
	for _, n := range v.members[stage] {
		name := v.Clusters[n].Name
		if e := r.Clusters[name]; e.State == rollouts.Failed && !e.WasUnhealthy && !e.Forgiven && !e.Joined {
			names = append(names, name)
		}
	}
	return names
}

// ended returns a record in which a run is over whose last step is published.
func ended(v *view, r rollouts.Rollout) rollouts.Rollout {
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
func withBehind(v *view, r rollouts.Rollout) rollouts.Rollout {
	names := unpublished(v, r)
	for name, e := range r.Clusters {
		switch isBehind := slices.Contains(names, name); {
		case isBehind && v.Clusters[v.byName[name]].Held:
			e.Reason = rollouts.ClusterHeld
		case isBehind:
			e.Reason = rollouts.NotPublished
		case e.Reason == rollouts.ClusterHeld || e.Reason == rollouts.NotPublished:
			e.Reason = ""
		}
		r.Clusters[name] = e
	}
	return r
}

// unpublished are the clusters whose branch does not have yet what they show at the end of a run, and can have it. What left one
// that does not answer stays on its branch until it does, which nobody waits for.
func unpublished(v *view, r rollouts.Rollout) (names []string) {
	for n := range v.Clusters {
		c := &v.Clusters[n]
		isAwaited, isThere := showsTarget(r.Clusters[c.Name]) && c.Unwritable == "", c.IsTarget
		if r.Status.Phase == rollouts.Returning {
			isAwaited, isThere = !c.StaysAhead, c.IsBase
		}
		isLost := c.Leaves && c.Evidence.Health == Silent
		if isAwaited && !isThere && !c.Suspended && !isLost {
			names = append(names, c.Name)
		}
	}
	return names
}

// showsTarget reports a cluster that has the target in the end.
func showsTarget(e rollouts.Cluster) bool {
	return e.State != rollouts.Skipped && (isReleased(e) || e.State == rollouts.Leaving || e.State == rollouts.Unchanged)
}

// finishedRun returns a record of a run that is over, with the clusters that do not show its version yet.
func finishedRun(r rollouts.Rollout) rollouts.Rollout {
	s := r.Status
	if s.Phase == rollouts.Returning {
		s.Target = s.Base
		r.Clusters = nil
	}
	isBypassed := s.Reason == rollouts.Bypassed
	r.Status = rollouts.Status{
		Run: s.Run, Phase: rollouts.Done, Base: s.Target, Target: s.Target, StartTime: s.StartTime, Commands: s.Commands,
	}
	behind := map[string]rollouts.Cluster{}
	for name, e := range r.Clusters {
		if !isBypassed && isBehind(e) {
			behind[name] = e
		}
	}
	r.Clusters = behind
	return r
}

// isBehind reports a cluster that does not show the target at the end of a run, or not for long: the strategy goes
// on for it.
func isBehind(e rollouts.Cluster) bool {
	return e.State != rollouts.Unchanged && e.State != rollouts.Leaving && (!isReleased(e) || isAwaited(e))
}

// pruned returns a record without the clusters of which nothing has to be known when a run is done: those that
// have its version, and those that failed if no other is behind.
func pruned(r rollouts.Rollout) rollouts.Rollout {
	if r.Status.Phase != rollouts.Done {
		return r
	}
	isAnyBehind := false
	for name, e := range r.Clusters {
		isAnyBehind = isAnyBehind || isBehind(e)
		if !isBehind(e) && e.State != rollouts.Failed {
			delete(r.Clusters, name)
		}
	}
	if !isAnyBehind {
		r.Clusters = nil
	}
	return r
}
