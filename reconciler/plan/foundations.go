package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// foundations are what clusters have that others are deleted with.
type foundations struct {
	namespaces  map[string]object.Ref   // by their names
	definitions map[string][]object.Ref // CustomResourceDefinitions, by their groups
}

// addFoundations finds the Namespaces and the CustomResourceDefinitions that clusters have, and adds rows for those that nobody
// sends any longer: what stays in a cluster, whatever the reason, needs them there.
func addFoundations(t *table) {
	t.foundations = foundations{map[string]object.Ref{}, map[string][]object.Ref{}}
	is, all := &t.foundations, map[object.Ref]bool{}
	type place struct {
		tree *files.Folder
		as   *virtual.Mapping
	}
	seen := map[place]bool{}
	for i, n := range t.group {
		at := place{t.built[n], t.virtual(i)}
		if seen[at] {
			continue
		}
		seen[at] = true
		for _, r := range tree.Foundations(at.tree) {
			r = at.as.Template(r)
			if all[r] {
				continue
			}
			all[r] = true
			if _, group, _ := strings.Cut(r.Name, "."); r.Kind == "Namespace" {
				is.namespaces[r.Name] = r
			} else {
				is.definitions[group] = append(is.definitions[group], r) // named by its plural and its group
			}
		}
	}
	t.addRows(slices.Collect(maps.Keys(all)))
}

// foundationsOf are the rows of what the object of a row would be deleted with where it stays. One of which nothing is in the way has none.
func foundationsOf(t *table, r *manifest.Row) (rows []int) {
	if len(r.Blocks) == 0 && t.unlisted.stays[r.Ref].IsEmpty() {
		return nil
	}
	all := t.foundations.definitions[r.Ref.Group]
	if ns, ok := t.foundations.namespaces[r.Ref.Namespace]; ok {
		all = append(slices.Clip(all), ns)
	}
	for _, f := range all {
		if n, ok := t.find(f); ok {
			rows = append(rows, n)
		}
	}
	return rows
}
