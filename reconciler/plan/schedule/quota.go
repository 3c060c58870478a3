package schedule

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/quota"
	"github.com/waybill-dev/waybill/render/diag"
)

// enforceQuotas takes back what FederatedResourceQuotas do not allow over all clusters
// (Karmada section E.7, with enforcement on): what is over a quota keeps its previous
// clusters and replicas.
func (d *decider) enforceQuotas() {
	for _, q := range d.in.Policies.Set.Quotas {
		var in []*item
		var demands []quota.Demand
		for _, m := range d.items {
			if m.Policy != nil && m.Size.Requirements != nil && m.Ref().Namespace == q.Object.Ref().Namespace {
				in = append(in, m)
				demands = append(demands, quota.Demand{Replica: m.Size.Requirements.ResourceRequest, Before: total(d.placedBefore(m)), Now: total(m.Scheduled)})
			}
		}
		for i, over := range quota.Exceeding(q.Value.Spec.Overall, demands) {
			if over != "" {
				d.overQuota(in[i], q, over)
			}
		}
	}
}

func total(targets []Target) (n int64) {
	for _, c := range targets {
		n += int64(c.Replicas)
	}
	return n
}

func (d *decider) overQuota(m *item, q policies.Located[karmada.FederatedResourceQuota], over string) {
	m.Scheduled = d.previous(m)
	m.Reason = "QuotaExceeded"
	m.Message = fmt.Sprintf("exceeded quota %s: %s", q.Object.Ref().Name, over)
	d.report(diag.Diagnostic{
		Code: diag.QuotaExceeded, Severity: diag.Error, Pos: m.Template.Object.Origin(),
		Message: fmt.Sprintf("%s %s; it keeps its clusters and replicas", m.Ref(), m.Message),
		Hint:    "ask for less, or raise spec.overall at " + q.Object.Origin().String(),
	})
}
