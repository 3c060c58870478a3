package stage

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// isBegun returns the status of a stage whose tasks before it began.
func isBegun(v *view, st rollouts.StageStatus, s *rollouts.Stage) rollouts.StageStatus {
	st.Before = begun(v, st.Before, s.BeforeStageTasks)
	return st
}

// begun are the tasks of a strategy, each as far as it is; those that are new begin now.
func begun(v *view, recorded []rollouts.Task, of []rollouts.StageTask) (all []rollouts.Task) {
	for _, t := range of {
		next := rollouts.Task{Type: t.Type}
		if n := slices.IndexFunc(recorded, func(o rollouts.Task) bool { return o.Type == t.Type }); n >= 0 {
			next = recorded[n]
		}
		if next.Since.IsZero() {
			next.Since = v.now
		}
		all = append(all, next)
	}
	return all
}

// restarted are tasks of which the time that is not over begins again.
func restarted(tasks []rollouts.Task) []rollouts.Task {
	tasks = slices.Clone(tasks)
	if n := waiting(tasks); n >= 0 {
		tasks[n].Since = metav1.Time{}
	}
	return tasks
}

// notBefore are tasks of which the time that is not over began at a time at the earliest.
func notBefore(tasks []rollouts.Task, at metav1.Time) []rollouts.Task {
	n := waiting(tasks)
	if n < 0 || !tasks[n].Since.Before(&at) {
		return tasks
	}
	tasks = slices.Clone(tasks)
	tasks[n].Since = at
	return tasks
}

// lastChange is when a cluster of a stage came to be failed, or healthy, last; the zero time for none.
func lastChange(v *view, r run, stage string) (last metav1.Time) {
	for _, n := range v.members[stage] {
		e := &r.clusters[n]
		if isOver := e.State == rollouts.Failed || e.State == rollouts.Healthy; isOver && last.Before(&e.Since) {
			last = e.Since
		}
	}
	return last
}

// done are tasks of which one is done now.
func done(v *view, tasks []rollouts.Task, n int) []rollouts.Task {
	tasks = slices.Clone(tasks)
	tasks[n].DoneTime = v.now
	return tasks
}

// waiting is the task of time that is not over; -1 for none.
func waiting(tasks []rollouts.Task) int {
	return slices.IndexFunc(tasks, func(t rollouts.Task) bool { return t.Type == rollouts.WaitTask && t.DoneTime.IsZero() })
}

// missing is the approval that nobody gave yet.
func missing(tasks []rollouts.Task) (n int, isMissing bool) {
	n = slices.IndexFunc(tasks, func(t rollouts.Task) bool { return t.Type == rollouts.ApprovalTask && t.DoneTime.IsZero() })
	return n, n >= 0
}

// atLeast are tasks of which the time that is not over lasts as long as evidence has to be told to count for a while.
func atLeast(v *view, r run, tasks []rollouts.Task, stage string) []rollouts.Task {
	n := waiting(tasks)
	if n < 0 {
		return tasks
	}
	var least time.Duration
	for _, m := range v.members[stage] {
		if c := &v.Clusters[m]; r.clusters[m].State == rollouts.Healthy && c.IsTarget {
			least = max(least, c.Evidence.LeastWait)
		}
	}
	if least <= tasks[n].LeastWait.Duration {
		return tasks
	}
	tasks = slices.Clone(tasks)
	tasks[n].LeastWait = metav1.Duration{Duration: least}
	return tasks
}
