package compare

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// stepwise says in which steps what changes of units reaches the clusters.
type stepwise struct {
	*comparer

	clusters map[string][2]*plan.Cluster // those that are compared, by name
}

// stepsOf says of each unit that changes in which steps its change reaches the clusters.
func stepsOf(c *comparer) (all []preview.Rollout) {
	was := map[rollouts.Unit]*stage.Output{}
	for n := range c.base.Rollouts {
		was[c.base.Rollouts[n].Unit] = &c.base.Rollouts[n]
	}
	if len(c.head.Rollouts) == 0 {
		return nil
	}
	w := stepwise{comparer: c, clusters: map[string][2]*plan.Cluster{}}
	for _, pair := range c.pairs() {
		if name := nameOf(pair); c.within.cluster(name) {
			w.clusters[name] = pair
		}
	}
	for n := range c.head.Rollouts {
		is := &c.head.Rollouts[n]
		before := was[is.Unit]
		if is.After == nil || before != nil && before.Source.Is(is.Source) {
			continue
		}
		if r, ok := w.steps(is, before); ok {
			all = append(all, r)
		}
	}
	return all
}

// steps says in which steps a unit changes; false if it changes no cluster.
func (w *stepwise) steps(is, before *stage.Output) (preview.Rollout, bool) {
	s := &is.After.Status
	r := preview.Rollout{Unit: is.Unit.String(), Strategy: is.After.Strategy.Name}
	if is.Phase == rollouts.Returning {
		r.Returns = is.Base.Is(is.Source)
		return r, r.Returns
	}
	if open := openRun(before); open != "" && open != s.Run {
		r.Supersedes = progress.Short(open)
	}
	if !is.Target.Is(is.Source) {
		r.Supersedes, r.WaitsFor = "", progress.Short(s.Run)
	}
	in, members := map[string]int{}, map[string]int{}
	refs := w.refsOf(is.Unit)
	for name, cluster := range is.After.Clusters {
		at := cluster.Stage
		if cluster.State == rollouts.Leaving {
			at = ""
		}
		members[at]++
		if pair, ok := w.clusters[name]; ok && w.differs(pair, refs) {
			in[at]++
			if heldOf(pair[1]) != "" && !w.already(pair) {
				r.Held = append(r.Held, name)
			}
		}
	}
	slices.Sort(r.Held)
	r.Leaving = in[""]
	for _, st := range s.Stages {
		if in[st.Name] > 0 {
			r.Stages = append(r.Stages, stageOf(is, st.Name, in[st.Name], members[st.Name]))
		}
	}
	return r, len(r.Stages)+r.Leaving > 0
}

// openRun is the run of a unit that is not over; empty for none.
func openRun(o *stage.Output) string {
	if o == nil || o.After == nil || o.Phase == rollouts.Done {
		return ""
	}
	return o.After.Status.Run
}

// stageOf is a step: a stage in which so many clusters change, of so many.
func stageOf(o *stage.Output, name string, changing, of int) preview.Stage {
	out := preview.Stage{Name: name, Clusters: changing, Width: 1}
	for i := range o.After.Strategy.Stages {
		s := &o.After.Strategy.Stages[i]
		if s.Name != name {
			continue
		}
		if n, err := intstr.GetScaledValueFromIntOrPercent(&s.MaxConcurrency, of, false); err == nil {
			out.Width = max(1, n)
		}
		out.Before, out.After = tasks(s.BeforeStageTasks), tasks(s.AfterStageTasks)
	}
	if w := o.Windows[name]; w.IsClosed {
		out.Frozen = w.Edge
	}
	return out
}

// tasks says what a stage takes besides.
func tasks(all []rollouts.StageTask) (says []string) {
	for _, t := range all {
		switch t.Type {
		case rollouts.WaitTask:
			says = append(says, progress.Span(t.WaitTime.Duration)+" healthy")
		case rollouts.ApprovalTask:
			says = append(says, "an approval")
		}
	}
	return says
}

// differs reports that one of some objects is otherwise in a cluster of the head than in that of the base.
func (w *stepwise) differs(pair [2]*plan.Cluster, refs map[object.Ref]bool) bool {
	before, after := w.from(pair), (*files.Folder)(nil)
	if pair[1] != nil {
		after = pair[1].Tree
	}
	if idOf(before) == idOf(after) {
		return false
	}
	for r := range refs {
		if blobOf(w.base, pair, before, r) != blobOf(w.head, pair, after, r) {
			return true
		}
	}
	return false
}

// refsOf are the objects of a unit, of both plans.
func (w *stepwise) refsOf(u rollouts.Unit) map[object.Ref]bool {
	all := map[object.Ref]bool{}
	for _, p := range []*plan.Plan{w.base, w.head} {
		for r, n := range p.Units {
			if p.Rollouts[n-1].Unit == u {
				all[r] = true
			}
		}
	}
	return all
}

// blobOf identifies what a tree has of an object; zero for nothing.
func blobOf(p *plan.Plan, pair [2]*plan.Cluster, in *files.Folder, r object.Ref) files.ID {
	if in == nil {
		return files.ID{}
	}
	if l := p.Expanded.Policies; l != nil {
		if i, ok := l.Position(nameOf(pair)); ok {
			r = l.Virtual.At(i).Ref(r)
		}
	}
	e, ok := in.Lookup(tree.Path(r))
	if !ok || e.Blob == nil {
		return files.ID{}
	}
	return e.Blob.ID()
}
