package stage

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// isReleased reports a cluster that shows the target because its turn came.
func isReleased(c *rollouts.Cluster) bool { return !c.Released.IsZero() }

// isAwaited reports a cluster that was released, and for which its stage waits.
func isAwaited(c *rollouts.Cluster) bool {
	return c.State == rollouts.Released || c.State == rollouts.Failing
}

// Awaited lists the clusters of a run whose evidence matters now, in the order of their names: those that were released and are
// not healthy, and those that have to stay so while their stage is not over. Nobody has to ask for that of others.
func Awaited(r *rollouts.Rollout) (names []string) {
	switch r.Status.Phase {
	case rollouts.Returning, rollouts.Finishing:
		return nil
	case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving, rollouts.Stopped, rollouts.Done:
	}
	isOver := map[string]bool{}
	for _, s := range r.Status.Stages {
		isOver[s.Name] = s.Phase == rollouts.Done
	}
	for name, e := range r.Clusters {
		if isReleased(&e) && e.State != rollouts.Skipped && e.State != rollouts.Leaving && (e.State != rollouts.Healthy || !isOver[e.Stage]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isOpen reports that a run is in a phase in which it goes on by itself.
func isOpen(p rollouts.Phase) bool {
	switch p {
	case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving:
		return true
	case rollouts.Stopped, rollouts.Returning, rollouts.Finishing, rollouts.Done:
	}
	return false
}

// members returns a record whose clusters are those that there are now. Those that joined show what their
// stage shows, and what was released stays so in whichever stage it is now. Of a unit that is done only
// those are recorded that do not show the target.
func members(v *view, r run) run {
	isDone := r.Status.Phase == rollouts.Done
	r.Status.Stages = stageStatuses(v, r.Status.Stages)
	if isDone {
		r.Status.Stages = nil
	}
	for n := range v.Clusters {
		c := &v.Clusters[n]
		was := r.clusters[n]
		was.Stage = v.stageOf(c)
		switch {
		case r.known[n]:
			r.set(n, placed(v, &r.Status, was, c))
		case !isDone:
			r.set(n, joined(v, &r.Status, was, c))
		}
	}
	return r
}

// placed is what becomes of a cluster by where it is now, and by what is published there.
func placed(v *view, s *rollouts.Status, e rollouts.Cluster, c *Cluster) rollouts.Cluster {
	switch {
	case e.State == rollouts.Skipped:
		return e
	case c.Leaves && s.Phase != rollouts.Done:
		return entered(v, e, rollouts.Leaving)
	case e.State == rollouts.Leaving && isReleased(&e):
		return released(v, e, s.Target)
	case e.State == rollouts.Leaving:
		e = entered(v, e, rollouts.Pending)
	}
	if isReleased(&e) || e.State == rollouts.Unchanged || isBack(s) || !c.IsTarget || c.IsBase || !c.Has && !v.takesAll(s) {
		return e
	}
	old := e.Evidence
	e = released(v, e, s.Target) // half of an earlier push, or by a run before
	if e.Evidence = old; c.Evidence.IsOld {
		e.Evidence = c.Evidence.Ref
	}
	return e
}

// joined is a cluster that was not there when the run began. It shows the base, and waits for its turn, which
// comes at once if all of its stage was released.
func joined(v *view, s *rollouts.Status, e rollouts.Cluster, c *Cluster) rollouts.Cluster {
	e.Shows, e.Outdated = s.Base.Commit, isOutdated(c)
	e.Joined = isStageReleased(s, e.Stage)
	if v.hasNothing(s, c) && !isBack(s) {
		e.Shows = s.Target.Commit
		return entered(v, e, rollouts.Unchanged)
	}
	return placed(v, s, entered(v, e, rollouts.Pending), c)
}

// isOutdated reports a cluster that has something of the unit that neither version of the run gives: it had that when it left the
// fleet.
func isOutdated(c *Cluster) bool { return c.Has && !c.IsBase && !c.IsTarget }

// isStageReleased reports that all of a stage was released.
func isStageReleased(s *rollouts.Status, stage string) bool {
	for _, st := range s.Stages {
		if st.Name == stage {
			return st.Phase == rollouts.Soaking || st.Phase == rollouts.Approving || st.Phase == rollouts.Done
		}
	}
	return false
}

// entered returns a cluster in a state, in which it may have been before.
func entered(v *view, e rollouts.Cluster, s rollouts.State) rollouts.Cluster {
	if e.State != s {
		e.State, e.Since, e.Reason, e.Message, e.LeastSettle = s, v.now, "", "", metav1.Duration{}
	}
	return e
}

// released returns a cluster that shows the target from now on.
func released(v *view, e rollouts.Cluster, target rollouts.Version) rollouts.Cluster {
	e = entered(v, e, rollouts.Released)
	e.Shows, e.Evidence, e.Message, e.Outdated = target.Commit, "", "", false
	e.Released, e.Deadline = v.now, v.after(v.stage(e.Stage).ProgressDeadline)
	return e
}

// withdrawn returns a cluster that shows another version than the target: nothing of the run is left of it.
func withdrawn(v *view, e *rollouts.Cluster, commit string) rollouts.Cluster {
	return entered(v, rollouts.Cluster{Stage: e.Stage, Shows: commit}, rollouts.Pending)
}
