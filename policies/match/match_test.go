package match

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// load reads policies, one YAML document each.
func load(tb testing.TB, docs ...string) []*policies.Propagation {
	tb.Helper()
	var objs []*object.Object
	for _, doc := range docs {
		head, selector, _ := strings.Cut(doc, ": ")
		namespace, name, namespaced := strings.Cut(head, "/")
		kind, meta := "PropagationPolicy", "{name: "+name+", namespace: "+namespace+"}"
		if !namespaced {
			kind, meta = "ClusterPropagationPolicy", "{name: "+head+"}"
		}
		priority := "0"
		if s, p, ok := strings.Cut(selector, " priority "); ok {
			selector, priority = s, p
		}
		d := object.Decode("p.yaml", []byte("apiVersion: policy.karmada.io/v1alpha1\nkind: "+kind+"\nmetadata: "+meta+"\nspec: {priority: "+priority+", resourceSelectors: [{apiVersion: apps/v1, kind: Deployment"+selector+"}]}\n"))
		objs = append(objs, d.Objects...)
	}
	set, _, diags := policies.Load(objs, nil)
	if diag.HasErrors(diags) || len(set.Propagation) != len(docs) {
		tb.Fatal(diags)
	}
	return set.Propagation
}

var web = policies.Subject{APIVersion: "apps/v1", Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, Labels: labels.Set{"team": "blue"}}

func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		name     string
		policies []string
		want     string
	}{
		{"no policy selects it", []string{"shop/a: , name: other", "x/b: "}, ""},
		{"a policy of the namespace beats any cluster-wide one", []string{"shop/a: ", "z: , name: web priority 100"}, "a"},
		{"a policy of another namespace does not count", []string{"x/a: , name: web", "z: "}, "z"},
		{"a policy of another namespace alone", []string{"x/a: , name: web"}, ""},
		{"the higher priority", []string{"shop/a: , name: web", "shop/b:  priority 1"}, "b"},
		{"a negative priority", []string{"shop/a:  priority -1", "shop/b: "}, "b"},
		{"a name is closer than labels", []string{"shop/a: , labelSelector: {matchLabels: {team: blue}}", "shop/b: , name: web"}, "b"},
		{"labels are closer than the kind", []string{"shop/a: ", "shop/b: , labelSelector: {matchLabels: {team: blue}}"}, "b"},
		{"an empty label selector is one", []string{"shop/a: ", "shop/b: , labelSelector: {}"}, "b"},
		{"with a name, the labels do not matter", []string{"shop/a: , name: web, labelSelector: {matchLabels: {team: red}}"}, "a"},
		{"labels that do not match", []string{"shop/a: , labelSelector: {matchLabels: {team: red}}"}, ""},
		{"the smaller name", []string{"shop/b: ", "shop/a: ", "shop/c: "}, "a"},
		{"any kind of a namespace", []string{"z: , name: other}, {apiVersion: '*', kind: '*', namespace: shop", "y: , name: other}, {apiVersion: '*', kind: '*', namespace: x"}, "z"},
		{"any kind, by labels", []string{"z: , name: other}, {apiVersion: '*', kind: '*', namespace: shop, labelSelector: {matchLabels: {team: blue}}"}, "z"},
		{"any kind, by other labels", []string{"z: , name: other}, {apiVersion: '*', kind: '*', namespace: shop, labelSelector: {matchLabels: {team: red}}"}, ""},
		{"any kind of another namespace", []string{"x/a: , name: other}, {apiVersion: '*', kind: '*'"}, ""},
		{"any kind of the namespace beats a cluster-wide name", []string{"shop/a: , name: other}, {apiVersion: '*', kind: '*'", "z: , name: web"}, "a"},
		{"a selector with a namespace", []string{"z: , namespace: other", "y: , namespace: shop"}, "y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix := New(load(t, tt.policies...))
			got, written := "", web
			written.File = "web.yaml"
			if p := ix.Policy(written); p != nil {
				got = p.Object.Ref().Name
			}
			if got != tt.want {
				t.Errorf("%q claims it, want %q", got, tt.want)
			}
			if cs := ix.Candidates(written); len(cs) > 0 && cs[0].Policy.Object.Ref().Name != got {
				t.Errorf("the first candidate is %s", cs[0].Policy)
			}
		})
	}
}

