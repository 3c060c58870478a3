package summary_test

import (
	"maps"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/summary"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
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
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us-inner, annotations: {waybill.dev/virtual-of: us, waybill.dev/namespace-suffix: -inner}}
spec: {syncMode: Pull}
`
	policy    = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {clusterAffinity: {clusterNames: [ap]}}}\n"
	configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: v}\n"
)

// What left a cluster because that failed is named by the file that it had there, which on a virtual cluster is that of the host's namespace.
func TestWhatFailedOverIsNamedByItsFile(t *testing.T) {
	src, err := render.Load(t.Context(), twin.Texts{"clusters.yaml": clusters, "policy.yaml": policy, "a.yaml": configMap}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Build(plan.Input{Source: src, Medium: plan.Branch, Published: map[string]tree.Published{}})
	a := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	p.Leaving = map[object.Ref][]string{a: {"ap", "us", "us-inner"}}
	inner := a
	inner.Namespace = "shop-inner"
	for cluster, want := range map[string]map[string]bool{
		"ap": nil, "eu": nil, "us": {tree.Path(a): true}, "us-inner": {tree.Path(inner): true}, "unknown": nil,
	} {
		if got := summary.LeavingPaths(&p, cluster); !maps.Equal(got, want) {
			t.Errorf("of %s it is %v, want %v", cluster, got, want)
		}
	}
}
