package report_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
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

func set(t *testing.T) *policies.Set {
	t.Helper()
	d := object.Decode("policies.yaml", []byte(registered))
	set, _, ds := policies.Load(d.Objects, nil)
	if diag.HasErrors(d.Diags) || diag.HasErrors(ds) {
		t.Fatal(d.Diags, ds)
	}
	return &set
}

func decoded(t *testing.T, kind, namespace, name string) *object.Object {
	t.Helper()
	o, ds := object.Single(name+".yaml", []byte("apiVersion: apps/v1\nkind: "+kind+"\nmetadata: {name: "+name+", namespace: "+namespace+"}\n"))
	if o == nil {
		t.Fatal(ds)
	}
	return o
}

// fixture is a plan of the registered clusters: a Deployment that is divided, one that no
// cluster fits, and one that nothing claims.
func fixture(t *testing.T, set *policies.Set) *plan.Plan {
	t.Helper()
	spread := set.Propagation[0]
	decision := func(name string) plan.Decision {
		return plan.Decision{Template: &template.Template{Variant: template.Variant{Object: decoded(t, "Deployment", "shop", name)}}}
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
		root, err := tree.NewBuilder().LayOut([]tree.Manifest{{Ref: web.Ref(), Blob: files.NewBlob(web.Template.Object.YAML())}}).Tree(tree.Flux{})
		if err != nil {
			t.Fatal(err)
		}
		p.Clusters = append(p.Clusters, plan.Cluster{Name: name, Tree: root, Objects: 1})
	}
	p.Stats = plan.Stats{Templates: 3, Placed: 2, Distinct: 1, Stats: render.Stats{NotManifests: 1}}
	return &p
}

func TestPlacements(t *testing.T) {
	golden(t, "placements", report.Placements(fixture(t, set(t))))
}

func TestFindings(t *testing.T) {
	p := fixture(t, set(t))
	golden(t, "findings-none", report.Findings(p, "", "v1", report.Look{}))
	p.Diags = []diag.Diagnostic{{Code: "malformed", Severity: diag.Error, Pos: diag.Pos{File: "a.yaml", Line: 2}, Message: "no colon", Hint: "add one"}}
	golden(t, "findings", report.Findings(p, "apps", "v1", report.Look{}))
}

func TestPublication(t *testing.T) {
	p := fixture(t, set(t))
	p.Clusters[1].Held, p.Removals = &guard.Hold{Reason: "all would go"}, "abc"
	held := []diag.Diagnostic{{Code: "held", Severity: diag.Error, Message: "cluster us is held"}}
	golden(t, "publication-none", report.Publication(&reconciler.Result{Plan: *p, Diags: held}))
	old, now := files.Sum("commit", []byte("old")), files.Sum("commit", []byte("new"))
	updates := []git.Update{{Branch: "waybill/cluster/eu"}, {Branch: "waybill/state", Old: old}}
	golden(t, "publication-dry", report.Publication(&reconciler.Result{Plan: *p, Updates: updates}))
	golden(t, "publication", report.Publication(&reconciler.Result{Plan: *p, Updates: updates, Heads: []files.ID{now, now}}))
}

func TestVerification(t *testing.T) {
	v := verify.Verification{Branch: "waybill/cluster/eu", Commit: "0123456789abcdef", Source: "fedcba9876543210", Version: "v1", Same: true}
	golden(t, "verification-same", report.Verification(&v, "v2"))
	v.Same, v.Differences = false, []string{"manifests/shop/a.yaml", "the fleet: the commit saw 1, the source has 2"}
	golden(t, "verification", report.Verification(&v, "v1"))
	golden(t, "verification-of-another-version", report.Verification(&v, "v2"))
}
