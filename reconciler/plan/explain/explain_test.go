package explain_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/explain"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

const source = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], placement: {clusterAffinity: {clusterNames: [us, eu]}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: named, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement:
    clusterAffinity: {clusterNames: [us, eu]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [us]}, weight: 2}, {targetCluster: {clusterNames: [eu]}, weight: 1}]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: in-eu, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  overrideRules:
  - targetCluster: {clusterNames: [eu]}
    overriders: {plaintext: [{path: /metadata/annotations, operator: add, value: {in: eu}}]}
  - targetCluster: {clusterNames: [us]}
    overriders: {plaintext: [{path: /spec/nothing/here, operator: remove}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 3, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: web:1}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: alone, namespace: shop}
`

func planned(t *testing.T, edit func(*plan.Input)) plan.Plan {
	t.Helper()
	src, err := render.Load(t.Context(), twin.Texts{"all.yaml": source}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Input{Source: src, Medium: plan.Branch, Memo: plan.NewMemo(), Published: map[string]tree.Published{}}
	edit(&in)
	return plan.Build(in)
}

func TestTemplate(t *testing.T) {
	p := planned(t, func(*plan.Input) {})
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	if _, found := explain.Template(&p, object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "blog"}); found {
		t.Error("it explains what is not there")
	}
	e, found := explain.Template(&p, web)
	if !found || e.Winner == nil || e.Winner.Object.Ref().Name != "named" || len(e.Losers) != 1 || e.Losers[0].Policy != "PropagationPolicy shop/all" {
		t.Fatalf("found: %t; %+v wins over %+v", found, e.Winner, e.Losers)
	}
	if len(e.Clusters) != 2 || e.Clusters[0].Cluster != "eu" || e.Clusters[1].Cluster != "us" {
		t.Fatalf("it is in %+v", e.Clusters)
	}
	eu, us := e.Clusters[0], e.Clusters[1]
	if eu.Replicas != 1 || len(eu.Changes) != 1 || eu.Err != nil || us.Replicas != 2 || us.Err == nil {
		t.Errorf("in eu it is %+v, in us %+v", eu, us)
	}
	if len(e.Answers) == 0 || e.Placement == nil || e.Rollout != nil || len(e.Moves) > 0 {
		t.Errorf("it is explained by %+v", e)
	}
	alone, found := explain.Template(&p, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "alone"})
	if !found || alone.Winner != nil || len(alone.Clusters) > 0 || alone.Decision == nil {
		t.Errorf("of what no policy selects it says %t and %+v", found, alone)
	}
}

// What is recorded, moves and is left is that of the template and of no other one; where it is left and no longer goes to is a cluster
// of it, too.
func TestWhatAPlanSaysBesideItsDecisions(t *testing.T) {
	p := planned(t, func(*plan.Input) {})
	web, other := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "alone"}
	p.Clusters = append(p.Clusters, plan.Cluster{Name: "ap"})
	us := slices.IndexFunc(p.Clusters, func(c plan.Cluster) bool { return c.Name == "us" })
	var none rollout.LeftRow
	p.Left = map[object.Ref]rollout.LeftRow{
		web:   none.With(rollout.Left{Kept: true, Reason: reason.Suspended}, groups.Of(len(p.Clusters)-1)).With(rollout.Left{Reason: reason.Failed}, groups.Of(us)),
		other: none.With(rollout.Left{Reason: reason.NotScaled}, groups.First(len(p.Clusters))),
	}
	p.Moves = []plan.Move{{Object: other, From: "eu"}, {Object: web, From: "ap"}}
	first, second := &rollouts.Rollout{}, &rollouts.Rollout{}
	p.Units, p.Rollouts = map[object.Ref]int{other: 1, web: 2}, []stage.Output{{After: first}, {After: second}}
	e, _ := explain.Template(&p, web)
	if len(e.Moves) != 1 || e.Moves[0].From != "ap" || e.Rollout != second {
		t.Errorf("it moves by %v, and %p is recorded, want %p", e.Moves, e.Rollout, second)
	}
	var left []string
	for _, w := range e.Clusters {
		text := w.Cluster
		if w.Left != nil {
			text += fmt.Sprintf(" %s %t", w.Left.Reason, w.Left.Kept)
		}
		left = append(left, text)
	}
	if want := []string{"ap DispatchingSuspended true", "eu", "us OverrideFails false"}; !slices.Equal(left, want) {
		t.Errorf("it is in %q, want %q", left, want)
	}
}

// What scripts spent for the plan does not count when one template is explained: they are asked again.
func TestScriptsThatHaveSpentAllForThePlan(t *testing.T) {
	const script = `---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: dear}
spec:
  target: {apiVersion: apps/v1, kind: Deployment}
  customizations:
    replicaRevision:
      luaScript: |
        function ReviseReplica(o, n)
          local s = ('x'):rep(1e6)
          for i = 1, 5 do s = s:upper() end
          o.spec.replicas = n
          return o
        end
`
	src, err := render.Load(t.Context(), twin.Texts{"all.yaml": source + script}, render.With{})
	if err != nil {
		t.Fatal(err)
	}
	p := plan.Build(plan.Input{Source: src, Medium: plan.Branch, Memo: plan.NewMemo(), Published: map[string]tree.Published{}})
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	d, interpreter := schedule.Find(p.Decisions, web), p.Expanded.Policies.Interpreter
	var spent error
	for n := 0; spent == nil && n < 100; n++ {
		_, spent = interpreter.Revise(d.Template.Content, 1)
	}
	e, found := explain.Template(&p, web)
	if spent == nil || !found || len(e.Clusters) != 2 || e.Clusters[0].Err != nil || len(e.Clusters[0].Changes) == 0 {
		t.Errorf("when all is spent (%v) it is explained by %+v", spent, e.Clusters)
	}
}
