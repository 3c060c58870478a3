package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/match"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// wellKnown are the Namespaces that every cluster has from its first hour.
var wellKnown = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// tellNeeded warns that a Namespace is needed that clusters may not have, and that is not
// sent to them.
func (w *writer) tellNeeded(t *template) {
	name := t.object.Ref().Name
	published := w.published(t.object.Ref())
	lacks := func(c *fleet.Cluster) bool { return w.needs(w.index[c.Name], name) && published(c.Name) == nil }
	if slices.Contains(wellKnown, name) || !slices.ContainsFunc(w.fleet.Clusters(), lacks) {
		return
	}
	w.report(diag.Diagnostic{
		Code: "never-propagated", Severity: diag.Warning, Pos: t.object.Pos(),
		Message: fmt.Sprintf("Namespace %s is not delivered with what is in it: Namespaces kube-* are each cluster's own", name),
		Hint:    "create it in the clusters by other means, or call it otherwise",
	})
}

// clustersOwn reports an object that every cluster has of its own, and says that it is not
// delivered.
func (b *builder) clustersOwn(o *object.Object) bool {
	if !match.ClustersOwn(o.Ref()) {
		return false
	}
	b.report(diag.Diagnostic{
		Code: "never-propagated", Severity: diag.Notice, Pos: o.Pos(),
		Message: fmt.Sprintf("%s is not delivered: each cluster has its own", o.Ref()),
	})
	return true
}

// keepClustersOwn leaves the Namespaces that clusters have of their own on the branches
// that an earlier version put them on: who syncs a branch would remove them from the
// cluster, with all that is in them.
func (w *writer) keepClustersOwn() {
	found := map[*files.Folder][]object.Ref{}
	for i, c := range w.fleet.Clusters() {
		built := w.in.Published[c.Name].Built
		if built == nil {
			continue
		}
		if _, ok := found[built]; !ok {
			found[built] = ownNamespaces(built)
		}
		for _, r := range found[built] {
			if !w.has(i, r) {
				w.keepPublished(w.ref(r), i)
			}
		}
	}
}

// ownNamespaces lists the Namespaces on a branch that clusters have of their own.
func ownNamespaces(built *files.Folder) []object.Ref {
	var own []object.Ref
	dir, _ := built.Lookup(tree.NamespaceDir)
	if dir.Dir == nil {
		return nil
	}
	for _, e := range dir.Dir.Entries() {
		if r := (object.Ref{Kind: "Namespace", Name: strings.TrimSuffix(e.Name, ".yaml")}); match.ClustersOwn(r) {
			own = append(own, r)
		}
	}
	return own
}
