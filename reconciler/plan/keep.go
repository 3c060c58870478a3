package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// keepPublished leaves an object in a cluster as it was last published there; false
// if it was not.
func (w *writer) keepPublished(ref int32, cluster int, name string) bool {
	if !w.isPublished(w.refs[ref], name) {
		return false
	}
	e, _ := w.in.Published[name].Built.Lookup(tree.Path(w.refs[ref]))
	w.placed[cluster] = append(w.placed[cluster], placed{ref, w.blob(e.Blob)})
	return true
}

// keepElsewhere leaves an object in the clusters that it would leave: where it
// should go instead it could not be written.
func (w *writer) keepElsewhere(ref int32, goes func(cluster string) bool) {
	for i, c := range w.fleet.Clusters() {
		if !goes(c.Name) && !w.has(i, w.refs[ref]) {
			w.keepPublished(ref, i, c.Name)
		}
	}
}

// keepReleases leaves what came of a release before that cannot be rendered now,
// unless somebody else has it now.
func (w *writer) keepReleases() {
	w.kept, w.stays = w.releases.kept(), map[object.Ref]bool{}
	for _, id := range slices.SortedFunc(maps.Keys(w.kept), compareIDs) {
		failed := w.releases.failed[id]
		homeless := w.homeless(id, failed)
		for i, c := range w.fleet.Clusters() {
			here := id.cluster == "" || id.cluster == c.Name
			if here && (failed.has(c.Name) || homeless && !failed.aimed[c.Name]) {
				w.keepRelease(id, i, c.Name)
			}
		}
		w.blind(id)
	}
}

// keepRelease leaves what came of a release in a cluster.
func (w *writer) keepRelease(id releaseID, cluster int, name string) {
	have := w.held(cluster)
	for _, r := range w.kept[id] {
		if t := w.byRef[r]; !have[r] && (t == nil || t.part != nil && r.Kind != "Namespace") {
			w.keepPublished(w.ref(r), cluster, name)
			w.stays[r] = true
		}
	}
}

// homeless reports that a release could not be rendered for a cluster that has nothing of
// it yet, so that it may not leave the ones it is in.
func (w *writer) homeless(id releaseID, failed *where) bool {
	for c := range failed.clusters {
		if !slices.ContainsFunc(w.kept[id], func(r object.Ref) bool { return w.isPublished(r, c) }) {
			return true
		}
	}
	return false
}

// isPublished reports whether an object is in a cluster's published tree.
func (w *writer) isPublished(r object.Ref, cluster string) bool {
	p := w.in.Published[cluster]
	if p.Built == nil {
		return false
	}
	e, ok := p.Built.Lookup(tree.Path(r))
	return ok && e.Blob != nil
}

// blind notes that policies came of a release that cannot be rendered: where everything
// goes is then not known.
func (w *writer) blind(id releaseID) {
	n := slices.IndexFunc(w.kept[id], func(r object.Ref) bool { return render.IsPolicyGroup(r.Group) })
	if n >= 0 && w.unsure == "" {
		w.unsure = fmt.Sprintf("it would change while %s cannot be rendered, which rendered %s", id.ref, w.kept[id][n])
	}
}

// held returns what the cluster with index i holds so far.
func (w *writer) held(i int) map[object.Ref]bool {
	have := make(map[object.Ref]bool, len(w.placed[i]))
	for _, p := range w.placed[i] {
		have[w.refs[p.ref]] = true
	}
	return have
}
