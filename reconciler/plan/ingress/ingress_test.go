package ingress_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	rules "github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/ingress"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
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

// write decides about what a text says, and writes that out.
func write(t *testing.T, text string) (decided schedule.Result, res ingress.Result) {
	t.Helper()
	set, objects, diags := policies.Load(object.Decode("all.yaml", []byte(text)).Objects, nil)
	if diag.HasErrors(diags) {
		t.Fatal(diags)
	}
	in := schedule.Input{Policies: index.Of(set, nil, &index.Memo{}), State: &state.State{}, Memo: &schedule.Memo{}}
	objects, madeOf, _ := rules.WithMade(objects, set.Ingresses, rules.Make)
	for _, o := range objects {
		tm := template.New(o, &template.Memo{})
		tm.MadeOf = madeOf[o]
		in.Templates = append(in.Templates, tm)
	}
	slices.SortFunc(in.Templates, func(a, b *template.Template) int { return a.Ref().Compare(b.Ref()) })
	decided = schedule.Decide(in)
	return decided, ingress.Write(manifest.Input{
		Policies: in.Policies, Decisions: decided.Decisions, Config: render.DefaultConfig(), OnBranch: true, Memo: &manifest.Memo{},
		Before: manifest.Before{
			Had:       func(object.Ref) func(int) bool { return func(int) bool { return false } },
			Sent:      func(object.Ref, string) bool { return false },
			Own:       func(int) []object.Ref { return nil },
			Leaving:   func(*schedule.Decision) []string { return nil },
			HoldsData: func(object.Ref, int) bool { return false },
		},
	})
}

// TestDecisionsAreReturned with what was found of backends, and those that were given are left as they are: others remember them.
func TestDecisionsAreReturned(t *testing.T) {
	decided, res := write(t, route)
	if len(res.Decisions) != 1 || !res.Decisions[0].Backends["us-1"].Lacks {
		t.Errorf("they are %+v", res.Decisions)
	}
	if decided.Decisions[0].Backends != nil {
		t.Errorf("what was given says %+v", decided.Decisions[0].Backends)
	}
}

// imported is a Service and an import of it in the cluster of the route.
const imported = `
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu-1}, spec: {syncMode: Pull}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: imports, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}, {apiVersion: v1, kind: Service}]
  placement: {clusterAffinity: {clusterNames: [us-1]}}
---
{apiVersion: v1, kind: Service, metadata: {name: api, namespace: shop}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: derived-api, namespace: shop}, spec: {ports: [{port: 80}]}}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: api, namespace: shop}
spec: {type: ClusterSetIP, ports: [{port: 80, protocol: TCP}]}
`

// A route leads to the Service itself in clusters that a MultiClusterService is for, and to the derived one in others that import it.
func TestWhichServiceARouteLeadsTo(t *testing.T) {
	api := object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}
	for _, tt := range []struct{ name, exposure, to string }{
		{"there is an import alone", "", "derived-api"},
		{"the cluster provides it", "providerClusters: [{name: us-1}], consumerClusters: [{name: eu-1}]}", "api"},
		{"the cluster calls it", "providerClusters: [{name: eu-1}], consumerClusters: [{name: us-1}]}", "api"},
		{"every cluster calls it", "providerClusters: [{name: eu-1}]}", "api"},
		{"every cluster provides it", "consumerClusters: [{name: eu-1}]}", "api"},
		{"it is for another cluster", "providerClusters: [{name: eu-1}], consumerClusters: [{name: eu-1}]}", "derived-api"},
	} {
		text := route + imported
		if tt.exposure != "" {
			text += "---\napiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: api, namespace: shop}\n" +
				"spec: {types: [CrossCluster], " + tt.exposure + "\n"
		}
		_, res := write(t, text)
		d := schedule.Find(res.Decisions, object.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "shop", Name: "front"})
		if d == nil {
			t.Fatalf("%s: there is no route", tt.name)
		}
		if is := d.Backends["us-1"]; is.Names != rules.NamesOf(map[object.Ref]string{api: tt.to}) || is.Lacks {
			t.Errorf("%s: it leads to %+v", tt.name, is)
		}
	}
}

// TestWhatIsLacking says once of all clusters what a route leads to that is not there, where it is written and what to do; what is
// there, and what nothing is known of, is no lack.
func TestWhatIsLacking(t *testing.T) {
	const text = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us-1, annotations: {waybill.dev/service-import-backends: rewrite}}
spec: {syncMode: Pull}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: us-2, annotations: {waybill.dev/service-import-backends: rewrite}}
spec: {syncMode: Pull}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us-3}, spec: {syncMode: Pull}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all, namespace: shop}
spec:
  resourceSelectors:
  - {apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute}
  - {apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}
  - {apiVersion: v1, kind: Service, name: web}
  - {apiVersion: v1, kind: Service, name: derived-api}
  placement: {clusterAffinity: {clusterNames: [us-1, us-2, us-3]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: one, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Service, name: half}]
  placement: {clusterAffinity: {clusterNames: [us-2]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: half, namespace: shop}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: derived-api, namespace: shop}, spec: {ports: [{name: http, port: 80}]}}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: api, namespace: shop}
spec: {type: ClusterSetIP, ports: [{port: 80, protocol: TCP}]}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: bare, namespace: shop}
spec: {type: ClusterSetIP, ports: [{port: 80, protocol: TCP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: front, namespace: shop}
spec:
  rules:
  - backendRefs:
    - {group: multicluster.x-k8s.io, kind: ServiceImport, name: gone, port: 80}
    - {group: multicluster.x-k8s.io, kind: ServiceImport, name: gone, port: 81}
    - {group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 80}
    - {group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 99}
    - {group: multicluster.x-k8s.io, kind: ServiceImport, name: web, port: 99}
    - {group: multicluster.x-k8s.io, kind: ServiceImport, name: half, port: 80}
    - {group: multicluster.x-k8s.io, kind: ServiceImport, name: bare, port: 80}
`
	_, res := write(t, text)
	var said []string
	for _, d := range res.Written.Diags {
		said = append(said, d.String())
	}
	const want = `all.yaml:54: error: HTTPRoute shop/front: spec.rules[0].backendRefs[0].name: there is neither Service/shop/gone nor a ServiceImport of it in us-1, us-2; what was published there stays [ingress-backend]
	hint: place Service/shop/gone there, or a ServiceImport of that name; or take the cluster out of the policy
all.yaml:55: error: HTTPRoute shop/front: spec.rules[0].backendRefs[1].name: there is neither Service/shop/gone nor a ServiceImport of it in us-1, us-2; what was published there stays [ingress-backend]
	hint: place Service/shop/gone there, or a ServiceImport of that name; or take the cluster out of the policy
all.yaml:58: error: HTTPRoute shop/front: spec.rules[0].backendRefs[4].name: Service/shop/web has no port with the number 99 in us-1, us-2; what was published there stays [ingress-port]
	hint: it has 80/TCP
all.yaml:59: error: HTTPRoute shop/front: spec.rules[0].backendRefs[5].name: there is neither Service/shop/half nor a ServiceImport of it in us-1; what was published there stays [ingress-backend]
	hint: place Service/shop/half there, or a ServiceImport of that name; or take the cluster out of the policy
all.yaml:60: error: HTTPRoute shop/front: spec.rules[0].backendRefs[6].name: no Service is derived from ServiceImport.multicluster.x-k8s.io/shop/bare in us-1, us-2; what was published there stays [ingress-backend]
	hint: place Service/shop/bare there, or a ServiceImport of that name; or take the cluster out of the policy`
	if got := strings.Join(said, "\n"); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}
