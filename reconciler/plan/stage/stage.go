package stage

import (
	"slices"

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
	r = wentBack(&v, r)
	r, unsoaked := taken(&v, r)
	r = advanced(&v, r)
	r = bound(&v, pruned(&v, r))
	r.Status.Message = message(&v, r)
	out := in.output(r.Status)
	out.Shown = make([]Shown, len(in.Clusters))
	for n := range in.Clusters {
		out.Shown[n] = shown(&v, &r.Status, r.of(n), &in.Clusters[n])
	}
	out.Recheck = next(&v, r)
	out.Diags = report(&v, r, unsoaked)
	if isRecorded(&v, r) {
		out.After = recordOf(&v, &r)
	}
	return out
}

// output is the beginning of what is decided of a unit.
func (in *Input) output(s rollouts.Status) Output {
	return Output{
		Unit: in.Unit, Pos: in.Pos, Source: in.Source, Windows: in.Windows, Before: in.Before,
		Phase: s.Phase, Base: s.Base, Target: s.Target, IsBack: isBack(&s),
	}
}

// unstaged is what becomes of a unit without a strategy: all of it is carried out.
func unstaged(in *Input) Output {
	out := in.output(rollouts.Status{Phase: rollouts.Done, Base: in.Source, Target: in.Source})
	out.Shown = make([]Shown, len(in.Clusters))
	for n := range in.Clusters {
		out.Shown[n] = Shown{Cluster: in.Clusters[n].Name, Choice: Target, Commit: in.Source.Commit}
	}
	return out
}

// bound returns a record with the strategy that the unit is bound to now, if the run by the one before is over.
func bound(v *view, r run) run {
	if v.Strategy != nil && isOver(v, r) {
		r.Strategy = *v.Strategy
	}
	return r
}

// isOver reports a unit of which nothing has to happen any more.
func isOver(v *view, r run) bool {
	return r.Status.Phase == rollouts.Done && !r.isAnyKnown() && r.Status.Target.Is(v.Source)
}

// isRecorded reports that something of a unit has to be remembered: it has a strategy and is in the source, or
// a strategy goes on, or some of it is left in a cluster. What may not be released stays as it is recorded.
func isRecorded(v *view, r run) bool {
	if v.Source.Absent {
		isLeft := slices.ContainsFunc(v.Clusters, func(c Cluster) bool { return c.Has })
		return !isOver(v, r) || isLeft && !v.strategy.IsNone()
	}
	return !isOver(v, r) || v.Strategy != nil || v.Refused != ""
}
