package listing_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/report/listing"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/reporting"
)

func TestLists(t *testing.T) {
	set := reporting.Set(t)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ready := metav1.Condition{Type: karmada.ConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady", LastTransitionTime: metav1.NewTime(now.Add(-26 * time.Hour))}
	set.Observe(map[string]*karmada.ClusterStatus{"eu": {KubernetesVersion: "v1.35.2", Conditions: []metav1.Condition{ready}}})
	l := listing.Lists{Plan: reporting.Plan(t, set), Set: set, Now: now}
	listed(t, "clusters-not-ready", notReady(t), listing.Query{Kind: "clusters"})
	for _, kind := range []string{"clusters", "policies", "bindings", "works", "templates"} {
		listed(t, kind, l, listing.Query{Kind: kind})
		listed(t, kind+"-of-no-namespace", l, listing.Query{Kind: kind, Namespace: "elsewhere"})
	}
}

// notReady are lists of a fleet of which a cluster was observed not to be ready: that taints it.
func notReady(t *testing.T) listing.Lists {
	t.Helper()
	set := reporting.Set(t)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	dead := metav1.Condition{Type: karmada.ConditionReady, Status: metav1.ConditionFalse, Reason: "ClusterNotReachable", LastTransitionTime: metav1.NewTime(now.Add(-time.Hour))}
	set.Observe(map[string]*karmada.ClusterStatus{"eu": {Conditions: []metav1.Condition{dead}}})
	return listing.Lists{Plan: reporting.Plan(t, set), Set: set, Now: now}
}

// listed holds a list against testdata/NAME.txtar.
func listed(t *testing.T, name string, l listing.Lists, q listing.Query) {
	t.Helper()
	list, err := l.List(q)
	if err != nil {
		t.Fatal(err)
	}
	reporting.Golden(t, name, func(w io.Writer, format string) error {
		flags := get.NewGetPrintFlags()
		if format != string(report.Table) {
			*flags.OutputFormat = format
		}
		return (listing.Printer{Flags: flags, Err: w}).Print(w, list)
	})
}

// TestListsTellWhatClustersSay joins what two clusters say of a Deployment.
func TestListsTellWhatClustersSay(t *testing.T) {
	set := reporting.Set(t)
	p := reporting.Plan(t, set)
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

// TestWorksOfAVirtualClusterAreListedAsTemplatesCallThem, though on its host their namespaces have other names.
func TestWorksOfAVirtualClusterAreListedAsTemplatesCallThem(t *testing.T) {
	d := object.Decode("clusters.yaml", []byte(`apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: tenant, annotations: {waybill.dev/virtual-of: eu}}
spec: {syncMode: Pull}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop-tenant}
`))
	set, others, ds := policies.Load(d.Objects, nil)
	if diag.HasErrors(ds) || len(others) != 1 {
		t.Fatal(others, ds)
	}
	root, err := tree.NewBuilder().LayOut([]tree.Manifest{{Ref: others[0].Ref(), Blob: files.NewBlob(others[0].YAML())}}).Tree(tree.Flux{})
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Clusters: []plan.Cluster{{Name: "eu", Tree: root}, {Name: "tenant", Tree: root}}}
	p.Expanded.Policies = index.Of(set, nil, &index.Memo{})
	l := listing.Lists{Plan: &p, Set: &set, Words: status.Reports{"tenant": {Objects: map[object.Ref]*status.Object{
		{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}: {Applied: status.Application{Phase: status.PhaseApplied}},
	}}}}
	for namespace, want := range map[string]string{
		"shop": "tenant Deployment.apps/shop/web Applied ", "shop-tenant": "eu Deployment.apps/shop-tenant/web - ",
	} {
		list, err := l.List(listing.Query{Kind: "works", Namespace: namespace})
		if err != nil || len(list.Names()) != 1 {
			t.Fatalf("in %s are %v; %v", namespace, list.Names(), err)
		}
		var out strings.Builder
		if err := (listing.Printer{Flags: get.NewGetPrintFlags(), Err: io.Discard}).Print(&out, list); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, want) {
			t.Errorf("in %s it prints\n%s\nwant %q", namespace, out.String(), want)
		}
	}
}

// TestAWatchShowsWhatChanges: a roll-out is shown again when one of its clusters is in another state, of which no column tells, and not
// because it was printed.
func TestAWatchShowsWhatChanges(t *testing.T) {
	list := func(state rollouts.State) listing.List {
		r := rollouts.Rollout{Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, Clusters: map[string]rollouts.Cluster{"eu": {Stage: "s", State: state}}}
		r.Status.Phase = rollouts.Done
		l := listing.Lists{Rollouts: []rollouts.Rollout{r}}
		all, err := l.List(listing.Query{Kind: "rollouts"})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	flags := get.NewGetPrintFlags()
	*flags.OutputFormat = "json"
	printed := list(rollouts.Pending)
	if err := (listing.Printer{Flags: flags, Err: io.Discard}).Print(io.Discard, printed); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[rollouts.State]int{rollouts.Pending: 0, rollouts.Late: 1} {
		if got := list(state).Changed(printed).Names(); len(got) != want {
			t.Errorf("%s after Pending: %v changed", state, got)
		}
	}
}
