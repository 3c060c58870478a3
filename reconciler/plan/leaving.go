package plan

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
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

// moved reports that an object leaves a cluster for others because that failed, or what needs it does.
func (t *table) moved(r object.Ref, cluster string) bool {
	d := t.decided.Find(r)
	return d != nil && len(d.Targets) > 0 && !d.Targeted(cluster) && slices.Contains(t.leaving[r], cluster)
}

// holdingData lists, as removals of clusters, what has left them and stays because data would be deleted with it.
func (t *table) holdingData() (all []guard.Held) {
	byCluster := map[int]*guard.Hold{}
	for n := range t.rows {
		for i := range holdingDataIn(t, n).All() {
			h := byCluster[i]
			if h == nil {
				h = &guard.Hold{Reason: reason.HoldsData.Message()}
				byCluster[i] = h
			}
			h.Removals = append(h.Removals, guard.Removal{Object: t.rows[n].Ref, Cause: t.cause(t.rows[n].Ref, t.cluster(i))})
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
		holds := holdingDataIn(t, n)
		goes := groups.Where(len(t.group), func(i int) bool { return holds.Has(i) && isAllowed(t.cluster(i)) })
		t.rows[n].Blocks = t.rows[n].Blocks.Without(goes)
	}
}

// holdingDataIn are the clusters in which the object of a row stays because data would be deleted with it.
func holdingDataIn(t *table, row int) groups.Set {
	return t.rows[row].Blocks.Where(func(why reason.Reason) bool { return why == reason.HoldsData })
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
