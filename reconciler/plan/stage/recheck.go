package stage

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// next says when the decision may be another one although nothing was said.
func next(v *view, r run) (again recheck.Recheck) {
	s := r.Status
	if isOver(v, r) {
		again.Timed = isTimed(v)
		return again
	}
	again.Timed, again.Awaits = true, true
	by := func(t metav1.Time) {
		if !t.IsZero() {
			again = again.By(t.Time, v.Now)
		}
	}
	switch s.Phase {
	case rollouts.Finishing, rollouts.Returning: // whether it was published
		by(metav1.NewTime(v.now.Add(time.Second)))
	case rollouts.Done, rollouts.Stopped: // whether a newer version waits
		if (s.Phase == rollouts.Done || s.IsKeptBack()) && !s.Target.Is(v.Source) && v.Refused == "" {
			by(metav1.NewTime(v.now.Add(time.Second)))
		}
	case rollouts.Waiting, rollouts.Updating, rollouts.Soaking, rollouts.Approving:
		byStage(v, r, by)
	}
	for n := range r.clusters {
		e := &r.clusters[n]
		if e.State == rollouts.Failing {
			by(settled(v, e))
		}
		if e.Rests.IsZero() && (isAwaited(e) || e.State == rollouts.Healthy) {
			by(e.Deadline)
		}
		if e.State == rollouts.Pending && v.Windows[e.Stage].IsClosed {
			by(metav1.NewTime(v.Windows[e.Stage].Edge))
		}
	}
	return again
}

// byStage calls by with the times at which the stage of an open run may go on that is not over.
func byStage(v *view, r run, by func(metav1.Time)) {
	n := current(r.Status.Stages)
	if n < 0 {
		return
	}
	st := r.Status.Stages[n]
	if _, why := nobodyHealthy(v, r, st); why != "" {
		by(st.Deadline)
	}
	if t := waiting(st.After); t >= 0 && !st.After[t].Since.IsZero() {
		by(st.After[t].Ends(v.stage(st.Name)))
	}
	if w := v.Windows[st.Name]; w.IsClosed {
		by(metav1.NewTime(w.Edge))
	}
}
