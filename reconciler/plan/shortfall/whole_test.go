package shortfall_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/shortfall"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// What a cluster lacks is what is its own, or goes to it, with the first error that is about it, and no other cluster lacks that.
func TestWhatAClusterLacks(t *testing.T) {
	set, _, _ := policies.Load(object.Decode("clusters.yaml", []byte(clusters)).Objects, nil)
	release := object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "web"}
	other, twice := release, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "x"}
	other.Name = "other"
	const built = "clusters/eu/x/Kustomization"
	wrong := func(s diag.Severity, file, message string) diag.Diagnostic {
		return diag.Diagnostic{Severity: s, Pos: diag.Pos{File: file}, Message: message}
	}
	said := []diag.Diagnostic{
		wrong(diag.Error, "", "of no file"),
		wrong(diag.Warning, "clusters/eu/a.yaml", "a warning"), wrong(diag.Error, "clusters/eu/b.yaml", "of b"),
		wrong(diag.Error, "clusters/eu/a.yaml", "of a\nin two lines"), wrong(diag.Error, "clusters/eu/a.yaml", "the second of a"),
		wrong(diag.Error, built, "not built"),
	}
	about := expand.About{release: {wrong(diag.Warning, "", "a warning"), wrong(diag.Error, "", "no chart\nnowhere")}}
	broken := func(all ...render.Broken) plan.Plan { return plan.Plan{Source: render.Source{Broken: all}} }
	fails := func(all ...expand.Failure) plan.Plan { return plan.Plan{Expanded: expand.Result{Failures: all}} }
	eu := func(why string) []shortfall.Cluster {
		return []shortfall.Cluster{{Name: "eu", Objects: 2, Why: []string{why}}}
	}
	us := func(why string) []shortfall.Cluster {
		return []shortfall.Cluster{{Name: "us", Objects: 3, Why: []string{why}}}
	}
	for _, tt := range []struct {
		name string
		plan plan.Plan
		want []shortfall.Cluster // those that have some objects
	}{
		{"nothing", plan.Plan{}, nil},
		{"a file of a folder", broken(render.Broken{Path: "clusters/eu/a.yaml"}), eu("clusters/eu/a.yaml cannot be read: of a")},
		{"a file of which nothing is said", broken(render.Broken{Path: "clusters/eu/c.yaml"}), eu("clusters/eu/c.yaml cannot be read")},
		{"a folder of a folder", broken(render.Broken{Path: "clusters/eu/a", Dir: true}), eu("clusters/eu/a/ cannot be read")},
		{"a kustomization", broken(render.Broken{Path: built, Dir: true}), eu("clusters/eu/x/ cannot be built: not built")},
		{"a file of no cluster", broken(
			render.Broken{Path: "shop/a.yaml"}, render.Broken{Path: "/a.yaml"}, render.Broken{Path: "clusters/a.yaml"},
		), nil},
		{"two objects of clusters", broken(
			render.Broken{Ref: twice, Cluster: "us"}, render.Broken{Ref: twice, Cluster: "eu"}, render.Broken{Ref: twice},
		), append(eu("ConfigMap/shop/x is defined twice"), us("ConfigMap/shop/x is defined twice")...)},
		{"a release in one of those that it goes to", fails(expand.Failure{
			ID: state.ReleaseID{Release: release}, Clusters: map[string]bool{"us": true}, Targets: map[string]bool{"eu": true, "us": true},
		}), us("no chart")},
		{"a release everywhere", fails(expand.Failure{
			ID: state.ReleaseID{Release: other}, Everywhere: true, Targets: map[string]bool{"eu": true},
		}), eu("HelmRelease.helm.toolkit.fluxcd.io/shop/other cannot be rendered")},
		{"a release of a cluster's own", fails(expand.Failure{
			ID: state.ReleaseID{Release: release, Cluster: "eu"}, Everywhere: true, Targets: map[string]bool{"us": true},
		}), eu("no chart")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.plan
			p.Expanded.Policies, p.Expanded.About, p.Diags = index.Of(set, nil, &index.Memo{}), about, said
			p.Clusters = []plan.Cluster{{Objects: 1}, {Objects: 2}, {Objects: 3}}
			if diff := cmp.Diff(tt.want, shortfall.Of(&p)); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
		})
	}
}

// A cluster that gets nothing is told why, unless something that is broken is why.
func TestAClusterThatGetsNothing(t *testing.T) {
	set, _, _ := policies.Load(object.Decode("clusters.yaml", []byte(clusters)).Objects, nil)
	p := plan.Plan{Clusters: make([]plan.Cluster, 3)}
	p.Expanded.Policies = index.Of(set, nil, &index.Memo{})
	p.Source.Broken = []render.Broken{{Ref: object.Ref{Kind: "ConfigMap", Name: "x"}, Cluster: "us"}}
	want := []shortfall.Cluster{
		{Name: "ap", Why: []string{"no policy places anything there"}},
		{Name: "eu", Why: []string{"its folder holds nothing, and no policy places anything there"}},
		{Name: "us", Why: []string{"ConfigMap/x is defined twice"}},
	}
	if diff := cmp.Diff(want, shortfall.Of(&p)); diff != "" {
		t.Errorf("(-want +is):\n%s", diff)
	}
	p.Source.Bound = map[string][]*object.Object{"eu": object.Decode("own.yaml", []byte(configMap("x"))).Objects}
	want[1].Why = []string{"nothing in its folder is delivered, and no policy places anything there"}
	if diff := cmp.Diff(want, shortfall.Of(&p)); diff != "" {
		t.Errorf("(-want +is):\n%s", diff)
	}
}
