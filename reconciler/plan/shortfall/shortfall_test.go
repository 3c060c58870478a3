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
