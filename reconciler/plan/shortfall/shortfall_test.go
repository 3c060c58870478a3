package shortfall_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/shortfall"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

const (
	clusters = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: ap}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, annotations: {waybill.dev/path: clusters/eu}}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
`
	policy   = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n"
	releases = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: r, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {clusterAffinity: {clusterNames: [us]}}}\n"
)

// configMap is one of the namespace shop.
func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: shop}\ndata: {k: v}\n"
}

// release is a HelmRelease of a chart of the repository.
func release(name string) string {
	return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: shop}\nspec: {chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: fleet}}}}\n"
}

// A cluster that gets nothing, or less than it should, is told, with the reason: of a release that is its own reason, and not that of
// one whose name begins alike.
func TestShortfalls(t *testing.T) {
	fails := func(jobs []engine.Job) ([]engine.Rendered, error) {
		all := make([]engine.Rendered, len(jobs))
		for i := range jobs {
			all[i].Diags = []diag.Diagnostic{{Code: diag.RenderFailed, Severity: diag.Error, Message: "the chart of " + jobs[i].Name() + " is broken\nin two places"}}
		}
		return all, nil
	}
	src, err := render.Load(t.Context(), twin.Texts{
		"clusters.yaml": clusters,
		"releases.yaml": releases + "---\n" + release("web-2") + "---\n" + release("web"), "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "clusters/eu/broken.yaml": "a: [",
		"policy.yaml": strings.Replace(policy, "placement: {}", "placement: {clusterAffinity: {clusterNames: [us]}}", 1), "a.yaml": configMap("a"),
	}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Input{Source: src, Medium: plan.Branch, Memo: plan.NewMemo(), Published: map[string]tree.Published{}}
	if err := plan.Expand(&in, fails); err != nil {
		t.Fatal(err)
	}
	p := plan.Build(in)
	why := map[string][]string{}
	for _, s := range shortfall.Of(&p) {
		why[s.Name] = s.Why
		if want := map[string]int{"us": 1}[s.Name]; s.Objects != want {
			t.Errorf("%s gets %d objects", s.Name, s.Objects)
		}
	}
	if got := why["ap"]; len(got) != 1 || got[0] != "no policy places anything there" {
		t.Errorf("ap gets less because %q", got)
	}
	if got := why["eu"]; len(got) != 1 || !strings.HasPrefix(got[0], "clusters/eu/broken.yaml cannot be read: ") {
		t.Errorf("eu gets less because %q", got)
	}
	got := why["us"]
	if len(got) != 2 || !strings.HasPrefix(got[0], "HelmRelease.helm.toolkit.fluxcd.io/shop/web ") || !strings.HasSuffix(got[0], " is broken") || !strings.HasPrefix(got[1], "HelmRelease.helm.toolkit.fluxcd.io/shop/web-2 ") {
		t.Errorf("us gets less because %q", got)
	}
}

// Why a cluster gets nothing, or less than its folder promises, is of its own folder, and not of one that is in it or has it.
func TestWhyOfFolders(t *testing.T) {
	in := func(eu, us string) string {
		return "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu, annotations: {waybill.dev/path: " + eu + "}}\nspec: {syncMode: Pull}\n---\n" +
			"apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: us, annotations: {waybill.dev/path: " + us + "}}\nspec: {syncMode: Pull}\n"
	}
	const nothing, holdsNothing = "nothing in its folder is delivered, and no policy places anything there", "its folder holds nothing, and no policy places anything there"
	own := configMap("own")
	for name, tt := range map[string]struct {
		files  twin.Texts
		eu, us string // how why begins; empty: it is not short of anything
	}{
		"a file in the inner folder":         {twin.Texts{"c.yaml": in("eu", "eu/us"), "eu/own.yaml": own, "eu/us/broken.yaml": "a: ["}, "", "eu/us/broken.yaml cannot be read: "},
		"a file in the outer folder":         {twin.Texts{"c.yaml": in("eu", "eu/us"), "eu/us/own.yaml": own, "eu/broken.yaml": "a: ["}, "eu/broken.yaml cannot be read: ", ""},
		"a file whose folder begins alike":   {twin.Texts{"c.yaml": in("eu", "us"), "eu/own.yaml": own, "us/own.yaml": own, "eu-1/broken.yaml": "a: ["}, "", ""},
		"a kustomization":                    {twin.Texts{"c.yaml": in("eu", "us"), "eu/kustomization.yaml": "a: [", "eu/own.yaml": own, "us/own.yaml": own}, "eu/ cannot be built", ""},
		"one object twice":                   {twin.Texts{"c.yaml": in("eu", "us"), "eu/own.yaml": own, "eu/twice.yaml": own, "us/own.yaml": own}, "ConfigMap/shop/own is defined twice", ""},
		"an empty folder":                    {twin.Texts{"c.yaml": in("eu", "us"), "us/own.yaml": own}, holdsNothing, ""},
		"a folder of what clusters have all": {twin.Texts{"c.yaml": in("eu", "us"), "eu/own.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n", "us/own.yaml": own}, nothing, ""},
	} {
		src, err := render.Load(t.Context(), tt.files, render.With{})
		if err != nil {
			t.Fatal(err)
		}
		p := plan.Build(plan.Input{Source: src, Medium: plan.Branch, Memo: plan.NewMemo(), Published: map[string]tree.Published{}})
		why := map[string]string{}
		for _, s := range shortfall.Of(&p) {
			why[s.Name] = strings.Join(s.Why, "; ")
		}
		for cluster, want := range map[string]string{"eu": tt.eu, "us": tt.us} {
			if got, short := why[cluster]; short != (want != "") || !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s gets less because %q, want %q", name, cluster, got, want)
			}
		}
	}
	if short := shortfall.Of(&plan.Plan{}); short != nil {
		t.Errorf("what nobody planned lacks %v", short)
	}
}
