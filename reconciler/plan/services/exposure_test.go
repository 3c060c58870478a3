package services_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// exposed is a Service that one cluster provides, and others call, in one of which it has another port.
const exposed = `
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu-1}, spec: {syncMode: Pull}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu-2}, spec: {syncMode: Pull}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us-1}, spec: {syncMode: Pull}}
---
{apiVersion: v1, kind: Service, metadata: {name: api, namespace: shop}, spec: {ports: [{name: http, port: 80}]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: port, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Service}]
  overrideRules:
  - targetCluster: {clusterNames: [us-1]}
    overriders: {plaintext: [{path: /spec/ports/0/port, operator: replace, value: 8080}]}
---
apiVersion: networking.karmada.io/v1alpha1
kind: MultiClusterService
metadata: {name: api, namespace: shop}
spec: {types: [CrossCluster], `

// Services of clusters that provide a MultiClusterService are held against each other, and those of clusters that only call it are not.
func TestWhoseServicesAreCompared(t *testing.T) {
	for _, tt := range []struct {
		name, clusters string
		differ         bool
	}{
		{"one provides it", "providerClusters: [{name: eu-1}], consumerClusters: [{name: eu-2}, {name: us-1}]}", false},
		{"two provide it alike", "providerClusters: [{name: eu-1}, {name: eu-2}], consumerClusters: [{name: us-1}]}", false},
		{"two provide it that differ", "providerClusters: [{name: eu-1}, {name: us-1}], consumerClusters: [{name: eu-2}]}", true},
		{"all provide it", "consumerClusters: [{name: eu-1}]}", true},
	} {
		set, objects, diags := policies.Load(object.Decode("all.yaml", []byte(exposed+tt.clusters)).Objects, nil)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		in := schedule.Input{Policies: index.Of(set, nil, &index.Memo{}), State: &state.State{}, Memo: &schedule.Memo{}}
		for _, o := range objects {
			in.Templates = append(in.Templates, template.New(o, &template.Memo{}))
		}
		_, exchange, _ := services.Write(manifest.Input{
			Policies: in.Policies, Decisions: schedule.Decide(in).Decisions, Config: render.DefaultConfig(), OnBranch: true, Memo: &manifest.Memo{},
			Before: manifest.Before{
				Had:       func(object.Ref) func(int) bool { return func(int) bool { return false } },
				Sent:      func(object.Ref, string) bool { return false },
				Own:       func(int) []object.Ref { return nil },
				Leaving:   func(*schedule.Decision) []string { return nil },
				HoldsData: func(object.Ref, int) bool { return false },
			},
		})
		_, laid := exchange.Lay(&layout.Input{}, nil)
		said := laid.Said()
		if differ := len(said) == 1 && said[0].Code == diag.ExportConflict; differ != tt.differ || len(said) > 1 {
			t.Errorf("%s: it says %v", tt.name, said)
		}
	}
}
