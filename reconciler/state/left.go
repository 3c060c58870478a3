package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
)

// What is left as it is, is recorded in Karmada's own words: spec.clusters of a binding is
// what was decided, status.aggregatedStatus lists the clusters where the object is not as
// decided, with the reason, and whether it is there. A binding whose template has gone, or
// has no policy any longer, stays as long as some cluster keeps the object, or a release that
// rendered it cannot be rendered. What is left and never had a binding, such as a Namespace that
// goes along, stands in a table of its own.

// Left is an object in a cluster that is not as decided.
type Left struct {
	Kept   bool // the object is there; otherwise it is missed
	Reason reason.Reason
}

// LeftIn is an object in a cluster, by its name, that is not as decided.
type LeftIn struct {
	Left

	Cluster string
}

// Left returns where objects are not as decided: by object, in the order of clusters.
func (s *State) Left() map[object.Ref][]LeftIn {
	all := map[object.Ref][]LeftIn{}
	for r, b := range s.Bindings {
		for _, item := range b.Status.AggregatedStatus {
			all[r] = append(all[r], LeftIn{Left{Kept: item.Applied, Reason: reason.Reason(item.Reason)}, item.ClusterName})
		}
	}
	for r, clusters := range s.Kept {
		for _, c := range clusters {
			all[r] = append(all[r], LeftIn{Left{Kept: true}, c})
		}
	}
	for r, clusters := range s.Missed {
		for _, c := range clusters {
			all[r] = append(all[r], LeftIn{Left{Reason: reason.Nowhere}, c}) // for what it waits is not recorded
		}
	}
	for _, in := range all {
		slices.SortFunc(in, func(a, b LeftIn) int { return strings.Compare(a.Cluster, b.Cluster) })
	}
	return all
}

// recorded returns the bindings of content, with what is left, in the order of their
// templates, and what is kept without one.
func (c *Content) recorded(earlier *State) (bindings []*karmada.ResourceBinding, without []kept) {
	decided := make(map[object.Ref]bool, len(c.Bindings))
	said := statuses{of: c, lists: map[string][]karmada.AggregatedStatusItem{}, same: map[[2]*karmada.AggregatedStatusItem]bool{}}
	for _, b := range c.Bindings {
		r := TemplateRef(b)
		decided[r] = true
		bindings = append(bindings, said.with(b, c.Left[r]))
	}
	others := slices.AppendSeq(slices.Collect(maps.Keys(c.Left)), maps.Keys(c.Unrendered))
	slices.SortFunc(others, object.Ref.Compare)
	for _, r := range slices.Compact(others) {
		if decided[r] {
			continue
		}
		if old := earlier.binding(r); old != nil {
			b := said.leftOver(old, c.Left[r])
			isGone := isNowhere(b)
			if isGone && c.Unrendered[r] {
				b.Status.Conditions = nil // it is placed anew when it can be rendered
			}
			if !isGone || c.Unrendered[r] {
				bindings = append(bindings, b)
				continue
			}
		}
		if k := c.unbound(r); len(k.Clusters)+len(k.Missing) > 0 {
			without = append(without, k)
		}
	}
	slices.SortFunc(bindings, func(x, y *karmada.ResourceBinding) int { return TemplateRef(x).Compare(TemplateRef(y)) })
	return bindings, without
}

// unbound says where an object is kept that has no binding, and where it is missing because of something elsewhere: what else is missing is
// found again.
func (c *Content) unbound(r object.Ref) kept {
	k := kept{Object: r}
	for i, l := range c.Left[r].All() {
		switch {
		case l.Kept:
			k.Clusters = append(k.Clusters, c.cluster(i))
		case l.Reason.Follows():
			k.Missing = append(k.Missing, c.cluster(i))
		}
	}
	return k
}

// binding returns the binding of a template; nil if there is none.
func (s *State) binding(r object.Ref) *karmada.ResourceBinding {
	if s == nil {
		return nil
	}
	return s.Bindings[r]
}

// cluster is the name of a cluster, by its index.
func (c *Content) cluster(i int) string { return c.Clusters[i].Spec.Name }

// statuses are what bindings say of where their objects are not as decided. Many say the same, which is then one list.
type statuses struct {
	of    *Content
	lists map[string][]karmada.AggregatedStatusItem // by what is left
	same  map[[2]*karmada.AggregatedStatusItem]bool // lists of equal length that were compared, by their first items
}

// with returns a binding that says where its object is not as decided.
func (s *statuses) with(b *karmada.ResourceBinding, left groups.By[Left]) *karmada.ResourceBinding {
	list := s.list(left)
	if s.isSame(b.Status.AggregatedStatus, list) {
		return b // which is so most of the time
	}
	out := *b
	out.Status.AggregatedStatus = list
	return &out
}

// list says in Karmada's words how an object is left.
func (s *statuses) list(left groups.By[Left]) []karmada.AggregatedStatusItem {
	if len(left) == 0 {
		return nil
	}
	var key []byte
	for _, g := range left {
		key = fmt.Appendf(key, "%t %s %s\n", g.Is.Kept, g.Is.Reason, g.Clusters)
	}
	list, known := s.lists[string(key)]
	if !known {
		for i, l := range left.All() {
			list = append(list, karmada.AggregatedStatusItem{
				ClusterName: s.of.cluster(i), Applied: l.Kept, AppliedMessage: l.Reason.Message(), Reason: string(l.Reason),
			})
		}
		s.lists[string(key)] = list
	}
	return list
}

// isSame reports that two lists say the same.
func (s *statuses) isSame(a, b []karmada.AggregatedStatusItem) bool {
	if len(a) != len(b) || len(a) == 0 {
		return len(a) == len(b)
	}
	pair := [2]*karmada.AggregatedStatusItem{&a[0], &b[0]}
	is, known := s.same[pair]
	if !known {
		is = slices.Equal(a, b)
		s.same[pair] = is
	}
	return is
}

// leftOver returns the last binding of an object that nobody sends any longer, with the
// clusters that keep it.
func (s *statuses) leftOver(old *karmada.ResourceBinding, left groups.By[Left]) *karmada.ResourceBinding {
	keeps := map[string]bool{}
	for i, l := range left.All() {
		keeps[s.of.cluster(i)] = l.Kept
	}
	gone := func(c karmada.TargetCluster) bool { return !keeps[c.Name] }
	out := *old
	out.Spec.Clusters = slices.DeleteFunc(slices.Clone(old.Spec.Clusters), gone)
	out.Spec.RequiredBy = nil
	for _, s := range old.Spec.RequiredBy {
		if s.Clusters = slices.DeleteFunc(slices.Clone(s.Clusters), gone); len(s.Clusters) > 0 {
			out.Spec.RequiredBy = append(out.Spec.RequiredBy, s)
		}
	}
	return s.with(&out, left)
}

// isNowhere reports the binding of an object that no cluster is to have, or keeps.
func isNowhere(b *karmada.ResourceBinding) bool {
	isApplied := func(s karmada.AggregatedStatusItem) bool { return s.Applied }
	return len(b.Spec.Clusters)+len(b.Spec.RequiredBy) == 0 && !slices.ContainsFunc(b.Status.AggregatedStatus, isApplied)
}
