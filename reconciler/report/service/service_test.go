package service

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/plan/services"
)

// TestHowAServiceIsExchanged is said for each that exchanges it: by which name and ports, and what each cluster does, with why two
// exports conflict.
func TestHowAServiceIsExchanged(t *testing.T) {
	valid, conflict := &services.Condition{Status: "True", Reason: "Valid"}, &services.Condition{Status: "True", Reason: "PortConflict", Message: "us has port 81"}
	var b strings.Builder
	Write(&b, []services.About{
		{
			By: "MultiClusterService shop/web", Where: "a.yaml:1", Derived: "derived-web", Ports: []string{"80", "443"},
			Clusters: []services.Cluster{
				{Name: "eu", Exports: true, Valid: valid, Conflict: conflict},
				{Name: "us", Imports: true},
				{Name: "za", Exports: true, Valid: valid, Conflict: &services.Condition{Status: "False", Reason: "NoConflicts"}},
			},
		},
		{By: "ServiceExport shop/web", Where: "b.yaml:2", Wrong: true, Clusters: []services.Cluster{{Name: "eu"}}},
		{By: "ServiceExport shop/api", Where: "c.yaml:3"},
	})
	const want = `
exchanged by MultiClusterService shop/web  (a.yaml:1), called derived-web where it is imported, port 80, 443
CLUSTER  EXPORTS  IMPORTS  VALID       CONFLICT
eu       yes      -        True Valid  True PortConflict
us       -        yes      -           -
za       yes      -        True Valid  False NoConflicts
eu: us has port 81

exchanged by ServiceExport shop/web  (b.yaml:2)
it has a mistake, so that it stays as it was published

exchanged by ServiceExport shop/api  (c.yaml:3)
no cluster exports it
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
