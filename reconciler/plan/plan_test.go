package plan_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
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
`
	policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {}}\n"
)

// configMap is one of the namespace shop.
func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: shop}\ndata: {k: v}\n"
}

func ref(name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// planned plans files, with something else asked for.
func planned(t *testing.T, files twin.Texts, edit func(*plan.Input)) plan.Plan {
	t.Helper()
	texts := maps.Clone(files)
	texts["clusters.yaml"] = clusters
	src, err := render.Load(t.Context(), texts, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Input{Source: src, Medium: plan.Branch, Memo: plan.NewMemo(), Published: map[string]tree.Published{}}
	edit(&in)
	return plan.Build(in)
}

// published is what clusters have by a plan.
func published(p *plan.Plan) map[string]tree.Published {
	all := map[string]tree.Published{}
	for _, c := range p.Clusters {
		all[c.Name] = tree.Published{Built: c.Tree}
	}
	return all
}

// where lists the clusters that have an object by a plan.
func where(p *plan.Plan, r object.Ref) (names []string) {
	for _, c := range p.Clusters {
		if _, ok := c.Tree.Lookup(tree.Path(r)); ok {
			names = append(names, c.Name)
		}
	}
	return names
}

// What no kustomization lists stays in the clusters that have it, and nowhere else, until somebody allows that it goes; what is listed
// again is as any other.
func TestWhatIsNotListedStays(t *testing.T) {
	before := planned(t, twin.Texts{"policy.yaml": policy, "all.yaml": configMap("a"), "x.yaml": configMap("x"), "clusters/eu/own.yaml": configMap("own")}, func(*plan.Input) {})
	all := []state.Unlisted{{Object: ref("x"), File: "x.yaml"}, {Object: ref("own"), Cluster: "eu", File: "clusters/eu/own.yaml"}}
	next := func(files twin.Texts, edit func(*plan.Input)) plan.Plan {
		return planned(t, files, func(in *plan.Input) {
			in.Published, in.Unlisted = published(&before), all
			edit(in)
		})
	}
	without := twin.Texts{"policy.yaml": policy, "all.yaml": configMap("a")}
	p := next(without, func(in *plan.Input) { delete(in.Published, "us") })
	if x, own := where(&p, ref("x")), where(&p, ref("own")); !slices.Equal(x, []string{"ap", "eu"}) || !slices.Equal(own, []string{"eu"}) {
		t.Errorf("x stays in %q, own in %q", x, own)
	}
	i := slices.IndexFunc(p.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.UnlistedStays })
	if i < 0 {
		t.Fatalf("it says %v", p.Diags)
	}
	_, less, _ := strings.Cut(p.Diags[i].Hint, guard.AllowTrailer+": ") // of two clusters
	if less, _, _ = strings.Cut(less, `"`); less == "" {
		t.Fatalf("it hints: %s", p.Diags[i].Hint)
	}
	p = next(without, func(in *plan.Input) { in.Allow.Named = "0123456789abcdef" })
	if x := where(&p, ref("x")); len(x) != 3 {
		t.Errorf("something else is allowed, and x stays in %q", x)
	}
	p = next(without, func(in *plan.Input) { in.Allow.Named = less })
	if x := where(&p, ref("x")); len(x) != 3 {
		t.Errorf("it is allowed to go from two clusters, and x stays in %q", x)
	}
	p = next(without, func(in *plan.Input) { delete(in.Published, "us"); in.Allow.Named = less })
	if x := where(&p, ref("x")); len(x) > 0 {
		t.Errorf("it is allowed to go from two clusters, which have it, and x stays in %q", x)
	}
	p = next(without, func(in *plan.Input) { in.Allow.Named = guard.AllowAll })
	if x, own := where(&p, ref("x")), where(&p, ref("own")); len(x)+len(own) > 0 {
		t.Errorf("it is allowed to go, and x stays in %q, own in %q", x, own)
	}
	listed := twin.Texts{"policy.yaml": policy, "all.yaml": configMap("a")}
	for name, path := range map[string]string{"x": "x.yaml", "own": "clusters/eu/own.yaml"} {
		listed[path] = strings.Replace(configMap(name), "k: v", "k: changed", 1)
	}
	p = next(listed, func(*plan.Input) {})
	for _, name := range []string{"x", "own"} { // of all clusters, and of eu alone
		e, ok := p.Clusters[1].Tree.Lookup(tree.Path(ref(name)))
		if !ok {
			t.Fatalf("%s, which is listed again, is not there", name)
		}
		if data, err := e.Blob.Bytes(); err != nil || !strings.Contains(string(data), "changed") {
			t.Errorf("%s, which is listed again, stays as it was: %s, %v", name, data, err)
		}
	}
	if slices.ContainsFunc(p.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.UnlistedStays }) {
		t.Errorf("all is listed again, and it says %v", p.Diags)
	}
}

