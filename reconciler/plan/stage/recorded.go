package stage

import "github.com/waybill-dev/waybill/reconciler/state/rollouts"

// Recorded is what was decided of a unit by the plan that recorded it: which version each cluster showed then. Nothing is
// decided anew. Of a unit that is what the source says, and bound to no strategy, nothing is recorded.
func Recorded(in Input, r *rollouts.Rollout) Output {
	if r == nil {
		return unstaged(&in)
	}
	v := look(in)
	out := in.output(r.Status)
	out.After = r
	out.Breaks = Breaks(in, r)
	for n := range v.Clusters {
		var is *rollouts.Cluster
		if e, known := r.Clusters[v.Clusters[n].Name]; known {
			is = &e
		}
		out.Shown = append(out.Shown, shown(&v, &r.Status, is, &v.Clusters[n]))
	}
	return out
}
