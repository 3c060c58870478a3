package ingress_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/ingress"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

const route = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us-1, annotations: {waybill.dev/service-import-backends: rewrite}}
spec: {syncMode: Pull}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: routes, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute}]
  placement: {clusterAffinity: {clusterNames: [us-1]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: front, namespace: shop}
spec:
  rules:
  - backendRefs: [{group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 80}]
`

// TestDecisionsAreReturned with what was found of backends, and those that were given are left as they are: others remember them.
func TestDecisionsAreReturned(t *testing.T) {
	set, objects, diags := policies.Load(object.Decode("all.yaml", []byte(route)).Objects, nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	in := schedule.Input{Policies: index.Of(set, nil, &index.Memo{}), State: &state.State{}, Memo: &schedule.Memo{}}
	for _, o := range objects {
		in.Templates = append(in.Templates, template.New(o, &template.Memo{}))
	}
	decided := schedule.Decide(in)
	res := ingress.Write(manifest.Input{
		Policies: in.Policies, Decisions: decided.Decisions, Config: render.DefaultConfig(), OnBranch: true, Memo: &manifest.Memo{},
		Before: manifest.Before{
			Had:       func(object.Ref) func(int) bool { return func(int) bool { return false } },
			Sent:      func(object.Ref, string) bool { return false },
			Own:       func(int) []object.Ref { return nil },
			Leaving:   func(*schedule.Decision) []string { return nil },
			HoldsData: func(object.Ref, int) bool { return false },
		},
	})
	if len(res.Decisions) != 1 || !res.Decisions[0].Backends["us-1"].Lacks {
		t.Errorf("they are %+v", res.Decisions)
	}
	if decided.Decisions[0].Backends != nil {
		t.Errorf("what was given says %+v", decided.Decisions[0].Backends)
	}
}
