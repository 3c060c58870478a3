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

// TestErrorsOfTwoReleasesAreToldApart: which clusters another release fails in says nothing of one.
func TestErrorsOfTwoReleasesAreToldApart(t *testing.T) {
	of := func(web, api map[string]bool) *plan.Plan {
		p := &plan.Plan{Clusters: []plan.Cluster{{Name: "a"}, {Name: "b"}}}
		p.Expanded.About = expand.About{}
		for name, in := range map[string]map[string]bool{"web": web, "api": api} {
			release := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: name}
			d := diag.Diagnostic{Code: diag.Helm, Severity: diag.Error, Pos: diag.Pos{File: name + ".yaml"}, Examples: " for clusters like a"}
			d.Message = name + d.Examples + ": wrong"
			p.Diags = append(p.Diags, d)
			p.Expanded.Failures = append(p.Expanded.Failures, expand.Failure{ID: state.ReleaseID{Release: release}, Clusters: in})
			p.Expanded.About[release] = []diag.Diagnostic{d}
		}
		return p
	}
	a, b := map[string]bool{"a": true}, map[string]bool{"b": true}
	for range 8 { // releases are looked up in no order
		fresh, already := divide(&side{plan: of(a, b)}, &side{plan: of(b, b)})
		if len(fresh) != 1 || fresh[0].Pos.File != "web.yaml" || len(already) != 1 || already[0].Pos.File != "api.yaml" {
			t.Fatalf("new are %v, and already there %v", fresh, already)
		}
	}
}
