package reporting

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// registered are two clusters, a policy that places and one that overrides.
const registered = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull, provider: metal, region: north, zones: [n1, n2], taints: [{key: a, effect: NoSchedule}]}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Push}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: spread, namespace: shop}
spec: {priority: 3, resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: images}
spec:
  overrideRules:
  - overriders: {plaintext: [{path: /metadata/labels/a, operator: add, value: b}]}
`

// Set has the policies and clusters that Plan is of.
func Set(tb testing.TB) *policies.Set {
	tb.Helper()
	d := object.Decode("policies.yaml", []byte(registered))
	set, _, ds := policies.Load(d.Objects, nil)
	if diag.HasErrors(d.Diags) || diag.HasErrors(ds) {
		tb.Fatal(d.Diags, ds)
	}
	return &set
}

func decoded(tb testing.TB, kind, namespace, name string) *object.Object {
	tb.Helper()
	o, ds := object.Single(name+".yaml", []byte("apiVersion: apps/v1\nkind: "+kind+"\nmetadata: {name: "+name+", namespace: "+namespace+"}\n"))
	if o == nil {
		tb.Fatal(ds)
	}
	return o
}

// Plan is one of the registered clusters: a Deployment that is divided, one that no
// cluster fits, and one that nothing claims.
func Plan(tb testing.TB, set *policies.Set) *plan.Plan {
	tb.Helper()
	spread := set.Propagation[0]
	decision := func(name string) plan.Decision {
		return plan.Decision{Template: &template.Template{Variant: template.Variant{Object: decoded(tb, "Deployment", "shop", name)}}}
	}
	web, api, stray := decision("web"), decision("api"), decision("stray")
	web.Policy, web.Outcome, web.Reason = spread, schedule.Placed, "Success"
	web.Targets = []schedule.Target{{Name: "eu", Replicas: 4}, {Name: "us", Replicas: 2}}
	bound := metav1.TypeMeta{APIVersion: "work.karmada.io/v1alpha2", Kind: "ResourceBinding"}
	web.Binding = &karmada.ResourceBinding{TypeMeta: bound}
	web.Binding.Namespace, web.Binding.Name, web.Binding.Spec.Replicas = "shop", "web-deployment", 6
	api.Policy, api.Outcome, api.Reason, api.Message = spread, schedule.Placed, "NoClusterFit", "0/2 clusters are available"
	api.Binding = &karmada.ResourceBinding{TypeMeta: bound}
	api.Binding.Namespace, api.Binding.Name = "shop", "api-deployment"
	p := plan.Plan{Revision: sources.Revision{Commit: "0123456789abcdef0123456789abcdef01234567"}, Decisions: []plan.Decision{api, stray, web}}
	p.Config.Publish.BranchPrefix = "waybill/cluster/"
	for _, name := range []string{"eu", "us"} {
		manifest := tree.Manifest{Ref: web.Ref(), Blob: files.NewBlob(web.Template.Object.YAML())}
		root, err := tree.NewBuilder().LayOut([]tree.Manifest{manifest}).Tree(tree.Flux{})
		if err != nil {
			tb.Fatal(err)
		}
		p.Clusters = append(p.Clusters, plan.Cluster{Name: name, Tree: root, Objects: 1})
	}
	p.Stats = plan.Stats{Templates: 3, Placed: 2, Distinct: 1, Stats: render.Stats{NotManifests: 1}}
	return &p
}