// What no kustomization lists stays in a virtual cluster, too, by the name that it has there: one object after the other.
func TestWhatIsNotListedStaysInAVirtualCluster(t *testing.T) {
	const virtual = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nspec: {syncMode: Pull}\n" +
		"metadata: {name: v, annotations: {waybill.dev/virtual-of: eu}}\n"
	files := twin.Texts{"virtual.yaml": virtual, "policy.yaml": policy, "x.yaml": configMap("x"), "y.yaml": configMap("y")}
	before := planned(t, files, func(*plan.Input) {})
	p := planned(t, twin.Texts{"virtual.yaml": virtual, "policy.yaml": policy}, func(in *plan.Input) {
		in.Published = published(&before)
		in.Unlisted = []state.Unlisted{{Object: ref("x"), File: "x.yaml"}, {Object: ref("y"), File: "y.yaml"}}
	})
	for i, c := range p.Clusters {
		if c.Objects != before.Clusters[i].Objects || c.Tree.ID() != before.Clusters[i].Tree.ID() {
			t.Errorf("%s holds %d objects, and held %d", c.Name, c.Objects, before.Clusters[i].Objects)
		}
	}
}

// What was made of an older commit is remembered as long as plans evaluate it, and forgotten with the plan after the next that does not.
func TestOlderCommitsAreForgotten(t *testing.T) {
	src, err := render.Load(t.Context(), twin.Texts{
		"clusters.yaml": clusters, // what an API server adds to a Service is made once
		"web.yaml":      "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n",
	}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		between int // plans that do not evaluate it
		isKept  bool
	}{{"the next plan evaluates it", 0, true}, {"the plan after the next does", 1, false}} {
		memo := plan.NewMemo()
		expanded := func(isOlder bool) (content map[string]any) {
			in := plan.Input{Source: src, Medium: plan.Branch, Memo: memo, Published: map[string]tree.Published{}}
			if err := plan.Expand(&in, engine.Unrendered); err != nil {
				t.Fatal(err)
			}
			if !isOlder {
				return nil
			}
			if err := plan.ExpandOlder(&in, "older", src, engine.Unrendered); err != nil {
				t.Fatal(err)
			}
			return in.Staging.Versions["older"].Expanded.Templates[0].Content
		}
		first := expanded(true)
		for range tt.between {
			expanded(false)
		}
		then := expanded(true)
		if isKept := reflect.ValueOf(first).Pointer() == reflect.ValueOf(then).Pointer(); isKept != tt.isKept {
			t.Errorf("%s: what was made of it is there still: %t", tt.name, isKept)
		}
	}
}

// What is allowed when a move begins is that the clusters which would be held lose the object, and not that others lose it, which are
// judged when it goes.
func TestWhatIsAllowedOfAMoveIsOfItsCluster(t *testing.T) {
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 1}\n"
	files := func(to string) twin.Texts {
		return twin.Texts{
			"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  namespaces: none\n  publish: {moves: {wait: 5m}}\n",
			"web.yaml":     web, "clusters/eu/own.yaml": configMap("own"),
			"policy.yaml": strings.NewReplacer("v1, kind: ConfigMap", "apps/v1, kind: Deployment", "placement: {}", "placement: {clusterAffinity: {clusterNames: ["+to+"]}}").Replace(policy),
		}
	}
	before := planned(t, files("eu, us"), func(*plan.Input) {})
	p := planned(t, files("ap"), func(in *plan.Input) {
		in.Published, in.Allow.Named, in.Now = published(&before), guard.AllowAll, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	})
	for plans := range 2 { // it is remembered as long as the move goes on
		is, err := state.Decode(p.State, nil)
		if err != nil {
			t.Fatal(err)
		}
		allowed := map[string]bool{}
		for _, l := range is.Leaving {
			allowed[l.Cluster] = l.Allowed
		}
		if want := map[string]bool{"eu": false, "us": true}; !maps.Equal(allowed, want) {
			t.Errorf("after %d more plans it is allowed that they lose it: %v; want %v", plans, allowed, want)
		}
		p = planned(t, files("ap"), func(in *plan.Input) {
			in.State, in.Published, in.Now = is, published(&p), time.Date(2026, 1, 1, 12, 1, 0, 0, time.UTC)
		})
	}
}
