package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// missingAnnotation on a binding of the state lists the clusters that it names and that do
// not have the template, because it cannot be written there.
const missingAnnotation = "waybill.dev/missing-in"

// shares returns the clusters that have a template by a binding, which may be nil, itself
// or through what needs it, with their replicas.
func shares(b *karmada.ResourceBinding) map[string]int32 {
	if b == nil {
		return map[string]int32{}
	}
	has := make(map[string]int32, len(b.Spec.Clusters))
	for _, s := range b.Spec.RequiredBy {
		for _, c := range s.Clusters {
			has[c.Name] = 0
		}
	}
	for _, c := range b.Spec.Clusters {
		has[c.Name] = c.Replicas
	}
	for _, name := range missingIn(b) {
		delete(has, name)
	}
	return has
}

// truthful returns a binding as the state is to remember it: what held clusters have is
// what they had before, and clusters that do not have it are named.
func truthful(b, before *karmada.ResourceBinding, held map[string]string, missing []string) *karmada.ResourceBinding {
	if before == nil {
		before = &karmada.ResourceBinding{}
	}
	out := *b
	missing = slices.DeleteFunc(slices.Clone(missing), func(c string) bool { return held[c] != "" && sends(before, c) })
	for _, c := range missingIn(before) {
		if held[c] != "" && !slices.Contains(missing, c) {
			missing = append(missing, c)
		}
	}
	slices.Sort(missing)
	if differsIn(held, before, b) {
		// A Lazy policy has not placed all of it, so that it is looked at again.
		out.Annotations = maps.Clone(b.Annotations)
		delete(out.Annotations, templateAnnotation)
		out.Spec.Clusters = merge(before.Spec.Clusters, b.Spec.Clusters, held)
		out.Spec.RequiredBy = nil
		for _, s := range b.Spec.RequiredBy {
			s.Clusters = merge(snapshotOf(before, s), s.Clusters, held)
			out.Spec.RequiredBy = append(out.Spec.RequiredBy, s)
		}
		for _, s := range before.Spec.RequiredBy {
			if left := merge(s.Clusters, nil, held); snapshotOf(b, s) == nil && len(left) > 0 {
				s.Clusters = left
				out.Spec.RequiredBy = append(out.Spec.RequiredBy, s)
			}
		}
		slices.SortFunc(out.Spec.RequiredBy, bySnapshot)
	}
	return withMissing(&out, missing)
}

// merge takes what held clusters have from before, and what the others have from now.
func merge(before, now []target, held map[string]string) []target {
	var merged []target
	for _, c := range before {
		if held[c.Name] != "" {
			merged = append(merged, c)
		}
	}
	for _, c := range now {
		if held[c.Name] == "" {
			merged = append(merged, c)
		}
	}
	slices.SortFunc(merged, byName)
	return merged
}

// snapshotOf returns the clusters of a binding's snapshot; nil if it has none of that name.
func snapshotOf(b *karmada.ResourceBinding, of karmada.BindingSnapshot) []target {
	i := slices.IndexFunc(b.Spec.RequiredBy, func(s karmada.BindingSnapshot) bool { return bySnapshot(s, of) == 0 })
	if i < 0 {
		return nil
	}
	return b.Spec.RequiredBy[i].Clusters
}

func bySnapshot(a, b karmada.BindingSnapshot) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// missingIn returns the clusters that a binding names and that do not have the template.
func missingIn(b *karmada.ResourceBinding) []string {
	if list := b.Annotations[missingAnnotation]; list != "" {
		return strings.Split(list, ",")
	}
	return nil
}

// withMissing returns a binding that names the clusters which it is missing in.
func withMissing(b *karmada.ResourceBinding, missing []string) *karmada.ResourceBinding {
	list := strings.Join(missing, ",")
	if b.Annotations[missingAnnotation] == list {
		return b
	}
	out := *b
	out.Annotations = maps.Clone(b.Annotations)
	if list == "" {
		delete(out.Annotations, missingAnnotation)
		return &out
	}
	if out.Annotations == nil {
		out.Annotations = map[string]string{}
	}
	out.Annotations[missingAnnotation] = list
	return &out
}

// sends reports whether a binding, or nil, has its template in a cluster.
func sends(b *karmada.ResourceBinding, cluster string) bool {
	if b == nil || slices.Contains(missingIn(b), cluster) {
		return false
	}
	_, sends := reach(b, cluster)
	return sends
}

// differsIn reports whether two bindings of a template give a held cluster
// something else.
func differsIn(held map[string]string, before, after *karmada.ResourceBinding) bool {
	for cluster := range held {
		was, had := reach(before, cluster)
		is, has := reach(after, cluster)
		if had != has || was != is {
			return true
		}
	}
	return false
}

// reach reports whether a binding sends its template to a cluster, itself or
// through what needs it, and with how many replicas.
func reach(b *karmada.ResourceBinding, cluster string) (replicas int32, sends bool) {
	for _, c := range b.Spec.Clusters {
		if c.Name == cluster {
			return c.Replicas, true
		}
	}
	for _, s := range b.Spec.RequiredBy {
		for _, c := range s.Clusters {
			if c.Name == cluster {
				return 0, true
			}
		}
	}
	return 0, false
}

// carriedOut lists the bindings to remember: of what stays as it was the ones before, of
// the rest what the clusters really have.
func (b *builder) carriedOut(held map[string]string) []*karmada.ResourceBinding {
	old := b.in.State.Bindings
	bindings := make([]*karmada.ResourceBinding, 0, len(b.plan.Decisions))
	for i := range b.plan.Decisions {
		ref, bound := b.plan.Decisions[i].Template.Ref(), b.plan.Decisions[i].Binding
		if bound != nil && b.out.stays[ref] {
			bound = old[ref]
		} else if bound != nil {
			before, went := old[ref], reaches(bound)
			if bound = remembered(bound, before, held, b.out.missing[ref]); went && before == nil && !reaches(bound) {
				bound = nil // it is new, and for held clusters only
			}
		}
		if bound != nil {
			bindings = append(bindings, bound)
		}
	}
	for ref, before := range old {
		t := b.byRef[ref]
		switch {
		case t != nil && t.decision.Binding != nil:
		case b.out.stays[ref]:
			bindings = append(bindings, before)
		default: // it is gone, but from held clusters
			gone := *before
			gone.Spec.Clusters, gone.Spec.RequiredBy = nil, nil
			if left := remembered(&gone, before, held, nil); reaches(left) {
				bindings = append(bindings, left)
			}
		}
	}
	slices.SortFunc(bindings, func(x, y *karmada.ResourceBinding) int {
		return state.TemplateRef(x).Compare(state.TemplateRef(y))
	})
	return bindings
}

// reaches reports whether a binding sends its template anywhere.
func reaches(b *karmada.ResourceBinding) bool {
	return len(b.Spec.Clusters)+len(b.Spec.RequiredBy) > 0
}

// remembered returns the truth about a binding; the one before if that says the same.
func remembered(b, before *karmada.ResourceBinding, held map[string]string, missing []string) *karmada.ResourceBinding {
	if len(held) == 0 && len(missing) == 0 && b.Annotations[missingAnnotation] == "" {
		return b
	}
	if out := truthful(b, before, held, missing); before == nil || !state.Same(before, out) {
		return out
	}
	return before
}
