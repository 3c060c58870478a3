package stage

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// heard are the recorded commands that may be given again, so that each acts once, and those of trailers, which are given once: they
// stay as long as the run does.
func (v *view) heard(recorded []rollouts.Command) (still []rollouts.Command) {
	for _, c := range recorded {
		if c.Via == viaTrailer || v.isGiven(c) {
			still = append(still, c)
		}
	}
	return still
}

// viaTrailer is how a command is given that a commit of the source has.
const viaTrailer = "trailer"

// isGiven reports a command that is given now.
func (v *view) isGiven(c rollouts.Command) bool {
	return slices.ContainsFunc(v.Commands, func(o rollouts.Command) bool { return o.Ref == c.Ref })
}

// obeyed returns a record in which commands acted that had not yet, in their order. One that is about
// another run, or comes too early or too late, is recorded as refused and never acts.
func obeyed(v *view, r run) run {
	for _, c := range v.Commands {
		if slices.ContainsFunc(r.Status.Commands, func(o rollouts.Command) bool { return o.Ref == c.Ref }) {
			continue
		}
		next, acted := r, false
		if r.Status.Phase != rollouts.Done && (c.Run == "" || c.Run == r.Status.Run) {
			next, acted = act(v, r, c)
		}
		if acted {
			r = next
		}
		c.Refused = !acted
		r.Status.Commands = append(slices.Clip(r.Status.Commands), c)
	}
	return r
}

// act carries out a command about the run that is open; false if it can do nothing now.
func act(v *view, r run, c rollouts.Command) (run, bool) {
	switch s := r.Status; c.Verb {
	case rollouts.Approve:
		return approved(v, r, c.Stage)
	case rollouts.Stop:
		return stopped(r, commanded(c)), isOpen(s.Phase)
	case rollouts.Resume:
		if s.Phase != rollouts.Stopped {
			return r, false
		}
		return resumed(v, r), true
	case rollouts.Skip:
		if s.Phase == rollouts.Returning {
			return r, false
		}
		if c.Cluster != "" {
			return skipped(v, r, c.Cluster)
		}
		return skippedStage(v, r, c.Stage)
	case rollouts.Return:
		if s.Phase == rollouts.Returning || r.Status.IsKeptBack() || !canGoBack(v, s) {
			return r, false
		}
		return goBack(v, r, commanded(c)), true
	case rollouts.Bypass:
		if s.Phase == rollouts.Returning || s.Phase == rollouts.Finishing || v.Refused != "" {
			return r, false
		}
		return bypassed(v, r), true
	}
	return r, false
}

// approved returns a record in which a stage is approved: before it, if it waits for that, or after it.
func approved(v *view, r run, stage string) (run, bool) {
	n := current(r.Status.Stages)
	if !isOpen(r.Status.Phase) || n < 0 || r.Status.Stages[n].Name != stage {
		return r, false
	}
	s, st := v.stage(stage), r.Status.Stages[n]
	switch st.Phase {
	case rollouts.Waiting:
		st = isBegun(v, st, s)
		n, ok := missing(st.Before)
		if !ok {
			return r, false
		}
		st.Before = done(v, st.Before, n)
	case rollouts.Soaking, rollouts.Approving:
		n := slices.IndexFunc(st.After, func(t rollouts.Task) bool { return t.Type == rollouts.ApprovalTask && t.DoneTime.IsZero() })
		if n < 0 {
			return r, false
		}
		st.After = done(v, st.After, n)
	case rollouts.Updating, rollouts.Stopped, rollouts.Returning, rollouts.Finishing, rollouts.Done:
		return r, false
	}
	return withStage(r, st), true
}

