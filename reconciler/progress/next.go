package progress

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// next says what happens next to a unit, and when at the latest, if that is known.
func next(r *rollouts.Rollout) (then string, at time.Time) {
	s := &r.Status
	n := current(r)
	switch s.Phase {
	case rollouts.Done:
		if len(r.Clusters) > 0 {
			return "clusters that are behind get it when they can take it", at
		}
		return "", at
	case rollouts.Stopped:
		return "nothing is released until somebody resumes or returns it, or the source changes", at
	case rollouts.Returning:
		return "every cluster goes back to the version before, and the run ends", at
	case rollouts.Finishing:
		return "clusters that the unit leaves lose it, and the run ends", at
	case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving:
	}
	if n < 0 {
		return "", at
	}
	st := &s.Stages[n]
	switch {
	case s.Phase == rollouts.Approving:
		return "with an approval " + after(r, n), at
	case s.Phase == rollouts.Waiting && s.Reason == rollouts.ApprovalMissing:
		return "an approval begins " + st.Name, at
	case s.Phase == rollouts.Waiting && r.Strategy.IsNone():
		return "every cluster gets it at once when nothing is in its way", at
	case s.Phase == rollouts.Waiting:
		return st.Name + " begins when nothing is in its way", at
	case s.Phase == rollouts.Soaking && s.Reason == rollouts.TimedWait:
		return afterSoak(r, n), soaked(st, stageOf(r, st.Name))
	case s.Phase == rollouts.Soaking:
		return st.Name + " soaks again when its clusters are healthy", at
	}
	return updating(r, n)
}

// updating says what happens to a stage whose clusters are released.
func updating(r *rollouts.Rollout, n int) (then string, at time.Time) {
	name := r.Status.Stages[n].Name
	isPending := false
	for _, c := range r.Clusters {
		if c.Stage != name {
			continue
		}
		isPending = isPending || c.State == rollouts.Pending
		isOut := c.State == rollouts.Released || c.State == rollouts.Failing
		if d := c.Deadline.Time; isOut && c.Rests.IsZero() && !d.IsZero() && (at.IsZero() || d.Before(at)) {
			at = d
		}
	}
	then = "when they are healthy "
	switch {
	case isPending:
		then += "more clusters of " + name + " are released"
	case wait(stageOf(r, name)) > 0:
		then += fmt.Sprintf("%s has to stay so for %s", name, Span(wait(stageOf(r, name))))
	default:
		then += afterSoak(r, n)
	}
	if !at.IsZero() {
		then += "; what is not by then has failed"
	}
	return then, at
}

// afterSoak says what follows the time that a stage has to stay healthy.
func afterSoak(r *rollouts.Rollout, n int) string {
	st := &r.Status.Stages[n]
	isApproved := false
	for _, t := range st.After {
		isApproved = isApproved || t.Type == rollouts.ApprovalTask && !t.DoneTime.IsZero()
	}
	if !isApproved && asks(stageOf(r, st.Name).AfterStageTasks) {
		return st.Name + " waits for an approval"
	}
	return after(r, n)
}

// after says what follows a stage.
func after(r *rollouts.Rollout, n int) string {
	for i := n + 1; i < len(r.Status.Stages); i++ {
		next := r.Status.Stages[i].Name
		for _, c := range r.Clusters {
			if c.Stage != next || c.State == rollouts.Unchanged {
				continue
			}
			if asks(stageOf(r, next).BeforeStageTasks) {
				return next + " waits for an approval"
			}
			return next + " begins"
		}
	}
	return "the run ends"
}

// asks reports that tasks ask for an approval.
func asks(tasks []rollouts.StageTask) bool {
	for _, t := range tasks {
		if t.Type == rollouts.ApprovalTask {
			return true
		}
	}
	return false
}

// stageOf is a stage of the strategy; the zero one for clusters that no stage selects.
func stageOf(r *rollouts.Rollout, name string) *rollouts.Stage {
	for n := range r.Strategy.Stages {
		if r.Strategy.Stages[n].Name == name {
			return &r.Strategy.Stages[n]
		}
	}
	return &rollouts.Stage{Name: name}
}

// wait is how long a stage has to stay healthy.
func wait(s *rollouts.Stage) time.Duration {
	for _, t := range s.AfterStageTasks {
		if t.Type == rollouts.WaitTask {
			return t.WaitTime.Duration
		}
	}
	return 0
}

// Span is a time as people write it, as 30m or 12h.
func Span(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// soaked is when a stage has stayed healthy for long enough; zero if its time has not begun.
func soaked(st *rollouts.StageStatus, s *rollouts.Stage) time.Time {
	for _, t := range st.After {
		if t.Type == rollouts.WaitTask && !t.Since.IsZero() {
			return t.Ends(s).Time
		}
	}
	return metav1.Time{}.Time
}

// commands are those that somebody may type about a unit now.
func commands(p *Progress, r *rollouts.Rollout) (all []string) {
	if p.Phase == rollouts.Done || p.Run == "" {
		return nil
	}
	add := func(verb rollouts.Verb, more ...string) {
		all = append(all, strings.Join(append([]string{"waybill rollout", string(verb), p.Unit.String() + "@" + Short(p.Run)}, more...), " "))
	}
	switch p.Phase {
	case rollouts.Stopped:
		if r.Status.Reason != rollouts.KeptBack {
			add(rollouts.Return)
		}
		add(rollouts.Resume)
		return all
	case rollouts.Returning, rollouts.Finishing:
		return nil
	case rollouts.Approving:
		add(rollouts.Approve, p.Stage)
	case rollouts.Waiting:
		if r.Status.Reason == rollouts.ApprovalMissing {
			add(rollouts.Approve, p.Stage)
		}
	case rollouts.Updating, rollouts.Soaking, rollouts.Done:
	}
	add(rollouts.Stop)
	return all
}
