package commands

import (
	"errors"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// Foresee says what comes of a command about the open run of a unit when it is recorded as it is now, or why nothing does.
func Foresee(r *rollouts.Rollout, c *RolloutCommand) (what string, err error) {
	s := &r.Status
	if s.Phase == rollouts.Done {
		return "", fmt.Errorf("no run of %s is open: it is done with %.12s", r.Unit, s.Target.Commit)
	}
	isKeptBack := s.IsKeptBack()
	switch {
	case s.Phase == rollouts.Returning && c.Verb != rollouts.Approve && c.Verb != rollouts.Stop && c.Verb != rollouts.Resume:
		return "", fmt.Errorf("%s goes back to %.12s already", r.Unit, s.Base.Commit)
	case isKeptBack && c.Verb == rollouts.Return:
		return "", fmt.Errorf("%s went back to %.12s already", r.Unit, s.Base.Commit)
	}
	switch c.Verb {
	case rollouts.Approve:
		return foreseeApproval(r, c.Stage)
	case rollouts.Stop:
		if !isUnderWay(s.Phase) {
			return "", fmt.Errorf("the run is %s, and releases nothing", s.Phase)
		}
		return fmt.Sprintf("nothing more is released; %s got it before, and not yet: %d; waybill rollout resume goes on",
			words.Count(counted(r, isReleased), "cluster"), counted(r, isPending)), nil
	case rollouts.Resume:
		switch {
		case s.Phase != rollouts.Stopped:
			return "", fmt.Errorf("the run is %s, and not Stopped", s.Phase)
		case isKeptBack:
			return fmt.Sprintf("%.12s is tried again, from the first stage", s.Target.Commit), nil
		}
		return "the run goes on where it stopped, and what failed so far is forgiven", nil
	case rollouts.Skip:
		return foreseeSkip(r, c)
	case rollouts.Return:
		if !s.Base.IsKnown() {
			return "", errors.New("the version before is not known, so that nothing can go back to it")
		}
		return fmt.Sprintf("what was released gets %.12s again at once, in %s", s.Base.Commit, words.Count(counted(r, isReleased), "cluster")), nil
	case rollouts.Bypass:
		if s.Phase == rollouts.Finishing {
			return "", errors.New("every stage is over already")
		}
		return fmt.Sprintf("%.12s reaches %s at once, without waiting for evidence; the guard judges it as ever",
			s.Target.Commit, words.Count(counted(r, isPending), "more cluster")), nil
	}
	return "", fmt.Errorf("there is no verb %q", c.Verb)
}

// foreseeApproval says what comes of an approval.
func foreseeApproval(r *rollouts.Rollout, stage string) (string, error) {
	n := slices.IndexFunc(r.Status.Stages, func(s rollouts.StageStatus) bool { return s.Phase != rollouts.Done })
	if !isUnderWay(r.Status.Phase) || n < 0 {
		return "", fmt.Errorf("the run is %s, and no stage waits for an approval", r.Status.Phase)
	}
	st := &r.Status.Stages[n]
	if st.Name != stage {
		return "", fmt.Errorf("it is %s that is at work: %s", st.Name, r.Status.Message)
	}
	of := func(s rollouts.Stage) bool { return s.Name == stage }
	i := slices.IndexFunc(r.Strategy.Stages, of)
	if i < 0 {
		return "", fmt.Errorf("the strategy has no stage %s", stage)
	}
	switch is := &r.Strategy.Stages[i]; st.Phase {
	case rollouts.Waiting:
		if lacks(is.BeforeStageTasks, st.Before) {
			return stage + " may begin; it is " + words.Count(counted(r, ofStage(stage)), "cluster"), nil
		}
		return "", fmt.Errorf("%s waits for no approval: %s", stage, r.Status.Message)
	case rollouts.Soaking, rollouts.Approving:
		if !lacks(is.AfterStageTasks, st.After) {
			return "", fmt.Errorf("%s waits for no approval: %s", stage, r.Status.Message)
		}
		next := "the run ends"
		if n+1 < len(r.Status.Stages) {
			next = fmt.Sprintf("%s follows, %s", r.Status.Stages[n+1].Name, words.Count(counted(r, ofStage(r.Status.Stages[n+1].Name)), "cluster"))
		}
		return "when " + stage + " has soaked, " + next, nil
	case rollouts.Updating, rollouts.Stopped, rollouts.Returning, rollouts.Finishing, rollouts.Done:
	}
	return "", fmt.Errorf("%s is not soaking yet: %s; approve it when its clusters are healthy", stage, r.Status.Message)
}

// lacks reports tasks of which the approval is not done.
func lacks(tasks []rollouts.StageTask, done []rollouts.Task) bool {
	isApproval := func(t rollouts.StageTask) bool { return t.Type == rollouts.ApprovalTask }
	isDone := func(t rollouts.Task) bool { return t.Type == rollouts.ApprovalTask && !t.DoneTime.IsZero() }
	return slices.ContainsFunc(tasks, isApproval) && !slices.ContainsFunc(done, isDone)
}

// foreseeSkip says what comes of skipping a stage or a cluster.
func foreseeSkip(r *rollouts.Rollout, c *RolloutCommand) (string, error) {
	if c.Cluster != "" {
		switch e, known := r.Clusters[c.Cluster]; {
		case !known:
			return "", fmt.Errorf("%s is no cluster of the run", c.Cluster)
		case e.State == rollouts.Skipped:
			return "", fmt.Errorf("%s is skipped already", c.Cluster)
		}
		return "nobody waits for " + c.Cluster + "; it keeps what is published there until the next run", nil
	}
	n := slices.IndexFunc(r.Status.Stages, func(s rollouts.StageStatus) bool { return s.Name == c.Stage })
	switch {
	case n < 0:
		return "", fmt.Errorf("the run has no stage %s", c.Stage)
	case r.Status.Stages[n].Phase == rollouts.Done:
		return "", fmt.Errorf("%s is over already", c.Stage)
	}
	left := counted(r, func(e rollouts.Cluster) bool { return e.Stage == c.Stage && isPending(e) })
	return fmt.Sprintf("%s ends; what did not get the change keeps what it has until the next run: %s", c.Stage, words.Count(left, "cluster")), nil
}

func isUnderWay(p rollouts.Phase) bool {
	return slices.Contains([]rollouts.Phase{rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving}, p)
}

// counted is how many clusters of a run something is true of.
func counted(r *rollouts.Rollout, is func(rollouts.Cluster) bool) (n int) {
	for _, e := range r.Clusters {
		if is(e) {
			n++
		}
	}
	return n
}

func isPending(e rollouts.Cluster) bool { return e.State == rollouts.Pending }

func isReleased(e rollouts.Cluster) bool { return !e.Released.IsZero() }

func ofStage(stage string) func(rollouts.Cluster) bool {
	return func(e rollouts.Cluster) bool { return e.Stage == stage }
}
