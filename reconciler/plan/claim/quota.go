package claim

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// enforceQuotas takes back what FederatedResourceQuotas do not allow over all
// clusters (Karmada section E.7, with enforcement on). Templates whose demand does
// not grow go first, so that what runs is not displaced by what is new; then names
// decide. What is over the quota keeps its previous clusters and replicas.
func (d *decider) enforceQuotas() {
	for _, q := range d.in.Law.Set.Quotas {
		var in []*matter
		for _, t := range d.cases {
			if t.Policy != nil && t.Size.Requirements != nil && t.Ref().Namespace == q.Object.Ref().Namespace {
				in = append(in, t)
			}
		}
		slices.SortStableFunc(in, func(x, y *matter) int { return cmp.Compare(d.grows(x), d.grows(y)) })
		used := corev1.ResourceList{}
		for _, t := range in {
			if over := exceeded(q.Value.Spec.Overall, used, t.demand(t.Own)); over != "" {
				d.overQuota(t, q, over)
			}
			add(used, t.demand(t.Own))
		}
	}
}

// grows is 1 for a template that has more replicas than before, else 0.
func (d *decider) grows(t *matter) int {
	if total(t.Own) > total(d.previous(t)) {
		return 1
	}
	return 0
}

func total(targets []Target) (n int64) {
	for _, c := range targets {
		n += int64(c.Replicas)
	}
	return n
}

// demand is what all replicas of t ask for.
func (m *matter) demand(targets []Target) corev1.ResourceList {
	n := total(targets)
	sum := corev1.ResourceList{}
	for name, q := range m.Size.Requirements.ResourceRequest {
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

func (d *decider) overQuota(t *matter, q policies.Located[karmada.FederatedResourceQuota], over string) {
	t.Own = d.previous(t)
	t.Reason = "QuotaExceeded"
	t.Message = fmt.Sprintf("exceeded quota %s: %s", q.Object.Ref().Name, over)
	d.report(diag.Diagnostic{
		Code: "quota-exceeded", Severity: diag.Error, Pos: t.Template.Object.Pos(),
		Message: fmt.Sprintf("%s %s; it keeps its clusters and replicas", t.Ref(), t.Message),
		Hint:    "ask for less, or raise spec.overall at " + q.Object.Pos().String(),
	})
}
