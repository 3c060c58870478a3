package stage

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// advanced returns a record in which stages went on as far as they can now, one after the other. What could not
// be released when its stage was is released afterwards, also when the run is done.
func advanced(v *view, r run) run {
	for n := range v.stages {
		if !isOpen(r.Status.Phase) {
			break
		}
		was := r.Status.Stages[n]
		if was.Phase == rollouts.Done {
			continue
		}
		if r = stepped(v, r, n); n == len(v.stages)-1 {
			r = notLast(v, r, was)
		}
		if isOpen(r.Status.Phase) && r.Status.Stages[n].Phase != rollouts.Done {
			break
		}
	}
	if p := r.Status.Phase; p == rollouts.Stopped || p == rollouts.Returning {
		return r
	}
	if isOpen(r.Status.Phase) && current(r.Status.Stages) < 0 {
		r.Status.Phase, r.Status.Reason = rollouts.Finishing, rollouts.NotPublished
	}
	return caughtUp(v, r)
}

// caughtUp returns a record in which clusters are released that could not be when their stage was, as far as that
// has not failed. Those that joined since then get what their stage shows, unless they have it already.
func caughtUp(v *view, r run) run {
	for n := range v.Clusters {
		c := &v.Clusters[n]
		switch e := r.clusters[n]; {
		case !e.Joined || e.State != rollouts.Pending || v.Refused != "":
		case c.IsTarget:
			r.set(n, asBefore(v, e, r.Status.Target))
		case c.Unwritable == "":
			r.set(n, releasedNow(v, r, n))
		}
	}
	for n := range v.stages {
		s := &v.stages[n]
		if r.Status.Phase != rollouts.Done {
			if r.Status.Stages[n].Phase != rollouts.Done {
				break // a later stage that is over was skipped: what comes before it is not
			}
			if r.Status.Stages[n].Skipped {
				continue
			}
		}
		if r = settledUnchanged(v, r, s.Name); !isFailed(v, r, s) {
			r = releasedSome(v, r, s)
		}
	}
	return r
}

// stepped returns a record in which a stage, and the run with it, went on as far as it can.
func stepped(v *view, r run, n int) run {
	s, st := &v.stages[n], r.Status.Stages[n]
	if v.strategy.IsNone() {
		return atOnce(v, r, st)
	}
	if st.StartTime.IsZero() {
		if len(changing(v, r, s.Name)) == 0 {
			return withStage(settledUnchanged(v, r, s.Name), over(v, st))
		}
		st = isBegun(v, st, s)
		if why := notYet(v, r, st); why != "" {
			st.Phase = rollouts.Waiting
			return inPhase(r, st, why)
		}
		st.StartTime, st.Deadline, st.Phase = v.now, v.after(s.ProgressDeadline), rollouts.Updating
	}
	if r = unwritable(v, r, s.Name); isFailed(v, r, s) {
		return failedRun(v, withStage(r, st), isEvident(v, r), tooManyFailed(v, r, s))
	}
	r = settledUnchanged(v, releasedSome(v, r, s), s.Name)
	if len(awaited(v, r, s.Name)) > 0 {
		return updating(v, r, st, s)
	}
	if isLost, why := nobodyHealthy(v, r, st); why != "" {
		if isLost {
			isEvident := slices.ContainsFunc(changing(v, r, s.Name), func(n int) bool {
				e := &r.clusters[n]
				return e.State != rollouts.Suspended && !isMistake(e)
			})
			return failedRun(v, withStage(r, st), isEvident, cause{rollouts.NoneHealthy, s.Name + ": no cluster was healthy in time"})
		}
		st.Phase = rollouts.Updating
		return inPhase(r, st, why)
	}
	return soaking(v, r, st, s)
}

// notLast returns a record in which the last stage is not over yet, if a cluster of another one has to wait still: with the last stage what
// is divided gets its new shares, and that cluster does not have its own.
func notLast(v *view, r run, was rollouts.StageStatus) run {
	if !isOpen(r.Status.Phase) || current(r.Status.Stages) >= 0 || !isCrowded(v, r) {
		return r
	}
	return inPhase(r, was, rollouts.NotHealthy)
}

// inPhase returns a record in which a stage is in a phase, and the run with it.
func inPhase(r run, st rollouts.StageStatus, why rollouts.Reason) run {
	r = withStage(r, st)
	r.Status.Phase, r.Status.Reason = st.Phase, why
	return r
}

// changing are the clusters of a stage in which something changes.
func changing(v *view, r run, stage string) (all []int) {
	for _, n := range v.members[stage] {
		if e := &r.clusters[n]; e.State != rollouts.Skipped && (isReleased(e) || !v.Clusters[n].IsTarget) {
			all = append(all, n)
		}
	}
	return all
}

