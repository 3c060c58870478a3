package ingress_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan/ingress"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/object"
)

// fleet are eu-1, which has routes as they are written, and us-1 and us-2, which have them rewritten.
const fleet = `
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu-1}, spec: {syncMode: Pull}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us-1, annotations: {waybill.dev/service-import-backends: rewrite}}, spec: {syncMode: Pull}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us-2, annotations: {waybill.dev/service-import-backends: rewrite}}, spec: {syncMode: Pull}}
`

// goes has a policy send objects of a kind to clusters.
func goes(kind, clusters, more string) string {
	versions := map[string]string{
		"HTTPRoute": "gateway.networking.k8s.io/v1", "ServiceImport": "multicluster.x-k8s.io/v1alpha1", "Service": "v1", "MultiClusterIngress": "networking.karmada.io/v1alpha1",
		"Ingress": "networking.k8s.io/v1",
	}
	return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + strings.ToLower(kind) + ", namespace: shop}\n" +
		"spec: {resourceSelectors: [{apiVersion: " + versions[kind] + ", kind: " + kind + "}], placement: {clusterAffinity: {clusterNames: [" + clusters + "]}}" + more + "}\n"
}

const (
	front     = "---\n{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: front, namespace: shop}, spec: {rules: [{backendRefs: [{group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 80}]}]}}\n"
	api       = "---\n{apiVersion: v1, kind: Service, metadata: {name: api, namespace: shop}, spec: {ports: [{port: 80}]}}\n"
	derived   = "---\n{apiVersion: v1, kind: Service, metadata: {name: derived-api, namespace: shop}, spec: {ports: [{port: 80}]}}\n"
	imports   = "---\n{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport, metadata: {name: api, namespace: shop}, spec: {type: ClusterSetIP, ports: [{port: 80, protocol: TCP}]}}\n"
	everybody = "eu-1, us-1, us-2"
	multi     = "---\n{apiVersion: networking.karmada.io/v1alpha1, kind: MultiClusterIngress, metadata: {name: front, namespace: shop}, spec: {defaultBackend: {service: {name: api, port: {number: 80}}}}}\n"
	single    = "---\n{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: front, namespace: shop}, spec: {defaultBackend: {service: {name: api, port: {number: 80}}}}}\n"
)

// told says of an object, for each cluster, where it leads by what is written, or why it is not; "?" is what is not found out.
func told(t *testing.T, res *ingress.Result, of object.Ref) string {
	t.Helper()
	backend := regexp.MustCompile(`name: ([a-z-]*api)`)
	d, row := schedule.Find(res.Decisions, of), res.Written.Row(of)
	var all []string
	for i, cluster := range []string{"eu-1", "us-1", "us-2"} {
		line := cluster
		if row != nil {
			if w, ok := row.Wanted(i); ok && w.Blob >= 0 {
				text, err := res.Written.Blobs.At(w.Blob).Bytes()
				if err != nil {
					t.Fatal(err)
				}
				line += " " + string(backend.FindSubmatch(text)[1])
			}
			if why := row.Blocked(i); why != "" {
				line += " " + string(why)
			}
		}
		if d == nil {
			continue
		}
		if is, found := d.Backends[cluster]; found {
			line += strings.TrimSuffix(" found "+strings.Join(slices.Collect(maps.Values(is.Names.All())), " "), " ")
			if is.Lacks {
				line += ", and lacks"
			}
		}
		if line != cluster {
			all = append(all, line)
		}
	}
	return strings.Join(all, "; ")
}

