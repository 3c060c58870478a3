package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
)

// wellKnown are the Namespaces that every cluster has from its first hour.
var wellKnown = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// UsedNamespaces tells for each namespace which of so many clusters, by index, are to hold something
// in it.
func UsedNamespaces(rows []Row, clusters int) map[string][]bool {
	used := map[string][]bool{}
	for i := range rows {
		row := &rows[i]
		in := used[row.Ref.Namespace]
		if in == nil {
			in = make([]bool, clusters)
			used[row.Ref.Namespace] = in
		}
		for _, want := range row.Wants {
			in[want.Cluster] = true
		}
	}
	return used
}

// namespaceTargets returns where a Namespace goes: where its decision says and, unless it
// is never sent along, where the config says. Where it was sent along it stays as long as
// the source has it: with it would go what others have put into it. Used are the clusters
// that hold something in it; nil for none.
func (w *writer) namespaceTargets(d *schedule.Decision, used []bool) []schedule.Target {
	r, mode := d.Ref(), w.in.Config.Namespaces
	had := w.in.Before.Had(r)
	if match.ClustersOwn(r) {
		w.sayNeeded(d, used, had)
		return w.virtualDefault(r, used, had)
	}
	targets := slices.Clone(d.Targets)
	if mode == render.NamespacesNone {
		return targets
	}
	skipped := w.in.Policies.Skips.Namespace(r.Name, d.Template.Subject.Labels)
	taken := make(map[string]bool, len(targets))
	for _, t := range targets {
		taken[t.Name] = true
	}
	row := w.row(r)
	for i, c := range w.in.Policies.Fleet.Clusters() {
		if taken[c.Name] || row.wants(i) {
			continue
		}
		wanted := !skipped && (mode == render.NamespacesAll || used != nil && used[i])
		if wanted || had(i) && !w.in.Before.Sent(r, c.Name) {
			targets = append(targets, schedule.Target{Name: c.Name})
		}
	}
	slices.SortFunc(targets, func(a, b schedule.Target) int { return cmp.Compare(a.Name, b.Name) })
	return targets
}

// sayNeeded warns that a Namespace is needed that clusters may not have, and that is not
// sent to them.
func (w *writer) sayNeeded(d *schedule.Decision, used []bool, had func(int) bool) {
	name, lacks := d.Ref().Name, false
	for i := range used {
		lacks = lacks || used[i] && !had(i)
	}
	if !lacks || slices.Contains(wellKnown, name) {
		return
	}
	w.report(diag.Diagnostic{
		Code: diag.NeverPropagated, Severity: diag.Warning, Pos: d.Template.Object.Origin(),
		Message: fmt.Sprintf("Namespace %s is not delivered with what is in it: Namespaces kube-* are each cluster's own", name),
		Hint:    "create it in the clusters by other means, or call it otherwise",
	})
}

// keepClustersOwn keeps the Namespaces that clusters have of their own on the branches that
// an earlier version put them on: who syncs a branch would remove them from the cluster,
// with all that is in them.
func (w *writer) keepClustersOwn() {
	for i := range w.in.Policies.Fleet.Clusters() {
		for _, r := range w.in.Before.Own(i) {
			if row := w.row(r); !row.wants(i) {
				row.Block(i, reason.ClustersOwn)
			}
		}
	}
}
