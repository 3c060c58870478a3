package listing_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/report/listing"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

var update = flag.Bool("update", false, "rewrite golden files")

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
	p := plan.Plan{Decisions: []plan.Decision{api, stray, web}}
	for _, name := range []string{"eu", "us"} {
		root, err := tree.NewBuilder().LayOut([]tree.Manifest{{Ref: web.Ref(), Blob: files.NewBlob(web.Template.Object.YAML())}}).Tree(tree.Flux{})
		if err != nil {
			t.Fatal(err)
		}
		p.Clusters = append(p.Clusters, plan.Cluster{Name: name, Tree: root, Objects: 1})
	}
	return &p
}

func TestLists(t *testing.T) {
	set := set(t)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ready := metav1.Condition{Type: karmada.ConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady", LastTransitionTime: metav1.NewTime(now.Add(-26 * time.Hour))}
	set.Observe(map[string]*karmada.ClusterStatus{"eu": {KubernetesVersion: "v1.35.2", Conditions: []metav1.Condition{ready}}})
	l := listing.Lists{Plan: fixture(t, set), Set: set, Now: now}
	for _, kind := range []string{"clusters", "policies", "bindings", "works", "templates"} {
		listed(t, kind, l, listing.Query{Kind: kind})
		listed(t, kind+"-of-no-namespace", l, listing.Query{Kind: kind, Namespace: "elsewhere"})
	}
}

// listed holds a list against testdata/NAME.txtar.
func listed(t *testing.T, name string, l listing.Lists, q listing.Query) {
	t.Helper()
	list, err := l.List(q)
	if err != nil {
		t.Fatal(err)
	}
	golden := file(t, name)
	for i, f := range golden.Files {
		flags := get.NewGetPrintFlags()
		if f.Name != string(report.Table) {
			*flags.OutputFormat = f.Name
		}
		var b bytes.Buffer
		if err := (listing.Printer{Flags: flags, Err: &b}).Print(&b, list); err != nil {
			t.Fatal(err)
		}
		golden.compare(t, i, b.String())
	}
	golden.save(t)
}

// TestListsTellWhatClustersSay joins what two clusters say of a Deployment.
func TestListsTellWhatClustersSay(t *testing.T) {
	set := set(t)
	p := fixture(t, set)
	d := &p.Decisions[slices.IndexFunc(p.Decisions, func(d plan.Decision) bool { return d.Ref().Name == "web" })]
	d.Binding.Spec.Clusters = []karmada.TargetCluster{{Name: "eu", Replicas: 4}, {Name: "us", Replicas: 2}}
	d.Template.Content = d.Template.Object.Content()
	web := d.Ref()
	l := listing.Lists{Plan: p, Set: set, Words: status.Reports{
		"eu": {Objects: map[object.Ref]*status.Object{web: {
			Applied: status.Application{Phase: status.PhaseApplied}, Health: status.Health{State: karmada.ResourceHealthy, Status: []byte(`{"replicas":4,"readyReplicas":4}`)},
		}}},
		"us": {Objects: map[object.Ref]*status.Object{web: {
			Applied: status.Application{Phase: status.PhaseFailed, Message: "helm owns .spec.replicas"},
			Health:  status.Health{State: karmada.ResourceUnhealthy, Status: []byte(`{"replicas":2,"readyReplicas":1}`)},
		}}},
	}}
	listed(t, "bindings-told", l, listing.Query{Kind: "rb"})
	listed(t, "works-told", l, listing.Query{Kind: "work"})
}

// sections are what is in a golden file.
type sections struct {
	*txtar.Archive

	name string
}

func file(t *testing.T, name string) sections {
	t.Helper()
	name = filepath.Join("testdata", name+".txtar")
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(ar.Files) == 0 {
		t.Fatal("no golden sections")
	}
	return sections{ar, name}
}

func (s *sections) compare(t *testing.T, i int, got string) {
	t.Helper()
	if !strings.HasSuffix(got, "\n") {
		got += "\n" // as txtar has it
	}
	if *update {
		s.Files[i].Data = []byte(got)
	} else if d := cmp.Diff(string(s.Files[i].Data), got); d != "" {
		t.Errorf("%s of %s: %s", s.Files[i].Name, s.name, d)
	}
}

func (s *sections) save(t *testing.T) {
	t.Helper()
	if *update {
		if err := os.WriteFile(s.name, txtar.Format(s.Archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
