package listing_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/report/listing"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/reporting"
)

// TestQueries: what is asked for by name, in a namespace and by labels, and nothing else; a name that nothing has is an error that says
// which is meant, with what there is, unless it may be absent.
func TestQueries(t *testing.T) {
	set := reporting.Set(t)
	set.Clusters[0].Spec.Labels = map[string]string{"stage": "prod"}
	rollout := rollouts.Rollout{Unit: rollouts.Unit{Namespace: "shop", Name: "web"}}
	l := listing.Lists{Plan: reporting.Plan(t, set), Set: set, Rollouts: []rollouts.Rollout{rollout}}
	staged, err := labels.Parse("stage=prod")
	if err != nil {
		t.Fatal(err)
	}
	runs, err := l.List(listing.Query{Kind: "rollouts"})
	if err != nil || len(runs.Names()) != 1 {
		t.Fatal(runs.Names(), err)
	}
	recorded := runs.Names()[0]
	for _, tt := range []struct {
		name string
		q    listing.Query
		want string
		says string // the error
	}{
		{"all", listing.Query{Kind: "clusters"}, "eu us", ""},
		{"by another word", listing.Query{Kind: "CL"}, "eu us", ""},
		{"one", listing.Query{Kind: "cluster", Names: []string{"us"}}, "us", ""},
		{"two", listing.Query{Kind: "cluster", Names: []string{"us", "eu"}}, "eu us", ""},
		{"by labels", listing.Query{Kind: "cluster", Labels: staged}, "eu", ""},
		{"one that has not the labels", listing.Query{Kind: "cluster", Names: []string{"us"}, Labels: staged}, "", ""},
		{"clusters are in no namespace", listing.Query{Kind: "cluster", Namespace: "shop"}, "eu us", ""},
		{"in a namespace", listing.Query{Kind: "bindings", Namespace: "shop"}, "api-deployment web-deployment", ""},
		{"in another namespace", listing.Query{Kind: "bindings", Namespace: "other"}, "", ""},
		{"of a kind", listing.Query{Kind: "pp"}, "spread", ""},
		{"of a kind without a namespace", listing.Query{Kind: "cop", Namespace: "other"}, "images", ""},
		{"of a kind that there is none of", listing.Query{Kind: "op"}, "", ""},
		{"a name that nothing has", listing.Query{Kind: "cluster", Names: []string{"us", "eo"}}, "us", `there is no cluster "eo"; `},
		{"a name that nothing has, and that is like none", listing.Query{Kind: "cluster", Names: []string{"somewhere"}}, "", "`waybill get clusters` lists those there are"},
		{"it may be absent", listing.Query{Kind: "cluster", Names: []string{"us", "eo"}, Absent: true}, "us", ""},
		{"it is in another namespace", listing.Query{Kind: "bindings", Namespace: "other", Names: []string{"web-deployment"}}, "", `there is no binding "web-deployment" in namespace other`},
		{"by another name", listing.Query{Kind: "ro", Names: []string{"shop/web"}}, recorded, ""},
		{"by its name", listing.Query{Kind: "ro", Names: []string{recorded}}, recorded, ""},
		{"by neither", listing.Query{Kind: "ro", Names: []string{"shop/wed"}}, "", `did you mean "shop/web"?`},
		{"no such list", listing.Query{Kind: "clutsers"}, "", `there is no list of "clutsers"; did you mean "clusters"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := l.List(tt.q)
			if got := strings.Join(list.Names(), " "); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
			if (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
			var missing *listing.NotFoundError
			if isMissing := errors.As(err, &missing); isMissing != (tt.says != "" && len(tt.q.Names) > 0) {
				t.Errorf("that something is missing is %t: %v", isMissing, err)
			}
		})
	}
	if names := listing.TemplateNames(l.Plan); strings.Join(names, " ") != "deployment/api deployment/stray deployment/web" {
		t.Errorf("its templates are called %v", names)
	}
	if names := listing.Namespaces(l.Plan); len(names) != 3 || strings.Join(slices.Compact(names), " ") != "shop" {
		t.Errorf("its namespaces are %v", names)
	}
	for _, names := range listing.Names() {
		for _, name := range names {
			if _, err := l.List(listing.Query{Kind: name}); err != nil {
				t.Errorf("a list is called %s: %v", name, err)
			}
		}
	}
	if names := listing.Names(); len(names) != 11 || names[0][0] != "clusters" || len(names[0]) != 3 {
		t.Errorf("lists are called %v", names)
	}
	for word, want := range map[string][2]bool{"bindings": {true, false}, "works": {true, false}, "rollouts": {false, true}, "clusters": {}, "nothing": {}} {
		if got := [2]bool{listing.ShowsStatus(word), listing.IsRecorded(word)}; got != want {
			t.Errorf("%s shows what clusters say, and needs no plan: %v, want %v", word, got, want)
		}
	}
}

// TestHowListsArePrinted: one that is asked for by name alone, several as a list; of none that is said beside; in the order of a field.
func TestHowListsArePrinted(t *testing.T) {
	set := reporting.Set(t)
	l := listing.Lists{Plan: reporting.Plan(t, set), Set: set}
	for _, tt := range []struct {
		name, format, sort string
		q                  listing.Query
		first, aside       string
	}{
		{"one", "json", "", listing.Query{Kind: "cluster", Names: []string{"us"}}, `"kind": "Cluster"`, ""},
		{"one of a list", "json", "", listing.Query{Kind: "pp"}, `"kind": "List"`, ""},
		{"two", "json", "", listing.Query{Kind: "cluster", Names: []string{"us", "eu"}}, `"kind": "List"`, ""},
		{"none", "", "", listing.Query{Kind: "bindings", Namespace: "other"}, "", "No bindings found in namespace other\n"},
		{"none of all", "", "", listing.Query{Kind: "op"}, "", "No overridepolicies found\n"},
		{"none for programs", "json", "", listing.Query{Kind: "op"}, `"items": []`, ""},
		{"one that may be absent", "json", "", listing.Query{Kind: "cluster", Names: []string{"xx"}, Absent: true}, "", ""},
		{"names", "name", "", listing.Query{Kind: "cluster"}, "cluster.cluster.karmada.io/eu\ncluster.cluster.karmada.io/us\n", ""},
		{"in the order of a field", "name", ".spec.syncMode", listing.Query{Kind: "cluster"}, "cluster.cluster.karmada.io/eu\ncluster.cluster.karmada.io/us\n", ""},
		{"in the order of another one", "name", ".spec.taints[0].key", listing.Query{Kind: "cluster"}, "cluster.cluster.karmada.io/us\ncluster.cluster.karmada.io/eu\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := l.List(tt.q)
			if err != nil {
				t.Fatal(err)
			}
			flags := get.NewGetPrintFlags()
			*flags.OutputFormat = tt.format
			var out, aside strings.Builder
			if err := (listing.Printer{Flags: flags, SortBy: tt.sort, Err: &aside}).Print(&out, list); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tt.first) || tt.first == "" && out.Len() > 0 || aside.String() != tt.aside {
				t.Errorf("it prints\n%s\nand says %q", out.String(), aside.String())
			}
		})
	}
	flags := get.NewGetPrintFlags()
	*flags.OutputFormat = "other"
	if err := (listing.Printer{Flags: flags, Err: io.Discard}).Print(io.Discard, listing.List{}); err == nil {
		t.Error("a format that there is not is taken")
	}
}

// TestWhatChangesInAList: what is new or otherwise, and nothing that is as it was.
func TestWhatChangesInAList(t *testing.T) {
	list := func(change func(l *listing.Lists)) listing.List {
		t.Helper()
		set := reporting.Set(t)
		l := listing.Lists{Plan: reporting.Plan(t, set), Set: set, Now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
		change(&l)
		all, err := l.List(listing.Query{Kind: "clusters"})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := list(func(*listing.Lists) {})
	for _, tt := range []struct {
		name   string
		change func(l *listing.Lists)
		want   string
	}{
		{"nothing", func(*listing.Lists) {}, ""},
		{"what a column shows", func(l *listing.Lists) { l.Plan.Clusters[1].Objects = 7 }, "us"},
		{"what no column shows", func(l *listing.Lists) { l.Set.Clusters[0].Spec.Labels = map[string]string{"a": "b"} }, "eu"},
		{"one goes", func(l *listing.Lists) { l.Set.Clusters = l.Set.Clusters[1:] }, ""},
		{"one that is ready", func(l *listing.Lists) {
			ready := metav1.Condition{Type: karmada.ConditionReady, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(l.Now.Add(-time.Hour))}
			l.Set.Observe(map[string]*karmada.ClusterStatus{"us": {Conditions: []metav1.Condition{ready}}})
		}, "us"},
	} {
		if got := strings.Join(list(tt.change).Changed(before).Names(), " "); got != tt.want {
			t.Errorf("%s: %q changes, want %q", tt.name, got, tt.want)
		}
	}
	if got := before.Changed(listing.List{}).Names(); len(got) != 2 {
		t.Errorf("where there was nothing, %v are new", got)
	}
}

// Policies of two kinds may have one name: neither has changed into the other.
func TestPoliciesOfOneName(t *testing.T) {
	d := object.Decode("policies.yaml", []byte(`apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: web, namespace: shop}
spec: {overrideRules: [{overriders: {plaintext: [{path: /metadata/labels/a, operator: add, value: b}]}}]}
`))
	set, _, ds := policies.Load(d.Objects, nil)
	if diag.HasErrors(d.Diags) || diag.HasErrors(ds) {
		t.Fatal(d.Diags, ds)
	}
	l := listing.Lists{Plan: reporting.Plan(t, reporting.Set(t)), Set: &set}
	all, err := l.List(listing.Query{Kind: "policies"})
	if err != nil || len(all.Names()) != 2 || len(all.Changed(all).Names()) > 0 {
		t.Errorf("of %v change %v (%v)", all.Names(), all.Changed(all).Names(), err)
	}
}

// TestReleasesThatNoPolicySelects are listed below what renders them, with the clusters in whose folders they stand.
func TestReleasesThatNoPolicySelects(t *testing.T) {
	release := func(name string) *object.Object {
		o, _ := object.Single(name+".yaml", []byte("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: "+name+", namespace: shop}\n"))
		return o
	}
	top, again, a, b, deep, other := release("top"), release("top"), release("a"), release("b"), release("deep"), release("other")
	set := reporting.Set(t)
	l := listing.Lists{Plan: reporting.Plan(t, set), Set: set}
	l.Plan.Expanded.Unclaimed = []expand.Unclaimed{
		{Release: top, Cluster: "eu", Rendered: []*object.Object{b, a}},
		{Release: again, Cluster: "us"},
		{Release: top, Cluster: "eu"},
		{Release: b},
		{Release: a, Rendered: []*object.Object{deep}},
		{Release: deep},
		{Release: other},
	}
	placed, drawn := l.Plan.Decisions[2], release("placed")
	placed.Template = &template.Template{Variant: template.Variant{Object: drawn}}
	l.Plan.Decisions = append(l.Plan.Decisions, placed)
	for _, inner := range []string{"one", "two"} {
		l.Plan.Expanded.Inners = append(l.Plan.Expanded.Inners, expand.Inner{Release: release(inner), Of: drawn.Ref()})
	}
	list, err := l.List(listing.Query{Kind: "releases"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := (listing.Printer{Flags: get.NewGetPrintFlags(), Err: io.Discard}).Print(&out, list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"NAMESPACE NAME KIND POLICY CLUSTERS", "shop placed HelmRelease.helm.toolkit.fluxcd.io PropagationPolicy shop/spread eu:4,us:2",
		"shop ├─ one HelmRelease.helm.toolkit.fluxcd.io PropagationPolicy shop/spread eu:4,us:2",
		"shop └─ two HelmRelease.helm.toolkit.fluxcd.io PropagationPolicy shop/spread eu:4,us:2", "shop other HelmRelease.helm.toolkit.fluxcd.io - -", "shop top HelmRelease.helm.toolkit.fluxcd.io - eu,us",
		"shop ├─ a HelmRelease.helm.toolkit.fluxcd.io - -", "shop │ └─ deep HelmRelease.helm.toolkit.fluxcd.io - -", "shop └─ b HelmRelease.helm.toolkit.fluxcd.io - -",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("they are\n%s", out.String())
	}
	flags := get.NewGetPrintFlags()
	*flags.OutputFormat = "jsonpath={range .items[*]}{.metadata.name}{\" in \"}{.spec.in.name}{\", \"}{end}"
	out.Reset()
	const within = "placed in , one in placed, two in placed, other in , top in , a in top, deep in a, b in top, "
	if err := (listing.Printer{Flags: flags, Err: io.Discard}).Print(&out, list); err != nil || out.String() != within {
		t.Errorf("%v: they are\n%s", err, out.String())
	}
}
