package plan

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/words"
)

// leaving lists the clusters that templates leave because they failed, it failed there, or what needs them
// leaves them; and those that they left so, and whose branches have them still, by the last state.
func leaving(decisions []Decision, last *state.State) map[object.Ref][]string {
	all := map[object.Ref][]string{}
	for i := range decisions {
		d := &decisions[i]
		clusters := d.Moves.From()
		if b := last.Bindings[d.Ref()]; b != nil {
			for _, s := range b.Status.AggregatedStatus {
				isMove := state.FindLeaving(last.Leaving, d.Ref(), s.ClusterName) != nil
				if s.Applied && reason.Reason(s.Reason).Outlasts() && !isMove && !slices.Contains(clusters, s.ClusterName) {
					clusters = append(clusters, s.ClusterName)
				}
			}
		}
		if len(clusters) > 0 {
			all[d.Ref()] = clusters
		}
	}
	return all
}

// moved reports that an object leaves a cluster because that failed, or what needs it does.
func (t *table) moved(r object.Ref, cluster string) bool {
	d := t.decided.Find(r)
	return d != nil && !d.Targeted(cluster) && slices.Contains(t.leaving[r], cluster)
}

// FailedOver returns the paths of what left a cluster because that, or what is there, failed.
func (p *Plan) FailedOver(cluster string) map[string]bool {
	var paths map[string]bool
	for r, clusters := range p.Leaving {
		if !slices.Contains(clusters, cluster) || schedule.Find(p.Decisions, r).Targeted(cluster) {
			continue
		}
		if i, ok := p.Expanded.Policies.Position(cluster); ok {
			if paths == nil {
				paths = map[string]bool{}
			}
			paths[tree.Path(p.Expanded.Policies.Virtual.At(i).Ref(r))] = true
		}
	}
	return paths
}

// Moved says which templates begin to leave clusters by the plan, and of which the old copies go
// now, a sentence each.
func (p *Plan) Moved() (said []string) {
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Moves != nil {
			for _, t := range d.Moves.Begun {
				to := ""
				if names := d.Gaining(); len(names) > 0 {
					to = " for " + words.List(names)
				}
				said = append(said, fmt.Sprintf("%s leaves %s%s: %s", d.Ref(), t.FromCluster, to, t.Message))
			}
		}
		said = append(said, p.saysLeft(d)...)
	}
	return said
}

// saysLeft says from which clusters the old copy of a template that moved by itself goes now, and where it stays
// although the move is over.
func (p *Plan) saysLeft(d *Decision) (said []string) {
	if d.Policy == nil {
		return nil
	}
	for _, cluster := range p.Leaving[d.Ref()] {
		if d.Targeted(cluster) || d.Moves.IsLeaving(cluster) {
			continue
		}
		switch l := p.Left[d.Ref()][cluster]; {
		case !l.Kept:
			said = append(said, fmt.Sprintf("%s has left %s", d.Ref(), cluster))
		case d.Moves.Leaves(cluster):
			said = append(said, fmt.Sprintf("%s is elsewhere, and stays on the branch of %s: %s", d.Ref(), cluster, l.Reason.Message()))
		}
	}
	return said
}

// holdingData lists, as removals of clusters, what has left them and stays because data would be deleted with it.
func (t *table) holdingData() (all []guard.Held) {
	byCluster := map[int]*guard.Hold{}
	for n := range t.rows {
		for i, why := range t.rows[n].Blocks {
			if why == reason.HoldsData {
				h := byCluster[int(i)]
				if h == nil {
					h = &guard.Hold{Reason: why.Message()}
					byCluster[int(i)] = h
				}
				h.Removals = append(h.Removals, guard.Removal{Object: t.rows[n].Ref, Cause: t.cause(t.rows[n].Ref, t.cluster(int(i)))})
			}
		}
	}
	for i := range t.group {
		if h := byCluster[i]; h != nil {
			all = append(all, guard.Held{Cluster: t.cluster(i), Hold: h})
		}
	}
	return all
}

// letGo has go what stays only because data would be deleted with it, of clusters for which that is allowed.
func (t *table) letGo(isAllowed func(cluster string) bool) {
	for n := range t.rows {
		for i, why := range t.rows[n].Blocks {
			if why == reason.HoldsData && isAllowed(t.cluster(int(i))) {
				delete(t.rows[n].Blocks, i)
			}
		}
	}
}

// sayHoldingData reports what has left clusters and stays because data would be deleted with it.
func (t *table) sayHoldingData(all []guard.Held, digest string) (diags []diag.Diagnostic) {
	for _, h := range all {
		var refs []string
		for _, r := range h.Hold.Removals {
			refs = append(refs, r.Object.String())
		}
		diags = append(diags, diag.Diagnostic{
			Code: diag.HoldsData, Severity: diag.Warning,
			Message: fmt.Sprintf("%s failed over from cluster %s and stays there: %s", words.List(refs), h.Cluster, h.Hold.Reason),
			Hint:    "to have it deleted there, " + t.in.Allow.ToForget(digest),
		})
	}
	return diags
}
