package summary_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/deschedule"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/summary"
	"github.com/waybill-dev/waybill/reconciler/reason"
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

// planned is a plan of two ConfigMaps, which go to ap.
func planned(t *testing.T) plan.Plan {
	t.Helper()
	src, err := render.Load(t.Context(), twin.Texts{"clusters.yaml": clusters, "policy.yaml": policy, "a.yaml": configMap, "b.yaml": strings.Replace(configMap, "name: a", "name: b", 1)}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	return plan.Build(plan.Input{Source: src, Medium: plan.Branch, Published: map[string]tree.Published{}})
}

// What left a cluster because that failed is named by the file that it had there, which on a virtual cluster is that of the host's namespace.
func TestWhatFailedOverIsNamedByItsFile(t *testing.T) {
	p := planned(t)
	a := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	b := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "b"}
	p.Leaving = map[object.Ref][]string{a: {"ap", "gone", "us", "us-inner"}, b: {"eu", "us"}}
	inner := a
	inner.Namespace = "shop-inner"
	for cluster, want := range map[string]map[string]bool{
		"ap": nil, "eu": {tree.Path(b): true}, "us": {tree.Path(a): true, tree.Path(b): true}, "us-inner": {tree.Path(inner): true}, "unknown": nil, "gone": nil,
	} {
		if got := summary.LeavingPaths(&p, cluster); !maps.Equal(got, want) {
			t.Errorf("of %s it is %v, want %v", cluster, got, want)
		}
	}
}

// left says of the ConfigMap a how it is left in us, the third cluster.
func left(p *plan.Plan, l rollout.Left) {
	p.Left = map[object.Ref]rollout.LeftRow{{Kind: "ConfigMap", Namespace: "shop", Name: "a"}: rollout.LeftRow{}.With(l, groups.Of(2))}
}

func TestWhatIsSaidOfFailover(t *testing.T) {
	a := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	from := func(cluster string) evict.Task { return evict.Task{FromCluster: cluster, Message: "it failed"} }
	for _, tt := range []struct {
		name    string
		moves   *failover.Moves
		leaving []string
		left    rollout.Left
		want    []string
	}{
		{"nothing moves", nil, nil, rollout.Left{}, nil},
		{"it begins to leave for ap", &failover.Moves{Tasks: []evict.Task{from("us")}, Begun: []evict.Task{from("us")}}, []string{"us"}, rollout.Left{}, []string{"ConfigMap/shop/a leaves us for ap: it failed"}},
		{"it begins to leave, and is elsewhere already", &failover.Moves{Tasks: []evict.Task{from("us")}, Begun: []evict.Task{from("us")}, Remaining: []karmada.TargetCluster{{Name: "ap"}}}, []string{"us"}, rollout.Left{}, []string{"ConfigMap/shop/a leaves us: it failed"}},
		{"it goes on to leave", &failover.Moves{Tasks: []evict.Task{from("us")}}, []string{"us"}, rollout.Left{}, nil},
		{"the old copy goes", &failover.Moves{Over: []evict.Task{from("us")}}, []string{"us"}, rollout.Left{}, []string{"ConfigMap/shop/a has left us"}},
		{"what left earlier goes", nil, []string{"us"}, rollout.Left{}, []string{"ConfigMap/shop/a has left us"}},
		{"the move is over, and it stays", &failover.Moves{Over: []evict.Task{from("us")}}, []string{"us"}, rollout.Left{Kept: true, Reason: reason.Held}, []string{"ConfigMap/shop/a is elsewhere, and stays on the branch of us: " + reason.Held.Message()}},
		{"what left earlier stays", nil, []string{"us"}, rollout.Left{Kept: true, Reason: reason.Held}, nil},
		{"it is back where it failed", nil, []string{"ap"}, rollout.Left{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planned(t)
			p.Decisions[0].Moves, p.Leaving = tt.moves, map[object.Ref][]string{a: tt.leaving}
			left(&p, tt.left)
			if got := summary.ByFailover(&p); !slices.Equal(got, tt.want) {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
	p := planned(t) // what no policy sends left nothing by itself
	p.Decisions[0].Policy, p.Leaving = nil, map[object.Ref][]string{a: {"us"}}
	if got := summary.ByFailover(&p); got != nil {
		t.Errorf("it says %q", got)
	}
}

func TestWhatIsSaidOfMovesAndOfReplicas(t *testing.T) {
	a := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	for _, tt := range []struct {
		name string
		move plan.Move
		left rollout.Left
		want []string
	}{
		{"it begins", plan.Move{Stays: reason.Needed}, rollout.Left{}, []string{"ConfigMap/shop/a goes from us to ap, eu: the old copy stays until what leaves with it may go"}},
		{"it goes on", plan.Move{Stays: reason.Needed, Began: true}, rollout.Left{}, nil},
		{"it is over", plan.Move{Began: true}, rollout.Left{}, []string{"ConfigMap/shop/a has left us"}},
		{"it is over, and the old copy stays", plan.Move{Began: true}, rollout.Left{Kept: true, Reason: reason.Held}, nil},
		{"it goes at once", plan.Move{Way: move.AtOnce, Direct: move.OnceOnly}, rollout.Left{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planned(t)
			tt.move.Object, tt.move.From, tt.move.To = a, "us", []string{"ap", "eu"}
			p.Moves = []plan.Move{tt.move}
			left(&p, tt.left)
			if got := summary.ByDecision(&p); !slices.Equal(got, tt.want) {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
	p := planned(t)
	if got := summary.ByDescheduler(&p); got != nil {
		t.Errorf("of replicas that stay it says %q", got)
	}
	since := time.Date(2026, 1, 1, 13, 0, 0, 0, time.FixedZone("", 3600))
	p.Decisions[0].Shift = &deschedule.Shift{From: []deschedule.Departure{
		{From: "us", Replicas: 2, Of: 3, Since: since, Destination: []karmada.TargetCluster{{Name: "ap", Replicas: 1}, {Name: "eu", Replicas: 1}}},
	}}
	want := []string{"ConfigMap/shop/a has 2 of 3 replicas leave us for ap (1), eu (1): no node was found there since 2026-01-01T12:00:00Z"}
	if got := summary.ByDescheduler(&p); !slices.Equal(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
}