// settledUnchanged returns a record in which the clusters of a stage show the target that have it already.
func settledUnchanged(v *view, r run, stage string) run {
	for _, n := range v.members[stage] {
		c := &v.Clusters[n]
		if e := r.clusters[n]; r.known[n] && !isReleased(&e) && c.IsTarget && e.State != rollouts.Skipped {
			r.set(n, asBefore(v, e, r.Status.Target))
		}
	}
	return r
}

// asBefore is a cluster that shows the target, and has had it before.
func asBefore(v *view, e rollouts.Cluster, target rollouts.Version) rollouts.Cluster {
	e = entered(v, e, rollouts.Unchanged)
	e.Shows = target.Commit
	return e
}

// notYet says why no cluster of a stage may be released yet; empty if any may.
func notYet(v *view, r run, st rollouts.StageStatus) rollouts.Reason {
	_, isUnapproved := missing(st.Before)
	switch {
	case isUnapproved:
		return rollouts.ApprovalMissing
	case v.Refused != "":
		return rollouts.SourceRefused
	case v.Windows[st.Name].IsClosed:
		return rollouts.WindowClosed
	}
	for _, n := range changing(v, r, st.Name) {
		if r.clusters[n].State != rollouts.Suspended {
			return ""
		}
	}
	return rollouts.ClustersSuspended
}

// awaited are the clusters of a stage for which it waits: those that were released and are neither healthy nor
// failed, and those that may be released.
func awaited(v *view, r run, stage string) (all []int) {
	for _, n := range v.members[stage] {
		if e := &r.clusters[n]; isAwaited(e) || e.State == rollouts.Pending {
			all = append(all, n)
		}
	}
	return all
}

// updating returns a record of a stage that waits for clusters, and says what is in the way. If all were
// healthy before, they have to be for the whole time again.
func updating(v *view, r run, st rollouts.StageStatus, s *rollouts.Stage) run {
	if st.Phase == rollouts.Soaking || st.Phase == rollouts.Approving {
		st.Phase, st.After = rollouts.Soaking, restarted(st.After)
		return inPhase(r, st, rollouts.NotHealthy)
	}
	var why rollouts.Reason
	for _, n := range awaited(v, r, s.Name) {
		c, e := &v.Clusters[n], &r.clusters[n]
		switch isPending := e.State == rollouts.Pending; {
		case c.Held && !c.IsTarget:
			why = rollouts.ClusterHeld
		case !isPending || why != "":
		case v.Refused != "":
			why = rollouts.SourceRefused
		case v.Windows[s.Name].IsClosed:
			why = rollouts.WindowClosed
		}
	}
	return inPhase(r, st, why)
}

// nobodyHealthy says why a stage of which nothing is awaited cannot go on, if none of its clusters is healthy:
// those that answer take nothing now, or its deadline decides, which may be over. One that was skipped may be healthy, too.
func nobodyHealthy(v *view, r run, st rollouts.StageStatus) (isLost bool, why rollouts.Reason) {
	for _, n := range v.members[st.Name] {
		if c := &v.Clusters[n]; r.clusters[n].State == rollouts.Skipped && c.isHealthyNow() {
			return false, ""
		}
	}
	for _, n := range changing(v, r, st.Name) {
		switch r.clusters[n].State {
		case rollouts.Healthy:
			return false, ""
		case rollouts.Late, rollouts.Failed:
			why = rollouts.NoneAnswers
		case rollouts.Suspended:
			if why == "" {
				why = rollouts.ClustersSuspended
			}
		default:
		}
	}
	return why == rollouts.NoneAnswers && v.isOver(st.Deadline), why
}

// soaking returns a record of a stage of whose clusters all are healthy that have to be: its tasks are next. It is
// over when they are, and each healthy cluster still says that it is.
func soaking(v *view, r run, st rollouts.StageStatus, s *rollouts.Stage) run {
	st.After = atLeast(v, r, notBefore(begun(v, st.After, s.AfterStageTasks), lastChange(v, r, s.Name)), s.Name)
	isFresh := true
	for _, n := range v.members[s.Name] {
		c := &v.Clusters[n]
		isFresh = isFresh && (r.clusters[n].State != rollouts.Healthy || c.isHealthyNow())
	}
	if n := waiting(st.After); n >= 0 {
		st.Phase = rollouts.Soaking
		if !v.isOver(st.After[n].Ends(s)) {
			return inPhase(r, st, rollouts.TimedWait)
		}
		if isFresh {
			st.After = done(v, st.After, n)
		}
	}
	_, isUnapproved := missing(st.After)
	switch {
	case !isFresh:
		st.Phase = rollouts.Soaking
		return inPhase(r, st, rollouts.NotHealthy)
	case isUnapproved:
		st.Phase = rollouts.Approving
		return inPhase(r, st, rollouts.ApprovalMissing)
	}
	return withStage(r, over(v, st))
}
