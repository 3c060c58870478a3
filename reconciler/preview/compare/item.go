package compare

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
)

// item is what changes of one object. Clusters are known by the numbers of their groups.
type item struct {
	ref            object.Ref
	added, removed []int
	detached       []string
	elsewhere      int // in how many registered clusters it still is, where it is detached
	scaled         []byGroup[[2]int32]
	changed        []byGroup[*content]
	left           []byGroup[left]
	stuck          map[left][]string // clusters in which a part of the plan is not carried out
	moves          []preview.Move
	replicas       preview.Span
	counted        bool // its kind has replicas
}

// byGroup is something that is the same in some groups.
type byGroup[T any] struct {
	what   T
	groups []int
}

// left is why something is left as it is.
type left struct {
	reason reason.Reason
	kept   bool
}

// in is it in clusters, as it is shown.
func (l left) in(clusters []string) preview.Left {
	return preview.Left{Clusters: clusters, Code: l.reason, Reason: l.reason.Message(), Kept: l.kept}
}

func (c *comparer) item(r object.Ref) *item {
	it, ok := c.items[r]
	if !ok {
		it = &item{ref: r}
		c.items[r] = it
	}
	return it
}

func (it *item) leave(l left, group int) {
	it.left = in(it.left, l, group, func(o left) bool { return o == l })
}

func (it *item) scale(s [2]int32, group int) {
	it.scaled = in(it.scaled, s, group, func(o [2]int32) bool { return o == s })
}

func (it *item) change(c *content, group int) {
	if len(c.fields) > 0 {
		it.changed = in(it.changed, c, group, func(o *content) bool { return o == c || o.key == c.key })
	}
}

// in notes that something is so in one more group.
func in[T any](all []byGroup[T], what T, group int, same func(T) bool) []byGroup[T] {
	i := slices.IndexFunc(all, func(b byGroup[T]) bool { return same(b.what) })
	if i < 0 {
		i = len(all)
		all = append(all, byGroup[T]{what: what})
	}
	all[i].groups = append(all[i].groups, group)
	return all
}

// left notes what of the head is not carried out, and would have been carried out, or was no
// change, in the base. What held clusters do not get is known from their trees.
func (c *comparer) left() {
	for ref, cells := range c.head.Left {
		for cluster, l := range cells.All() {
			name := c.head.Clusters[cluster].Name
			if !c.within.object(ref) || !c.within.cluster(name) || l.Reason == reason.Held || c.base.LeftAt(ref, name) == l {
				continue
			}
			it := c.item(ref)
			if it.stuck == nil {
				it.stuck = map[left][]string{}
			}
			key := left{l.Reason, l.Kept}
			it.stuck[key] = append(it.stuck[key], name)
		}
	}
}

// moving notes how items that change leave clusters for others, where that begins with the head.
func moving(c *comparer, items map[object.Ref]*item) {
	for _, m := range c.head.Moves {
		it := items[m.Object]
		if it == nil || m.Began || !c.within.cluster(m.From) || slices.ContainsFunc(c.base.Moves, m.IsThatOf) {
			continue
		}
		it.moves = append(it.moves, preview.Move{From: m.From, How: m.How(), Nowhere: m.Nowhere()})
	}
}

// detached notes what stays in clusters that are no longer registered, where nothing is done elsewhere in place of that.
func (c *comparer) detached() {
	gone := map[string]bool{}
	for _, g := range c.groups {
		for _, name := range g.names {
			gone[name] = g.head == nil
		}
	}
	head := decisions(c.head)
	for i := range c.base.Decisions {
		d := &c.base.Decisions[i]
		isGone := func(t plan.Target) bool { return gone[t.Name] }
		if !c.within.object(d.Ref()) || !d.Template.IsDelivered() || !slices.ContainsFunc(d.Targets, isGone) {
			continue
		}
		if it, is := c.items[d.Ref()]; is && len(it.added)+len(it.scaled) > 0 {
			continue
		}
		it := c.item(d.Ref())
		for _, t := range d.Targets {
			if isGone(t) {
				it.detached = append(it.detached, t.Name)
			}
		}
		if now := head[d.Ref()]; now != nil {
			it.elsewhere = len(now.Targets)
		}
	}
}

func decisions(p *plan.Plan) map[object.Ref]*plan.Decision {
	out := make(map[object.Ref]*plan.Decision, len(p.Decisions))
	for i := range p.Decisions {
		out[p.Decisions[i].Ref()] = &p.Decisions[i]
	}
	return out
}

// verb sums an item up in the word that matters most.
func (it *item) verb() preview.Verb {
	switch {
	case len(it.added) > 0 && len(it.removed)+len(it.moves) > 0:
		return preview.Moves
	case len(it.added) > 0:
		return preview.Appears
	case len(it.removed) > 0:
		return preview.Disappears
	case len(it.scaled) > 0:
		return preview.Scales
	case len(it.changed) > 0:
		return preview.Changes
	case len(it.stuck) > 0:
		return preview.Frozen
	case len(it.left) > 0:
		return preview.Held
	}
	return preview.Stays
}
