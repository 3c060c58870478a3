package stage

import (
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// Decide decides which version of a unit each cluster shows, and what is recorded.
func Decide(in Input) Output {
	if InForce(in.Strategy, in.Before) == nil && in.Refused == "" {
		return unstaged(&in)
	}
	v := look(in)
	r := begin(&v)
	r = counted(&v, r)
	r = judgedRun(&v, r)
	r = obeyed(&v, r)
	r = advanced(&v, r)
	r, unsoaked := taken(&v, r)
	r = pruned(r)
	r.Status.Message = message(&v, r)
	out := Output{Phase: r.Status.Phase, Base: r.Status.Base, Target: r.Status.Target, Shown: make([]Shown, len(in.Clusters))}
	for n := range in.Clusters {
		out.Shown[n] = shown(&v, r, &in.Clusters[n])
	}
	out.Recheck = next(&v, r)
	out.Diags = report(&v, r, unsoaked)
	if isRecorded(&v, r) {
		out.After = &r
	}
	return out
}

// unstaged is what becomes of a unit without a strategy: all of it is carried out.
func unstaged(in *Input) Output {
	out := Output{Phase: rollouts.Done, Base: in.Source, Target: in.Source, Shown: make([]Shown, len(in.Clusters))}
	for n := range in.Clusters {
		out.Shown[n] = Shown{in.Clusters[n].Name, Target, in.Source.Commit}
	}
	return out
}

// isRecorded reports that something of a unit has to be remembered: it has a strategy and is in the source, or
// a strategy goes on.
func isRecorded(v *view, r rollouts.Rollout) bool {
	isOver := r.Status.Phase == rollouts.Done && len(r.Clusters) == 0 && r.Status.Target.Is(v.Source)
	return !isOver || v.Strategy != nil && !v.Source.Absent
}