func TestWhereTrafficLeads(t *testing.T) {
	const ingressOf, routeOf = "Ingress", "HTTPRoute"
	for _, tt := range []struct {
		name, kind, text, want string
		says                   []string
	}{
		{"a route to an import", routeOf, goes("HTTPRoute", everybody, "") + goes("ServiceImport", everybody, "") + goes("Service", everybody, "") + front + imports + derived, "eu-1 api; us-1 derived-api found derived-api; us-2 derived-api found derived-api", nil},
		{"a route to what only one cluster imports", routeOf, goes("HTTPRoute", everybody, "") + goes("ServiceImport", "us-1", "") + goes("Service", "us-1", "") + front + imports + derived, "eu-1 api; us-1 derived-api found derived-api; us-2 BackendMissing found, and lacks", []string{"HTTPRoute shop/front: spec.rules[0].backendRefs[0].name: there is neither Service/shop/api nor a ServiceImport of it in us-2"}},
		{"a route to what no cluster has", routeOf, goes("HTTPRoute", everybody, "") + front, "eu-1 api; us-1 BackendMissing found, and lacks; us-2 BackendMissing found, and lacks", []string{"HTTPRoute shop/front: spec.rules[0].backendRefs[0].name: there is neither Service/shop/api nor a ServiceImport of it in us-1, us-2"}},
		{"a route to an import of which nothing is derived", routeOf, goes("HTTPRoute", "us-1", "") + goes("ServiceImport", "us-1", "") + goes("Service", "us-2", "") + front + imports + api, "us-1 BackendMissing found, and lacks", []string{"HTTPRoute shop/front: spec.rules[0].backendRefs[0].name: no Service is derived from ServiceImport.multicluster.x-k8s.io/shop/api in us-1"}},
		{"a route to a port that is not there", routeOf, goes("HTTPRoute", everybody, "") + goes("Service", everybody, "") + strings.Replace(front, "port: 80", "port: 81", 1) + api, "eu-1 api; us-1 BackendMissing found api, and lacks; us-2 BackendMissing found api, and lacks", []string{"HTTPRoute shop/front: spec.rules[0].backendRefs[0].name: Service/shop/api has no port with the number 81 in us-1, us-2"}},
		{"a route to a cluster that is not registered", routeOf, goes("HTTPRoute", "us-1, gone", "") + goes("Service", everybody, "") + front + api, "us-1 api found api", nil},
		{
			"a route to two things that are not there", routeOf, goes("HTTPRoute", "us-1", "") + goes("Service", everybody, "") +
				strings.Replace(front, "port: 80}", "port: 80}, {group: multicluster.x-k8s.io, kind: ServiceImport, name: web, port: 80}, {group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 81}", 1) + api,
			"us-1 BackendMissing found api, and lacks",
			[]string{
				"HTTPRoute shop/front: spec.rules[0].backendRefs[1].name: there is neither Service/shop/web nor a ServiceImport of it in us-1",
				"HTTPRoute shop/front: spec.rules[0].backendRefs[2].name: Service/shop/api has no port with the number 81 in us-1",
			},
		},
		{"a route without a port", routeOf, goes("HTTPRoute", "us-1", "") + goes("Service", everybody, "") + strings.Replace(front, ", port: 80", "", 1) + api, "us-1 api found api", nil},
		{"two routes lead to what is not there", routeOf, goes("HTTPRoute", "us-1", "") + strings.Replace(front, "rules: [", "rules: [{backendRefs: [{group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 80}]}, ", 1), "us-1 BackendMissing found, and lacks", []string{"HTTPRoute shop/front: spec.rules[0].backendRefs[0].name: there is neither Service/shop/api nor a ServiceImport of it in us-1", "HTTPRoute shop/front: spec.rules[1].backendRefs[0].name: there is neither Service/shop/api nor a ServiceImport of it in us-1"}},
		{"a route where nothing is rewritten", routeOf, goes("HTTPRoute", "eu-1", "") + front, "eu-1 api", nil},
		{"a route that is suspended in a cluster", routeOf, goes("HTTPRoute", "us-1, us-2", ", suspension: {dispatchingOnClusters: {clusterNames: [us-1]}}") + goes("Service", "us-1, us-2", "") + front + api, "us-1 DispatchingSuspended; us-2 api found api", []string{"PropagationPolicy shop/httproute suspends dispatching HTTPRoute.gateway.networking.k8s.io/shop/front to us-1; there it stays as it was last published"}},
		{"an Ingress of a MultiClusterIngress", ingressOf, goes("MultiClusterIngress", everybody, "") + goes("Service", everybody, "") + multi + api, "eu-1 api found api; us-1 api found api; us-2 api found api", nil},
		{"an Ingress to an import", ingressOf, goes("MultiClusterIngress", "eu-1", "") + goes("Service", "eu-1", "") + goes("ServiceImport", "eu-1", "") + multi + imports + derived, "eu-1 derived-api found derived-api", nil},
		{"an Ingress to what one cluster lacks", ingressOf, goes("MultiClusterIngress", "eu-1, us-1", "") + goes("Service", "eu-1", "") + multi + api, "eu-1 api found api; us-1 BackendMissing found, and lacks", []string{"MultiClusterIngress shop/front: spec.defaultBackend.service.name: there is neither Service/shop/api nor a ServiceImport of it in us-1"}},
		{"an Ingress that is written out", ingressOf, goes("Ingress", "eu-1, us-1", "") + single, "eu-1 api; us-1 api", nil},
		{"a MultiClusterIngress that no policy selects", ingressOf, multi, "", []string{"no policy selects MultiClusterIngress shop/front, so that no cluster has an Ingress of it"}},
		{"a MultiClusterIngress with the name of an Ingress", ingressOf, goes("Ingress", "eu-1", "") + single + multi, "eu-1 ContentUnknown", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			decided, res := write(t, fleet+tt.text)
			of := object.Ref{Group: "gateway.networking.k8s.io", Kind: tt.kind, Namespace: "shop", Name: "front"}
			if tt.kind == ingressOf {
				of.Group = "networking.k8s.io"
			}
			if got := told(t, &res, of); got != tt.want {
				t.Errorf("it leads to %s\nwant %s", got, tt.want)
			}
			var says []string
			for _, d := range res.Written.Diags {
				message, _, _ := strings.Cut(d.Message, "; what was published there stays")
				says = append(says, message)
			}
			if !slices.Equal(says, tt.says) {
				t.Errorf("it says %q\nwant %q", says, tt.says)
			}
			for i := range decided.Decisions { // who asks again is told the same
				d := &decided.Decisions[i]
				now, again := schedule.Find(res.Decisions, d.Ref()).Backends, res.Backends(d)
				if len(now) != len(again) {
					t.Errorf("of %s it is said %v, and then %v", d.Ref(), now, again)
				}
			}
		})
	}
}
