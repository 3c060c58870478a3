package plan

import (
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// keepPublished leaves an object in a cluster as it was last published there; false
// if it was not.
func (w *writer) keepPublished(ref int32, cluster int, name string) bool {
	p := w.in.Published[name]
	if p.Built == nil {
		return false
	}
	e, ok := p.Built.Lookup(tree.Path(w.refs[ref]))
	if !ok || e.Blob == nil {
		return false
	}
	w.placed[cluster] = append(w.placed[cluster], placed{ref, w.blob(e.Blob)})
	return true
}

// keepElsewhere leaves an object in the clusters that it would leave: where it
// should go instead it could not be written.
func (w *writer) keepElsewhere(ref int32, targets []target) {
	for i, c := range w.fleet.Clusters() {
		if !slices.ContainsFunc(targets, func(t target) bool { return t.Name == c.Name }) {
			w.keepPublished(ref, i, c.Name)
		}
	}
}

// keepReleases leaves what came of a release before that cannot be rendered now,
// unless somebody else has it now.
func (w *writer) keepReleases() {
	w.kept, w.stays = w.releases.kept(), map[object.Ref]bool{}
	for _, id := range slices.SortedFunc(maps.Keys(w.kept), compareIDs) {
		for i, c := range w.fleet.Clusters() {
			if where := w.releases.failed[id]; id.cluster != "" && id.cluster != c.Name || where != nil && !where[c.Name] {
				continue
			}
			have := w.held(i)
			for _, r := range w.kept[id] {
				if t := w.byRef[r]; !have[r] && (t == nil || t.part != nil && r.Kind != "Namespace") {
					w.keepPublished(w.ref(r), i, c.Name)
					w.stays[r] = true
				}
			}
		}
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
