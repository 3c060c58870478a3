package state

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
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

// Compare orders by clusters.
func (l LeftIn) Compare(o LeftIn) int { return strings.Compare(l.Cluster, o.Cluster) }

// LeftAt is how an object is left in a cluster; false if it is as decided there.
func LeftAt(in []LeftIn, cluster string) (Left, bool) {
	i, isLeft := slices.BinarySearchFunc(in, LeftIn{Cluster: cluster}, LeftIn.Compare)
	if !isLeft {
		return Left{}, false
	}
	return in[i].Left, true
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
		slices.SortFunc(in, LeftIn.Compare)
	}
	return all
}

// recorded returns the bindings of content, with what is left, in the order of their
// templates, and what is kept without one.
func (c *Content) recorded(earlier *State) (bindings []*karmada.ResourceBinding, without []kept) {
	decided := make(map[object.Ref]bool, len(c.Bindings))
	for _, b := range c.Bindings {
		r := TemplateRef(b)
		decided[r] = true
		bindings = append(bindings, withStatus(b, c.Left[r]))
	}
	others := slices.AppendSeq(slices.Collect(maps.Keys(c.Left)), maps.Keys(c.Unrendered))
	slices.SortFunc(others, object.Ref.Compare)
	for _, r := range slices.Compact(others) {
		if decided[r] {
			continue
		}
		if old := earlier.binding(r); old != nil {
			switch b := leftOver(old, c.Left[r]); {
			case !isNowhere(b):
				bindings = append(bindings, b)
			case c.Unrendered[r]:
				b.Status.Conditions = nil // it is placed anew when it can be rendered
				bindings = append(bindings, b)
			}
			continue
		}
		k := kept{Object: r}
		for _, l := range c.Left[r] {
			switch {
			case l.Kept:
				k.Clusters = append(k.Clusters, l.Cluster)
			case l.Reason.Freezes():
				k.Missing = append(k.Missing, l.Cluster)
			}
		}
		if len(k.Clusters)+len(k.Missing) > 0 {
			without = append(without, k)
		}
	}
	slices.SortFunc(bindings, func(x, y *karmada.ResourceBinding) int { return TemplateRef(x).Compare(TemplateRef(y)) })
	return bindings, without
}

// binding returns the binding of a template; nil if there is none.
func (s *State) binding(r object.Ref) *karmada.ResourceBinding {
	if s == nil {
		return nil
	}
	return s.Bindings[r]
}

// withStatus returns a binding that says where its object is not as decided.
func withStatus(b *karmada.ResourceBinding, left []LeftIn) *karmada.ResourceBinding {
	is := said{}
	if slices.EqualFunc(b.Status.AggregatedStatus, left, func(s karmada.AggregatedStatusItem, l LeftIn) bool { return s == is.status(l) }) {
		return b // which is so most of the time
	}
	out := *b
	out.Status.AggregatedStatus = slices.Grow([]karmada.AggregatedStatusItem(nil), len(left))
	for _, l := range left {
		out.Status.AggregatedStatus = append(out.Status.AggregatedStatus, is.status(l))
	}
	return &out
}

// said is a reason and its sentence. Most clusters have the same.
type said struct {
	reason  reason.Reason
	message string
}

// status says in Karmada's words how an object is left.
func (s *said) status(l LeftIn) karmada.AggregatedStatusItem {
	if s.reason != l.Reason {
		s.reason, s.message = l.Reason, l.Reason.Message()
	}
	return karmada.AggregatedStatusItem{ClusterName: l.Cluster, Applied: l.Kept, AppliedMessage: s.message, Reason: string(l.Reason)}
}

// leftOver returns the last binding of an object that nobody sends any longer, with the
// clusters that keep it.
func leftOver(old *karmada.ResourceBinding, left []LeftIn) *karmada.ResourceBinding {
	gone := func(c karmada.TargetCluster) bool {
		l, _ := LeftAt(left, c.Name)
		return !l.Kept
	}
	out := *old
	out.Spec.Clusters = slices.DeleteFunc(slices.Clone(old.Spec.Clusters), gone)
	out.Spec.RequiredBy = nil
	for _, s := range old.Spec.RequiredBy {
		if s.Clusters = slices.DeleteFunc(slices.Clone(s.Clusters), gone); len(s.Clusters) > 0 {
			out.Spec.RequiredBy = append(out.Spec.RequiredBy, s)
		}
	}
	return withStatus(&out, left)
}

// isNowhere reports the binding of an object that no cluster is to have, or keeps.
func isNowhere(b *karmada.ResourceBinding) bool {
	isApplied := func(s karmada.AggregatedStatusItem) bool { return s.Applied }
	return len(b.Spec.Clusters)+len(b.Spec.RequiredBy) == 0 && !slices.ContainsFunc(b.Status.AggregatedStatus, isApplied)
}
