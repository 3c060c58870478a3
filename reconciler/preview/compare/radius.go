package compare

import (
	"cmp"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
)

// clusters are those in which anything changes.
func (c *comparer) clusters() []preview.Cluster {
	regions := c.regionsOf()
	all := []preview.Cluster{}
	for _, g := range c.groups {
		for _, name := range g.names {
			if cl := g.cluster; !isCalm(cl) {
				cl.Name, cl.Region = name, regions[name]
				all = append(all, cl)
			}
		}
	}
	slices.SortFunc(all, func(a, b preview.Cluster) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// isCalm reports a cluster in which nothing changes.
func isCalm(c preview.Cluster) bool {
	return c.Added+c.Removed+c.Changed+c.Left == 0 && (c.Held == "" || c.Already) && !c.New && !c.Gone
}

// regionsOf tells the regions of clusters.
func (c *comparer) regionsOf() map[string]string {
	out := map[string]string{}
	for _, p := range []*plan.Plan{c.base, c.head} {
		if l := p.Expanded.Policies; l != nil {
			for _, cl := range l.Set.Clusters {
				out[cl.Spec.Name] = cl.Spec.Spec.Region
			}
		}
	}
	return out
}

// regions sums clusters up; nil if no cluster has a region.
func (c *comparer) regions(changed []preview.Cluster) []preview.Region {
	regions := c.regionsOf()
	by := map[string]*preview.Region{}
	for _, g := range c.groups {
		for _, name := range g.names {
			r := by[regions[name]]
			if r == nil {
				r = &preview.Region{Name: regions[name]}
				by[r.Name] = r
			}
			r.Of++
		}
	}
	if len(by) == 0 || len(by) == 1 && by[""] != nil {
		return nil
	}
	for _, cl := range changed {
		r := by[cl.Region]
		r.Clusters++
		r.Added, r.Removed, r.Changed = r.Added+cl.Added, r.Removed+cl.Removed, r.Changed+cl.Changed
		r.Replicas.Before, r.Replicas.After = r.Replicas.Before+cl.Replicas.Before, r.Replicas.After+cl.Replicas.After
	}
	var all []preview.Region
	for _, r := range by {
		if r.Clusters > 0 {
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b preview.Region) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// totals sum a comparison up.
func (c *comparer) totals(r *preview.Comparison) preview.Totals {
	t := preview.Totals{Verbs: map[preview.Verb]int{}, Clusters: len(r.Clusters)}
	for _, g := range c.groups {
		t.Of += len(g.names)
	}
	for _, ch := range r.Changes {
		t.Objects += len(ch.Objects)
		t.Verbs[ch.Verb] += len(ch.Objects)
	}
	for _, cl := range r.Clusters {
		t.Added, t.Removed, t.Changed = t.Added+cl.Added, t.Removed+cl.Removed, t.Changed+cl.Changed
		t.Replicas.Before, t.Replicas.After = t.Replicas.Before+cl.Replicas.Before, t.Replicas.After+cl.Replicas.After
	}
	return t
}