func TestWhy(t *testing.T) {
	var got []string
	cs := New(load(t, "shop/a: , name: web", "shop/b: ", "shop/c: , name: web", "shop/d:  priority -3", "z:  priority 9")).Candidates(web)
	for _, c := range cs[1:] {
		got = append(got, c.Policy.Object.Ref().Name+": "+Why(c, cs[0]))
	}
	want := []string{
		"c: its name comes after the winner's", "b: it matches by kind, the winner by name",
		"d: its priority is -3, the winner's 0", "z: a PropagationPolicy beats every ClusterPropagationPolicy",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Whoever selects any kind selects what nobody else names, too, each once, and behind whoever names it.
func TestPoliciesOfAnyKind(t *testing.T) {
	ix := New(load(t, "shop/a: , name: other}, {apiVersion: '*', kind: '*'", "shop/b: ",
		"shop/c: , name: none}, {apiVersion: apps/v1, kind: StatefulSet", "z: , name: none}, {apiVersion: '*', kind: '*', namespace: shop"))
	for kind, want := range map[string]string{"Deployment": "b a z", "StatefulSet": "c a z", "DaemonSet": "a z"} {
		of := policies.Subject{APIVersion: "apps/v1", Ref: object.Ref{Group: "apps", Kind: kind, Namespace: "shop", Name: "web"}, File: "web.yaml"}
		var names []string
		for _, c := range ix.Candidates(of) {
			names = append(names, c.Policy.Object.Ref().Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("of a %s the candidates are %s, want %s", kind, got, want)
		}
		rendered := of
		if rendered.File = ""; len(ix.Candidates(rendered)) != strings.Count(want, "b")+strings.Count(want, "c") {
			t.Errorf("what a release renders is claimed by its kind: %v", ix.Candidates(rendered))
		}
	}
}

// A policy that selects a template by several selectors matches it once, as closely as it can.
func TestAPolicyMatchesOnce(t *testing.T) {
	for name, selectors := range map[string]string{
		"by its kind and by any kind": ", labelSelector: {matchLabels: {team: blue}}}, {apiVersion: '*', kind: '*'",
		"by its kind twice":           "}, {apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {team: blue}}",
	} {
		t.Run(name, func(t *testing.T) {
			ix := New(load(t, "shop/a: "+selectors))
			web := web
			web.File = "web.yaml"
			cs := ix.Candidates(web)
			if len(cs) != 1 || cs[0].Implicit != policies.MatchByLabel {
				t.Errorf("the candidates are %v", cs)
			}
			if winner, losers := ix.Losers(web); winner == nil || losers != nil {
				t.Errorf("%v wins, and %v lose", winner, losers)
			}
		})
	}
}

func TestNearMiss(t *testing.T) {
	ix := New(load(t, "shop/a: , name: web"))
	other := web
	other.APIVersion = "apps/v1beta2"
	if p, v := ix.NearMiss(other); p == nil || v != "apps/v1" {
		t.Errorf("the near miss is %v %s", p, v)
	}
	elsewhere := other
	elsewhere.Ref.Namespace = "x"
	if p, _ := ix.NearMiss(elsewhere); p != nil {
		t.Errorf("%s of another namespace is a near miss", p)
	}
	if p, v := New(load(t, "z: , name: web")).NearMiss(elsewhere); p == nil || v != "apps/v1" {
		t.Errorf("the near miss of every namespace is %v %s", p, v)
	}
	other.Ref.Name = "other"
	if p, _ := ix.NearMiss(other); p != nil {
		t.Errorf("%s is no near miss of %s", p, other.Ref)
	}
}

// An owner sends its object in place of any policy, and the policies that would have claimed it lost it to the owner.
func TestOwnersGoBeforePolicies(t *testing.T) {
	d := object.Decode("mcs.yaml", []byte("apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: web, namespace: shop}\n"))
	owner := &policies.Propagation{Object: d.Objects[0], Spec: &karmada.PropagationSpec{}}
	ix := New(load(t, "shop/a: , name: web")).WithOwners(map[object.Ref]*policies.Propagation{web.Ref: owner})
	winner, losers := ix.Losers(web)
	if ix.Policy(web) != owner || winner != owner || len(losers) != 1 || losers[0].Why != "MultiClusterService shop/web sends it in place of any policy" {
		t.Errorf("%v wins, and %v lose", winner, losers)
	}
	other := web
	other.Ref.Name = "other"
	if ix.Owner(other) != nil {
		t.Error("another object has an owner")
	}
}
