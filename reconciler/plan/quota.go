package plan

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// enforceQuotas takes back what FederatedResourceQuotas do not allow over all
// clusters (Karmada section E.7, with enforcement on). Templates whose demand does
// not grow go first, so that what runs is not displaced by what is new; then names
// decide. What is over the quota keeps its previous clusters and replicas.
func (b *builder) enforceQuotas() {
	for _, q := range b.set.Quotas {
		var in []*template
		for _, t := range b.templates {
			if t.policy != nil && t.requirements != nil && t.object.Ref().Namespace == q.Object.Ref().Namespace {
				in = append(in, t)
			}
		}
		slices.SortStableFunc(in, func(x, y *template) int { return cmp.Compare(b.grows(x), b.grows(y)) })
		used := corev1.ResourceList{}
		for _, t := range in {
			if over := exceeded(q.Value.Spec.Overall, used, t.demand(t.own)); over != "" {
				b.overQuota(t, q, over)
			}
			add(used, t.demand(t.own))
		}
	}
}

// grows is 1 for a template that has more replicas than before, else 0.
func (b *builder) grows(t *template) int {
	if total(t.own) > total(b.previous(t)) {
		return 1
	}
	return 0
}

func total(targets []target) (n int64) {
	for _, c := range targets {
		n += int64(c.Replicas)
	}
	return n
}

// demand is what all replicas of t ask for.
func (t *template) demand(targets []target) corev1.ResourceList {
	n := total(targets)
	sum := corev1.ResourceList{}
	for name, q := range t.requirements.ResourceRequest {
		sum[name] = *resource.NewMilliQuantity(q.MilliValue()*n, q.Format)
	}
	return sum
}

func add(sum, more corev1.ResourceList) {
	for name, q := range more {
		have := sum[name]
		have.Add(q)
		sum[name] = have
	}
}

// exceeded says which limit used and more are over; "" if none. The limits cpu and
// requests.cpu are one.
func exceeded(overall, used, more corev1.ResourceList) string {
	names := make([]string, 0, len(more))
	for name := range more {
		names = append(names, string(name))
	}
	slices.Sort(names)
	for _, n := range names {
		name := corev1.ResourceName(n)
		limit, ok := overall[name]
		if !ok {
			limit, ok = overall["requests."+name]
		}
		have, want := used[name], more[name]
		sum := have.DeepCopy()
		sum.Add(want)
		if ok && sum.Cmp(limit) > 0 {
			return fmt.Sprintf("requested %s=%s, used %s=%s, limited %s=%s", n, want.String(), n, have.String(), n, limit.String())
		}
	}
	return ""
}

func (b *builder) overQuota(t *template, q policies.Located[karmada.FederatedResourceQuota], over string) {
	t.own = b.previous(t)
	t.decision.Reason = "QuotaExceeded"
	t.decision.Message = fmt.Sprintf("exceeded quota %s: %s", q.Object.Ref().Name, over)
	b.report(diag.Diagnostic{
		Code: "quota-exceeded", Severity: diag.Error, Pos: t.object.Pos(),
		Message: fmt.Sprintf("%s %s; it keeps its clusters and replicas", t.object.Ref(), t.decision.Message),
		Hint:    "ask for less, or raise spec.overall at " + q.Object.Pos().String(),
	})
}

// quotas writes the static assignments of FederatedResourceQuotas: a ResourceQuota
// of the same name in each cluster that has one.
func (w *writer) quotas() {
	for _, q := range w.set.Quotas {
		r := object.Ref{Kind: "ResourceQuota", Namespace: q.Object.Ref().Namespace, Name: q.Object.Ref().Name}
		if t := w.byRef[r]; t != nil && len(t.decision.Targets) > 0 {
			w.report(diag.Diagnostic{
				Code: "duplicate-object", Severity: diag.Error, Pos: q.Object.Pos(),
				Message: fmt.Sprintf("%s would be sent as %s, which is also at %s", policies.Name(q.Object), r, t.object.Pos()),
				Hint:    "rename one of them",
			})
			continue
		}
		assigned := map[string]bool{}
		for _, a := range slices.Backward(q.Value.Spec.StaticAssignments) { // the last one of a cluster counts, as in Karmada
			i, ok := w.index[a.ClusterName]
			if !ok || assigned[a.ClusterName] {
				continue
			}
			assigned[a.ClusterName] = true
			hard := map[string]any{}
			for name, quantity := range a.Hard {
				hard[string(name)] = quantity.String()
			}
			content := map[string]any{
				"apiVersion": "v1", "kind": "ResourceQuota",
				"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace, "labels": map[string]any{managedLabel: "true"}},
				"spec":     map[string]any{"hard": hard},
			}
			w.place(i, w.ref(r), object.Encode(content))
		}
	}
}