// resumed returns a record of a stopped run that goes on: what failed so far is forgiven, and what did not come to a branch before
// the stop has all of its time. What was kept back is tried again, from the first stage.
func resumed(v *view, r run) run {
	if r.Status.IsKeptBack() {
		return counted(v, newRun(v, r, r.Status.Target))
	}
	stopped := r.Status.Phase
	r.Status.Phase = rollouts.Waiting
	for n := range r.clusters {
		e := &r.clusters[n]
		e.Forgiven = e.Forgiven || e.State == rollouts.Failed
		if isAwaited(e) && isMissed(stopped, e, &v.Clusters[n]) {
			e.Deadline = v.after(v.stage(e.Stage).ProgressDeadline)
		}
	}
	if n := current(r.Status.Stages); n >= 0 && !r.Status.Stages[n].StartTime.IsZero() {
		st := r.Status.Stages[n]
		st.Deadline = v.after(v.stage(st.Name).ProgressDeadline)
		r = withStage(r, st)
	}
	return r
}

// skipped returns a record in which nobody waits for a cluster. It keeps what is published there until the
// next run.
func skipped(v *view, r run, cluster string) (run, bool) {
	n := slices.IndexFunc(v.Clusters, func(c Cluster) bool { return c.Name == cluster })
	if n < 0 || !r.known[n] || r.clusters[n].State == rollouts.Skipped {
		return r, false
	}
	r.set(n, leftAlone(v, &r, n))
	return r, true
}

// leftAlone returns a cluster of a run that keeps what is published there, also where what it was to show did not come to it.
func leftAlone(v *view, r *run, n int) rollouts.Cluster {
	e, c := r.clusters[n], &v.Clusters[n]
	if isReleased(&e) && !c.IsTarget || e.Outdated && !c.IsBase {
		shows := shownInstead(r.Status, c)
		if shows == "" && r.Status.Target.Absent {
			shows = r.Status.Base.Commit // once the run is over nothing else says which objects are there
		}
		e = withdrawn(v, &e, shows)
	}
	return entered(v, e, rollouts.Skipped)
}

// skippedStage returns a record in which a stage is over: those of its clusters that were not released are
// skipped.
func skippedStage(v *view, r run, stage string) (run, bool) {
	n := slices.IndexFunc(r.Status.Stages, func(s rollouts.StageStatus) bool { return s.Name == stage })
	if n < 0 || r.Status.Stages[n].Phase == rollouts.Done {
		return r, false
	}
	for _, n := range v.members[stage] {
		if e := r.clusters[n]; !isReleased(&e) && e.State != rollouts.Unchanged {
			r.set(n, leftAlone(v, &r, n))
		}
	}
	st := r.Status.Stages[n]
	st.Skipped = true
	return withStage(r, over(v, st)), true
}

// bypassed returns a record in which every cluster shows the target.
func bypassed(v *view, r run) run {
	for n := range v.Clusters {
		if e := r.clusters[n]; !isReleased(&e) && e.State != rollouts.Leaving {
			r.set(n, released(v, e, r.Status.Target))
		}
	}
	for _, st := range r.Status.Stages {
		if st.Phase != rollouts.Done {
			r = withStage(r, over(v, st))
		}
	}
	r.Status.Phase, r.Status.Reason = rollouts.Finishing, rollouts.Bypassed
	return r
}

// withStage returns a record with another status of a stage.
func withStage(r run, st rollouts.StageStatus) run {
	r.Status.Stages = slices.Clone(r.Status.Stages)
	for n := range r.Status.Stages {
		if r.Status.Stages[n].Name == st.Name {
			r.Status.Stages[n] = st
		}
	}
	return r
}

// current is the first stage that is not over; -1 if all are.
func current(stages []rollouts.StageStatus) int {
	return slices.IndexFunc(stages, func(s rollouts.StageStatus) bool { return s.Phase != rollouts.Done })
}

// over returns the status of a stage that is over.
func over(v *view, st rollouts.StageStatus) rollouts.StageStatus {
	st.Phase, st.EndTime, st.Deadline = rollouts.Done, v.now, metav1.Time{}
	return st
}
