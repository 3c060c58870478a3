package manifest

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/quota"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// quotas writes the static assignments of FederatedResourceQuotas: a ResourceQuota of the
// same name in each cluster that has one (Karmada section E.7).
func (w *writer) quotas() {
	for _, q := range w.in.Policies.Set.Quotas {
		r := object.Ref{Kind: "ResourceQuota", Namespace: q.Object.Ref().Namespace, Name: q.Object.Ref().Name}
		if d := schedule.Find(w.in.Decisions, r); d != nil && len(d.Targets) > 0 {
			w.report(diag.Diagnostic{
				Code: diag.DuplicateObject, Severity: diag.Error, Pos: q.Object.Origin(),
				Message: fmt.Sprintf("%s would be sent as %s, which is also at %s", policies.Name(q.Object), r, d.Template.Object.Origin()),
				Hint:    "rename one of them",
			})
			continue
		}
		for _, a := range quota.Assignments(q.Value) {
			i, ok := w.in.Policies.Position(a.Cluster)
			if !ok {
				continue
			}
			content, _, bad := w.mapped(q.Object, a.Content, class{virtual: w.virtual.number(i)})
			if bad != nil {
				w.report(*bad)
				w.row(r).want(i, Unwritten)
				w.row(r).Block(i, blockOf(bad))
				continue
			}
			w.row(r).want(i, w.blobs.Add(files.NewBlob(object.Encode(content))))
		}
	}
}
