package stage

import (
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// hindered says why a unit without a strategy may not go out now; empty if it may. It goes out everywhere at once, and is
// done with the plan that releases it: nobody asked for evidence, so that none is looked at.
func (v *view) hindered() rollouts.Reason {
	switch {
	case v.Refused != "":
		return rollouts.SourceRefused
	case v.Windows[v.stages[0].Name].IsClosed:
		return rollouts.WindowClosed
	}
	return ""
}

// atOnce returns a record of a unit without a strategy that went on as far as it can, which is to the end.
func atOnce(v *view, r run, st rollouts.StageStatus) run {
	if why := v.hindered(); why != "" {
		st.Phase = rollouts.Waiting
		return inPhase(r, st, why)
	}
	for n := range r.clusters {
		if r.clusters[n].State != rollouts.Skipped {
			r.drop(n)
		}
	}
	return finishedRun(r)
}

// passed returns a record of a unit without a strategy for which nothing had to wait: there was no run.
func passed(v *view, r run) run {
	r.Status = rollouts.Status{Phase: rollouts.Done, Base: v.Source, Target: v.Source, Commands: r.Status.Commands}
	for n := range r.clusters {
		r.drop(n)
	}
	return r
}

// isTimed reports that a window was open for a unit without a strategy, or the other way round, when its version changed.
func isTimed(v *view) bool {
	isNews := v.Before == nil || v.Before.Status.Phase != rollouts.Done || !v.Before.Status.Target.Is(v.Source)
	return isNews && v.strategy.IsNone() && len(v.Windows) > 0
}
