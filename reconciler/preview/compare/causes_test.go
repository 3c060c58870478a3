package compare

import (
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
)

// TestWhichEditsOfClustersAreNamed: those of the clusters in which it comes and goes before any other, and three at most.
func TestWhichEditsOfClustersAreNamed(t *testing.T) {
	cluster := func(name, labels string) *object.Object {
		return one(t, name+".yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: "+name+", labels: {"+labels+"}}\n")
	}
	relabelled := func(names ...string) edits {
		e := edits{clusters: map[string]edit{}}
		for _, name := range names {
			e.clusters[name] = edit{base: cluster(name, "a: b"), head: cluster(name, "a: c"), what: name}
		}
		return e
	}
	many := relabelled("eu")
	many.clusters["eu"] = edit{base: cluster("eu", "a: b, b: b"), head: cluster("eu", "a: c, b: c"), what: "eu"}
	many.clusters["us"] = edit{base: cluster("us", "a: b, b: b"), head: cluster("us", "a: c, b: c"), what: "us"}
	const eu, me, us = "eu: metadata.labels.a goes from b to c (eu.yaml:3)", "me: metadata.labels.a goes from b to c (me.yaml:3)", "us: metadata.labels.a goes from b to c (us.yaml:3)"
	for _, tt := range []struct {
		name  string
		edits edits
		item  item
		want  string
	}{
		{"none", relabelled(), item{added: []int{0}}, ""},
		{"one that gets it", relabelled("eu", "us"), item{added: []int{0}}, eu},
		{"one that loses it", relabelled("eu", "us"), item{removed: []int{1}}, us},
		{"both", relabelled("eu", "me", "us"), item{added: []int{0}, removed: []int{1}}, eu + "; " + us},
		{"one in which it stays", relabelled("eu", "me"), item{detached: []string{"me"}}, me},
		{"others", relabelled("eu", "me"), item{added: []int{1}}, eu + "; " + me},
		{"more than three", many, item{added: []int{0, 1}}, eu + "; eu: metadata.labels.b goes from b to c (eu.yaml:3); " + us},
		{"more than three others", relabelled("eu", "me", "us", "zz"), item{}, eu + "; " + me + "; " + us},
	} {
		c := comparer{groups: []group{{names: []string{"eu"}}, {names: []string{"us"}}}}
		w := why{comparer: &c, edits: tt.edits}
		if got := said(w.ofClusters(&tt.item)); got != tt.want {
			t.Errorf("%s: it is %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWhichEditPlacesOtherwise: that of the policy before those of clusters, and these before anything else that steers.
func TestWhichEditPlacesOtherwise(t *testing.T) {
	at := func(kind, name, spec string) *object.Object {
		return one(t, name+".yaml", "apiVersion: policy.karmada.io/v1alpha1\nkind: "+kind+"\nmetadata: {name: "+name+", namespace: a}\nspec: {"+spec+"}\n")
	}
	policy := at("PropagationPolicy", "p", "v: two")
	ofPolicy := map[object.Ref]edit{policy.Ref(): {base: at("PropagationPolicy", "p", "v: one"), head: policy, what: "p", open: true}}
	ofCluster := map[string]edit{"eu": {head: at("Cluster", "eu", "a: b"), what: "eu"}}
	other := func(n string) edit { return edit{head: at("Remedy", n, "a: b"), what: n} }
	head := &plan.Decision{Policy: &policies.Propagation{Object: policy}}
	for _, tt := range []struct {
		name  string
		edits edits
		want  string
	}{
		{"of its policy", edits{policies: ofPolicy, clusters: ofCluster, others: []edit{other("a")}}, "p: spec.v goes from one to two (p.yaml:4)"},
		{"of a cluster", edits{clusters: ofCluster, others: []edit{other("a")}}, "eu is new (eu.yaml:1)"},
		{"of something else", edits{others: []edit{other("a"), other("b")}}, "a is new (a.yaml:1); b is new (b.yaml:1)"},
		{"of much else", edits{others: []edit{other("a"), other("b"), other("c"), other("d")}}, "a is new (a.yaml:1); b is new (b.yaml:1); c is new (c.yaml:1)"},
		{"of nothing", edits{}, "placed otherwise by PropagationPolicy a/p (p.yaml:1)"},
	} {
		w := why{comparer: &comparer{}, edits: tt.edits}
		if got := said(w.placedOtherwise(&item{}, head)); got != tt.want {
			t.Errorf("%s: it is %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestWhyAnObjectChangesThatIsAsItWas: because of an edit of a cluster, before it is said that it follows something else.
func TestWhyAnObjectChangesThatIsAsItWas(t *testing.T) {
	o := one(t, "web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: a}\n")
	same := &plan.Decision{Template: &template.Template{Variant: template.Variant{Object: o}}, Targets: []karmada.TargetCluster{{Name: "eu"}}}
	cluster := one(t, "eu.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\n")
	const isNew = "Cluster eu is new (eu.yaml:1)"
	for _, tt := range []struct {
		name       string
		base, head *plan.Decision
		edited     bool // the cluster is
		want       string
	}{
		{"no policy places it", nil, nil, true, isNew},
		{"no policy places it, and no cluster is edited", nil, nil, false, ""},
		{"it is placed as before", same, same, true, isNew},
		{"it is placed as before, and no cluster is edited", same, same, false, "something in the cluster needs it now"},
		{"it is new", nil, same, true, "new (web.yaml:1); " + isNew},
		{"it is new, and no cluster is edited", nil, same, false, "new (web.yaml:1)"},
		{"it is gone", same, nil, true, "removed (web.yaml:1)"},
	} {
		w := why{
			comparer: &comparer{groups: []group{{names: []string{"eu"}}}}, before: folders{plan: &plan.Plan{}}, after: folders{plan: &plan.Plan{}},
			base: map[object.Ref]*plan.Decision{o.Ref(): tt.base}, head: map[object.Ref]*plan.Decision{o.Ref(): tt.head},
		}
		if tt.edited {
			w.edits.clusters = map[string]edit{"eu": {head: cluster, what: "Cluster eu"}}
		}
		if got := said(w.causes(&item{ref: o.Ref(), added: []int{0}})); got != tt.want {
			t.Errorf("%s: it is %q, want %q", tt.name, got, tt.want)
		}
	}
}
