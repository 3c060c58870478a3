package state

import (
	"maps"
	"slices"

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

// Left returns where objects are not as decided: by object and cluster.
func (s *State) Left() map[object.Ref]map[string]Left {
	all := map[object.Ref]map[string]Left{}
	note := func(r object.Ref, cluster string, l Left) {
		if all[r] == nil {
			all[r] = map[string]Left{}
		}
		all[r][cluster] = l
	}
	for r, b := range s.Bindings {
		for _, item := range b.Status.AggregatedStatus {
			note(r, item.ClusterName, Left{Kept: item.Applied, Reason: reason.Reason(item.Reason)})
		}
	}
	for r, clusters := range s.Kept {
		for _, c := range clusters {
			note(r, c, Left{Kept: true})
		}
	}
	for r, clusters := range s.Missed {
		for _, c := range clusters {
			note(r, c, Left{Reason: reason.Nowhere}) // for what it waits is not recorded
		}
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
		for _, cluster := range slices.Sorted(maps.Keys(c.Left[r])) {
			switch l := c.Left[r][cluster]; {
			case l.Kept:
				k.Clusters = append(k.Clusters, cluster)
			case l.Reason.Freezes():
				k.Missing = append(k.Missing, cluster)
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
func withStatus(b *karmada.ResourceBinding, left map[string]Left) *karmada.ResourceBinding {
	var status []karmada.AggregatedStatusItem
	for _, cluster := range slices.Sorted(maps.Keys(left)) {
		l := left[cluster]
		status = append(status, karmada.AggregatedStatusItem{
			ClusterName: cluster, Applied: l.Kept, AppliedMessage: l.Reason.Message(), Reason: string(l.Reason),
		})
	}
	if slices.Equal(b.Status.AggregatedStatus, status) {
		return b
	}
	out := *b
	out.Status.AggregatedStatus = status
	return &out
}

// leftOver returns the last binding of an object that nobody sends any longer, with the
// clusters that keep it.
func leftOver(old *karmada.ResourceBinding, left map[string]Left) *karmada.ResourceBinding {
	gone := func(c karmada.TargetCluster) bool { return !left[c.Name].Kept }
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
