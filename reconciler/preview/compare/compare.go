// Package compare compares two plans: it says what going from one to the other does to every
// cluster, and what did it. Clusters that go from one tree to another alike are compared once.
package compare

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// Scope is what of two plans is compared.
type Scope struct {
	Clusters   []string // empty for all
	Namespaces []string // of objects; empty for all
}

// Plans reports what changes from base to head, within a scope. Twins are the zero value where no release reads a
// Secret, or may draw.
func Plans(base, head *plan.Plan, within Scope, twins Twins) (preview.Comparison, error) {
	c := comparer{
		base: base, head: head, within: within, items: map[object.Ref]*item{}, contents: map[change]*content{},
		exchanges: exchanges{},
		before:    side{plan: base, twin: twins.Base}, after: side{plan: head, twin: twins.Head},
	}
	c.groups = c.grouped()
	if err := c.known(); err != nil {
		return preview.Comparison{}, err
	}
	for g := range c.groups {
		if err := c.group(g); err != nil {
			return preview.Comparison{}, err
		}
	}
	c.left()
	moving(&c, c.items)
	c.detached()
	r := preview.Comparison{APIVersion: preview.APIVersion, Kind: preview.Kind, Base: base.Revision.Commit, Head: head.Revision.Commit}
	r.Changes = c.changes()
	r.Clusters = c.clusters()
	r.Regions = c.regions(r.Clusters)
	r.Services = c.exchanges.shown(&lister{groups: c.groups, known: map[string][]string{}})
	r.Guard = c.guard()
	r.Rollouts = stepsOf(&c)
	r.Short = short(base, head, &c.within)
	r.Totals = c.totals(&r)
	r.Diags, r.Already = divide(&c.before, &c.after)
	return r, nil
}

// comparer compares two plans.
type comparer struct {
	base, head *plan.Plan
	// before and after are these plans, each with its twin.
	before, after side
	within        Scope
	groups        []group
	items         map[object.Ref]*item
	contents      map[change]*content
	exchanges     exchanges
	private       map[object.Ref][]string // see secrets; nil until it is asked
}

func (s *Scope) cluster(name string) bool {
	return len(s.Clusters) == 0 || slices.Contains(s.Clusters, name)
}

func (s *Scope) object(r object.Ref) bool {
	return len(s.Namespaces) == 0 || slices.Contains(s.Namespaces, r.Namespace)
}

// group is clusters that go from one tree to another alike.
type group struct {
	names      []string
	base, head *plan.Cluster // of the first; nil where it is not registered
	cluster    preview.Cluster
}

// grouped divides the clusters into groups.
func (c *comparer) grouped() (groups []group) {
	type key struct {
		base, head files.ID
		was, is    bool
		held       string
		already    bool
		virtual    string
	}
	at := map[key]int{}
	for _, pair := range c.pairs() {
		name := nameOf(pair)
		if !c.within.cluster(name) {
			continue
		}
		k := key{was: pair[0] != nil, is: pair[1] != nil, base: idOf(c.from(pair)), held: heldOf(pair[1]), already: c.already(pair)}
		if k.is {
			k.head = idOf(pair[1].Tree)
		}
		if c.isVirtual(name) {
			k.virtual = name
		}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, group{base: pair[0], head: pair[1]})
		}
		groups[i].names = append(groups[i].names, name)
	}
	return groups
}

// known complains of a cluster that is asked for and that neither plan has.
func (c *comparer) known() error {
	var names []string
	for _, pair := range c.pairs() {
		names = append(names, nameOf(pair))
	}
	for _, name := range c.within.Clusters {
		if !slices.Contains(names, name) {
			slices.SortFunc(names, func(a, b string) int { return words.Distance(name, a) - words.Distance(name, b) })
			return fmt.Errorf("no version of the source has a cluster %q; there are %s", name, words.List(names))
		}
	}
	return nil
}

// pairs matches the clusters of two plans by name, in the order of names.
func (c *comparer) pairs() (all [][2]*plan.Cluster) {
	a, b := c.base.Clusters, c.head.Clusters
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			all, a = append(all, [2]*plan.Cluster{&a[0], nil}), a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			all, b = append(all, [2]*plan.Cluster{nil, &b[0]}), b[1:]
		default:
			all, a, b = append(all, [2]*plan.Cluster{&a[0], &b[0]}), a[1:], b[1:]
		}
	}
	return all
}

// from is the tree that a pair of clusters goes from. The tree of a cluster that was held is not
// what it has.
func (c *comparer) from(pair [2]*plan.Cluster) *files.Folder {
	base, head := pair[0], pair[1]
	switch {
	case base == nil:
		return nil
	case base.Held != nil && head != nil && head.Held == nil:
		return c.base.Published[base.Name].Built
	}
	return base.Tree
}

func nameOf(pair [2]*plan.Cluster) string {
	if pair[0] != nil {
		return pair[0].Name
	}
	return pair[1].Name
}

func idOf(f *files.Folder) files.ID {
	if f == nil {
		return files.ID{}
	}
	return f.ID()
}

func heldOf(c *plan.Cluster) string {
	if c == nil || c.Held == nil {
		return ""
	}
	return c.Held.Reason
}

func (c *comparer) isVirtual(cluster string) bool {
	for _, p := range []*plan.Plan{c.head, c.base} {
		if l := p.Expanded.Policies; l != nil {
			if i, ok := l.Position(cluster); ok && l.Virtual.At(i) != nil {
				return true
			}
		}
	}
	return false
}
