package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/lastgood"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

// What is out of reach is remembered until it is allowed that clusters lose it.
func TestWhatIsOutOfReachIsRemembered(t *testing.T) {
	files := twin.Texts{"policy.yaml": policy, "a.yaml": configMap("a"), "b.yaml": configMap("b")}
	before := planned(t, files, func(*plan.Input) {})
	was := decoded(t, before.State)
	was.Published.Commit = "commit-1"
	was.LastGood = state.LastGood{
		Broken:  map[string]state.Part{"b.yaml": {Commit: "commit-0"}},
		Objects: []state.Good{{Object: ref("b"), Commit: "commit-0", In: []string{"b.yaml"}}},
	}
	broken := twin.Texts{"policy.yaml": policy, "a.yaml": configMap("a"), "b.yaml": "kind: ["}
	next := func(named string) (is state.State, p plan.Plan) {
		p = planned(t, broken, func(in *plan.Input) {
			in.State, in.Published, in.Allow.Named = was, published(&before), named
			in.Source, in.Unresolved = lastgood.Restore(lastgood.Input{
				Source: in.Source, State: &in.State, Earlier: map[string]render.Source{"commit-1": in.Source},
				Allows: func(string) bool { return false },
			})
		})
		return decoded(t, p.State), p
	}
	held, p := next("")
	if len(held.LastGood.Objects) != 1 || !slices.ContainsFunc(p.Clusters, func(c plan.Cluster) bool { return c.Held != nil }) {
		t.Fatalf("remembered is %+v, and it says %v", held.LastGood, p.Diags)
	}
	if is, _ := next(guard.AllowAll); len(is.LastGood.Objects) > 0 {
		t.Errorf("it is allowed to go, and remembered is %+v", is.LastGood)
	}
}

// An error of the moment is recorded as it was when a plan is made again, whatever key there is then.
func TestErrorsOfTheMomentAreRecordedAsTheyWere(t *testing.T) {
	release := strings.Replace(helmRelease("web"), "shop}", "shop, annotations: {waybill.dev/allow-functions: randAlphaNum}}", 1)
	src, err := render.Load(t.Context(), twin.Texts{
		"clusters.yaml": clusters, "policy.yaml": forReleases, "web.yaml": release, "chart/Chart.yaml": chart,
	}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]draw.Key{}
	for _, name := range []string{"one", "other"} {
		if keys[name], err = draw.NewKey([]byte(strings.Repeat(name+" of some bytes ", 3))); err != nil {
			t.Fatal(err)
		}
	}
	built := func(key string, again *state.State) (is state.State, p plan.Plan) {
		in := plan.Input{Source: src, Medium: plan.Branch, Published: map[string]tree.Published{}, Now: noon}
		in.State.Random, in.Random = state.Random{Key: keys["one"].Fingerprint(), Source: "fleet"}, plan.Random{Key: keys[key], Source: "fleet"}
		if again != nil {
			again.Commit, in.Replay = "state-1", &plan.Replay{State: *again}
		}
		if err := plan.Expand(&in, rendered); err != nil {
			t.Fatal(err)
		}
		p = plan.Build(in)
		return decoded(t, p.State), p
	}
	of := func(is state.State) (all []diag.Code) {
		for _, e := range is.SourceErrors.Errors {
			all = append(all, e.Code)
		}
		return all
	}
	wrong, _ := built("other", nil)
	right, _ := built("one", nil)
	if len(of(right)) > 0 || !slices.Equal(of(wrong), []diag.Code{diag.RandomKey}) {
		t.Fatalf("recorded is %v with the wrong key, and %v with the right one", of(wrong), of(right))
	}
	if is, _ := built("one", &wrong); !slices.Equal(of(is), of(wrong)) {
		t.Errorf("made again with the right key, recorded is %v", of(is))
	}
	if is, _ := built("other", &right); len(of(is)) > 0 {
		t.Errorf("made again with the wrong key, recorded is %v", of(is))
	}
}

// Decisions are those that are carried out: of what is derived of a ServiceImport with the affinity of what is exported.
func TestDecisionsAreThoseThatAreCarriedOut(t *testing.T) {
	const all = "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: shop}\n" +
		"spec: {sessionAffinity: ClientIP, ports: [{name: http, port: 80}]}\n" +
		"---\napiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceExport\nmetadata: {name: api, namespace: shop}\n" +
		"---\napiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: api, namespace: shop}\n" +
		"spec: {type: ClusterSetIP, ports: [{name: http, port: 80, protocol: TCP}]}\n"
	p := planned(t, twin.Texts{"all.yaml": all, "p.yaml": strings.Replace(policy, "[{apiVersion: v1, kind: ConfigMap}]",
		"[{apiVersion: v1, kind: Service}, {apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceExport}, "+
			"{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}]", 1)}, func(*plan.Input) {})
	i := slices.IndexFunc(p.Decisions, func(d plan.Decision) bool {
		return d.Ref() == object.Ref{Kind: "Service", Namespace: "shop", Name: "derived-api"}
	})
	if i < 0 {
		t.Fatalf("nothing is derived: %v", p.Diags)
	}
	spec, _ := p.Decisions[i].Template.Content["spec"].(map[string]any)
	if spec["sessionAffinity"] != "ClientIP" {
		t.Errorf("it is %v", spec)
	}
}
