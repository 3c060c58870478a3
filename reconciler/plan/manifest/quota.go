package manifest

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// quotas writes the static assignments of FederatedResourceQuotas: a ResourceQuota of the
// same name in each cluster that has one (Karmada section E.7).
func (w *writer) quotas() {
	for _, q := range w.in.Law.Set.Quotas {
		r := object.Ref{Kind: "ResourceQuota", Namespace: q.Object.Ref().Namespace, Name: q.Object.Ref().Name}
		if d := w.decisionOf(r); d != nil && len(d.Targets) > 0 {
			w.report(diag.Diagnostic{
				Code: "duplicate-object", Severity: diag.Error, Pos: q.Object.Pos(),
				Message: fmt.Sprintf("%s would be sent as %s, which is also at %s", policies.Name(q.Object), r, d.Template.Object.Pos()),
				Hint:    "rename one of them",
			})
			continue
		}
		assigned := map[string]bool{}
		for _, a := range slices.Backward(q.Value.Spec.StaticAssignments) { // the last one of a cluster counts, as in Karmada
			i, ok := w.in.Law.Index(a.ClusterName)
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
			blob := w.blobs.Add(files.NewBlob(object.Encode(content)))
			w.row(r).want(i, blob)
		}
	}
}

// decisionOf returns the decision about a ref; nil if there is none.
func (w *writer) decisionOf(r object.Ref) *claim.Decision {
	n, ok := slices.BinarySearchFunc(w.in.Decisions, r, func(d claim.Decision, r object.Ref) int { return d.Ref().Compare(r) })
	if !ok {
		return nil
	}
	return &w.in.Decisions[n]
}
