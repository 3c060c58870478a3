package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// keepPublished leaves an object in the cluster with index i as it was last published
// there; false if it was not.
func (w *writer) keepPublished(ref int32, i int) bool {
	b := w.published(w.refs[ref], w.fleet.Clusters()[i].Name)
	if b != nil {
		w.placed[i] = append(w.placed[i], placed{ref, w.blob(b)})
	}
	return b != nil
}

// published returns an object's manifest in a cluster's published tree; nil if it has none.
func (w *writer) published(r object.Ref, cluster string) *files.Blob {
	p := w.in.Published[cluster]
	if p.Built == nil {
		return nil
	}
	e, _ := p.Built.Lookup(tree.Path(r))
	return e.Blob
}

// leave leaves a template in every cluster as it was last published. Nothing is done of
// what was decided about it, so that its binding stays, too.
func (w *writer) leave(t *template) {
	ref, left := w.ref(t.object.Ref()), false
	for i, c := range w.fleet.Clusters() {
		if !w.isBound(t.object.Ref(), c.Name) && w.keepPublished(ref, i) {
			left = true
		}
	}
	if left || w.in.State.Bindings[t.object.Ref()] != nil {
		w.stays[t.object.Ref()] = true
		w.still = append(w.still, t)
	}
}

// keepUnbound leaves an object that a cluster's own directory has, and that cannot be
// written there, in the clusters that it comes from.
func (w *writer) keepUnbound(ref int32) {
	for i, c := range w.fleet.Clusters() {
		if !w.isBound(w.refs[ref], c.Name) && !w.has(i, w.refs[ref]) {
			w.keepPublished(ref, i)
		}
	}
}

// keepUnplaced leaves what stays and is no template, because a held cluster's own directory
// has it now, in the clusters that it comes from.
func (w *writer) keepUnplaced() {
	for _, r := range slices.SortedFunc(maps.Keys(w.stays), object.Ref.Compare) {
		if w.byRef[r] == nil {
			w.keepUnbound(w.ref(r))
		}
	}
}

// keepDependencies leaves what a template that is left where it is has pulled along, where
// it is.
func (w *writer) keepDependencies() {
	for _, t := range w.still {
		if t.policy == nil || !t.policy.Spec.PropagateDeps {
			continue
		}
		name := state.BindingName(t.object.Ref())
		needed := w.pulledBefore(func(s karmada.BindingSnapshot) bool {
			return s.Namespace == t.object.Ref().Namespace && s.Name == name
		})
		for i, c := range w.fleet.Clusters() {
			if len(needed) == 0 || w.published(t.object.Ref(), c.Name) == nil {
				continue
			}
			have := w.held(i)
			for _, dep := range needed {
				if !have[dep.object.Ref()] {
					w.keepPublished(w.ref(dep.object.Ref()), i)
				}
			}
		}
	}
}

// keepReleases leaves what came of a release before that cannot be rendered now,
// unless somebody else has it now.
func (w *writer) keepReleases() {
	w.kept = w.releases.kept()
	for _, id := range slices.SortedFunc(maps.Keys(w.kept), compareIDs) {
		failed := w.releases.failed[id]
		homeless := w.homeless(id, failed)
		for i, c := range w.fleet.Clusters() {
			here := id.cluster == "" || id.cluster == c.Name
			if here && (failed.has(c.Name) || homeless && !failed.aimed[c.Name]) {
				w.keepRelease(id, i)
			}
		}
		w.blind(id)
	}
}

// keepRelease leaves what came of a release in the cluster with index i.
func (w *writer) keepRelease(id releaseID, i int) {
	have := w.held(i)
	for _, r := range w.kept[id] {
		if t := w.byRef[r]; !have[r] && (t == nil || t.part != nil && r.Kind != "Namespace") {
			w.keepPublished(w.ref(r), i)
			w.stays[r] = true
		}
	}
}

// homeless reports that a release could not be rendered for a cluster that had nothing of
// it, so that it may not leave the ones it is in.
func (w *writer) homeless(id releaseID, failed *where) bool {
	for c := range failed.clusters {
		if !slices.ContainsFunc(w.kept[id], func(r object.Ref) bool { return sends(w.in.State.Bindings[r], c) }) {
			return true
		}
	}
	return false
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
