package groups

import (
	"cmp"
	"iter"
	"slices"
)

// Group is what holds of clusters.
type Group[V comparable] struct {
	Is       V
	Clusters Set
}

// By has clusters by what holds of them: no cluster is in two groups, no two groups have the same, and none is empty. They are in the
// order of their first clusters, so that two are equal if their groups are.
type By[V comparable] []Group[V]

// Each groups clusters by what holds of each; of those for which that is false nothing is known.
func Each[V comparable](clusters iter.Seq[int], is func(cluster int) (V, bool)) By[V] {
	var b Builder[V]
	for c := range clusters {
		if v, known := is(c); known {
			b.Add(c, v)
		}
	}
	return b.By()
}

// Builder puts clusters into groups, one after the other. The zero value has none.
type Builder[V comparable] struct {
	by   By[V]
	last int       // the group of the cluster before, in which most are, too
	at   map[V]int // where the group of a value is; nil as long as there are few
}

// few are as many groups as are looked through to find one.
const few = 8

// Add says of a cluster that is in no group yet what holds of it.
func (b *Builder[V]) Add(cluster int, v V) {
	if len(b.by) == 0 || b.by[b.last].Is != v {
		b.last = b.index(v)
	}
	in := &b.by[b.last].Clusters
	in.words = with(in.words, cluster)
}

// index is where the group of a value is, which may be new.
func (b *Builder[V]) index(v V) int {
	n, known := b.at[v]
	if len(b.by) <= few {
		n = slices.IndexFunc(b.by, func(g Group[V]) bool { return g.Is == v })
		known = n >= 0
	}
	if known {
		return n
	}
	if len(b.by) == few {
		b.at = map[V]int{}
		for n := range b.by {
			b.at[b.by[n].Is] = n
		}
	}
	n, b.by = len(b.by), append(b.by, Group[V]{Is: v})
	if b.at != nil {
		b.at[v] = n
	}
	return n
}

// By are the groups; nothing may be added afterwards.
func (b *Builder[V]) By() By[V] { return ordered(b.by) }

// At is what holds of a cluster; false if that is not known.
func (b By[V]) At(cluster int) (v V, known bool) {
	for n := range b {
		if b[n].Clusters.Has(cluster) {
			return b[n].Is, true
		}
	}
	return v, false
}

// Clusters are those of all groups.
func (b By[V]) Clusters() Set { return b.Where(func(V) bool { return true }) }

// Where are the clusters of which something is true of what holds of them.
func (b By[V]) Where(is func(V) bool) (all Set) {
	for n := range b {
		if is(b[n].Is) {
			all = all.Or(b[n].Clusters)
		}
	}
	return all
}

// With has something hold of clusters, whatever held of them.
func (b By[V]) With(v V, clusters Set) By[V] {
	if clusters.IsEmpty() {
		return b
	}
	out := make(By[V], 0, len(b)+1)
	for _, g := range b {
		if g.Is == v {
			clusters = clusters.Or(g.Clusters)
		} else if g.Clusters = g.Clusters.Without(clusters); !g.Clusters.IsEmpty() {
			out = append(out, g)
		}
	}
	return ordered(append(out, Group[V]{v, clusters}))
}

// Without are the groups without some clusters.
func (b By[V]) Without(clusters Set) By[V] {
	out := make(By[V], 0, len(b))
	for _, g := range b {
		if g.Clusters = g.Clusters.Without(clusters); !g.Clusters.IsEmpty() {
			out = append(out, g)
		}
	}
	return ordered(out)
}

func ordered[V comparable](b By[V]) By[V] {
	slices.SortFunc(b, func(x, y Group[V]) int { return cmp.Compare(x.Clusters.first(), y.Clusters.first()) })
	return b
}

// Join has hold of the clusters of a what f makes of that and of what b knows of them, if anything.
func Join[V, W, X comparable](a By[V], b By[W], f func(v V, w W, known bool) X) By[X] {
	var out By[X]
	add := func(x X, clusters Set) { out = out.With(x, clusters) }
	for _, g := range a {
		rest := g.Clusters
		for _, h := range b {
			add(f(g.Is, h.Is, true), rest.And(h.Clusters))
			rest = rest.Without(h.Clusters)
		}
		var none W
		add(f(g.Is, none, false), rest)
	}
	return out
}

// All are the clusters in their order, with what holds of each.
func (b By[V]) All() iter.Seq2[int, V] {
	return func(yield func(int, V) bool) {
		for c := range b.Clusters().All() {
			v, _ := b.At(c)
			if !yield(c, v) {
				return
			}
		}
	}
}
