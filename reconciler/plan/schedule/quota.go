package schedule

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies/quota"
	"github.com/waybill-dev/waybill/render/diag"
)

// withinQuotas takes back what FederatedResourceQuotas do not allow over all clusters
// (Karmada section E.7, with enforcement on): what is over a quota keeps its previous
// clusters and replicas.
func withinQuotas(in *Input, items []item, placed []placement) ([]placement, []diag.Diagnostic) {
	if len(in.Policies.Set.Quotas) == 0 {
		return placed, nil
	}
	var diags []diag.Diagnostic
	placed = slices.Clone(placed)
	for _, q := range in.Policies.Set.Quotas {
		var of []int
		var demands []quota.Demand
		for i := range items {
			if it := &items[i]; it.policy != nil && it.size.Requirements != nil && it.ref().Namespace == q.Object.Ref().Namespace {
				of = append(of, i)
				demands = append(demands, quota.Demand{
					Replica: it.size.Requirements.ResourceRequest, Before: total(it.placed()), Now: total(placed[i].clusters),
				})
			}
		}
		for n, over := range quota.Exceeding(q.Value.Spec.Overall, demands) {
			if over == "" {
				continue
			}
			it, out := &items[of[n]], &placed[of[n]]
			out.clusters, out.reason = out.previous(it), quotaExceeded
			out.message = fmt.Sprintf("exceeded quota %s: %s", q.Object.Ref().Name, over)
			diags = append(diags, diag.Diagnostic{
				Code: diag.QuotaExceeded, Severity: diag.Error, Pos: it.template.Object.Origin(),
				Message: fmt.Sprintf("%s %s; it keeps its clusters and replicas", it.ref(), out.message),
				Hint:    "ask for less, or raise spec.overall at " + q.Object.Origin().String(),
			})
		}
	}
	return placed, diags
}

// quotaExceeded is the reason of the condition of what is over a quota.
const quotaExceeded = "QuotaExceeded"

func total(targets []Target) (n int64) {
	for _, c := range targets {
		n += int64(c.Replicas)
	}
	return n
}
