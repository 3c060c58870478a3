package compare

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// A release that cannot be rendered is said of one cluster for all that are alike. Which one that is does not make an error new; that it
// fails in a cluster where it did not, does.
func TestWhichErrorsAreNew(t *testing.T) {
	release := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}
	of := func(clusters, failing, example string) *plan.Plan {
		p := &plan.Plan{}
		for name := range strings.FieldsSeq(clusters) {
			p.Clusters = append(p.Clusters, plan.Cluster{Name: name})
		}
		if failing == "" {
			return p
		}
		f := expand.Failure{ID: state.ReleaseID{Release: release}, Clusters: map[string]bool{}}
		for name := range strings.FieldsSeq(failing) {
			f.Clusters[name] = true
		}
		d := diag.Diagnostic{Code: diag.Helm, Severity: diag.Error, Pos: diag.Pos{File: "web.yaml"}, Examples: " for clusters like " + example}
		d.Message = "web" + d.Examples + ": a value is missing"
		p.Diags, p.Expanded.Failures, p.Expanded.About = []diag.Diagnostic{d}, []expand.Failure{f}, expand.About{release: {d}}
		return p
	}
	for _, tt := range []struct {
		name       string
		base, head *plan.Plan
		isNew      bool
	}{
		{"as before", of("a b c", "a b", "a"), of("a b c", "a b", "a"), false},
		{"without the cluster that stood for the others", of("a b c", "a b", "a"), of("b c", "b", "b"), false},
		{"in one more that is alike now", of("a b c", "a b", "a"), of("a b c", "a b c", "a"), true},
		{"in others", of("a b c", "a", "a"), of("a b c", "c", "c"), true},
		{"in fewer", of("a b c", "a b", "a"), of("a b c", "b", "b"), false},
		{"in one that has just come", of("a b", "a b", "a"), of("0 a b", "0 a b", "0"), false},
		{"where nothing failed", of("a b", "", ""), of("a b", "a", "a"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fresh, already := divide(&side{plan: tt.base}, &side{plan: tt.head})
			if len(fresh)+len(already) != 1 || len(fresh) == 1 != tt.isNew {
				t.Errorf("new are %v, and already there %v", fresh, already)
			}
		})
	}
}
