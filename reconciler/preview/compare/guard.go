package compare

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// guard is what is held of the head, that of the base apart.
func (c *comparer) guard() *preview.Guard {
	g, all := preview.Guard{Holds: []preview.Hold{}}, true
	for _, pair := range c.pairs() {
		if heldOf(pair[1]) == "" || !c.within.cluster(pair[1].Name) {
			continue
		}
		h := preview.Hold{Clusters: []string{pair[1].Name}, Reason: c.reason(pair[1])}
		if c.already(pair) {
			g.Already, all = hold(g.Already, h), false
			continue
		}
		h.Removals = c.removals(pair[1].Name, c.added(pair))
		g.Holds, all = hold(g.Holds, h), all && len(h.Removals) == len(pair[1].Held.Removals)
	}
	if len(g.Holds)+len(g.Already) == 0 {
		return nil
	}
	slices.SortStableFunc(g.Holds, func(a, b preview.Hold) int { return cmp.Compare(len(b.Removals), len(a.Removals)) })
	g.Digest = g.Adds().Digest()
	if all {
		g.Command = "waybill publish --allow-prune"
	}
	if all && !c.head.ByComment {
		g.Trailer = guard.AllowTrailer + ": " + c.head.Removals
	}
	return &g
}

// hold adds a hold to those that are alike.
func hold(all []preview.Hold, h preview.Hold) []preview.Hold {
	n := slices.IndexFunc(all, func(o preview.Hold) bool { return o.Reason == h.Reason && slices.Equal(o.Removals, h.Removals) })
	if n < 0 {
		return append(all, h)
	}
	all[n].Clusters = append(all[n].Clusters, h.Clusters...)
	return all
}

// already reports a cluster that is held in both plans, and loses nothing more in the head.
func (c *comparer) already(pair [2]*plan.Cluster) bool {
	return heldOf(pair[0]) != "" && heldOf(pair[1]) != "" && len(c.added(pair)) == 0
}

// added are the removals of a held cluster that it would not lose in the base.
func (c *comparer) added(pair [2]*plan.Cluster) []guard.Removal {
	if pair[0] == nil {
		return pair[1].Held.Removals
	}
	return slices.DeleteFunc(slices.Clone(pair[1].Held.Removals), func(r guard.Removal) bool {
		return !c.holds(pair[0], r.Object)
	})
}

// holds reports whether a cluster of the base would hold an object.
func (c *comparer) holds(cluster *plan.Cluster, r object.Ref) bool {
	if l := c.base.Expanded.Policies; l != nil {
		if i, ok := l.Position(cluster.Name); ok {
			r = l.Virtual.At(i).Ref(r)
		}
	}
	_, ok := cluster.Tree.Lookup(tree.Path(r))
	return ok
}
