package compare

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
)

// folders are what stands in the folders of clusters, as far as it was asked for.
type folders struct {
	plan  *plan.Plan
	known map[string]map[object.Ref]plan.Bound
}

// find returns what a cluster has by its folder; false if it has none of that name.
func (f *folders) find(cluster string, r object.Ref) (plan.Bound, bool) {
	if f.known[cluster] == nil {
		if f.known == nil {
			f.known = map[string]map[object.Ref]plan.Bound{}
		}
		f.known[cluster] = map[object.Ref]plan.Bound{}
		for _, b := range f.plan.Bound(cluster) {
			f.known[cluster][b.Object.Ref()] = b
		}
	}
	b, ok := f.known[cluster][r]
	return b, ok
}

// ofFolder says what comes of an object that clusters have by their folders; nothing if they do not.
func (w *why) ofFolder(it *item) []preview.Cause {
	cluster, ok := it.somewhere(w.comparer)
	if !ok {
		return nil
	}
	base, had := w.before.find(cluster, it.ref)
	head, has := w.after.find(cluster, it.ref)
	switch {
	case !had && !has:
		return nil
	case !had:
		return []preview.Cause{{Message: "new", Pos: head.Object.Origin()}}
	case !has:
		return []preview.Cause{{Message: "removed", Pos: base.Object.Origin()}}
	case head.Of == (object.Ref{}):
		return []preview.Cause{{Message: preview.Edited, Pos: head.Object.Origin()}}
	}
	was, _ := w.before.find(cluster, head.Of)
	is, _ := w.after.find(cluster, head.Of)
	if was.Object != nil && is.Object != nil && string(was.Object.YAML()) != string(is.Object.YAML()) {
		return edit{base: was.Object, head: is.Object, what: nameOfRelease(is.Object)}.causes()
	}
	return []preview.Cause{renderedOtherwise(is.Object)}
}

// somewhere is a cluster in which anything of the item changes; false if there is none.
func (it *item) somewhere(c *comparer) (string, bool) {
	groups := it.added
	groups = append(slices.Clip(groups), it.removed...)
	for _, s := range it.changed {
		groups = append(groups, s.groups...)
	}
	for _, s := range it.scaled {
		groups = append(groups, s.groups...)
	}
	if len(groups) == 0 {
		return "", false
	}
	return c.groups[groups[0]].names[0], true
}
