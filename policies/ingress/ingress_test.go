package ingress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/ingress"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/object"
)

func objects(t *testing.T, text string) []*object.Object {
	t.Helper()
	d := object.Decode("x.yaml", []byte(text))
	if len(d.Objects) == 0 {
		t.Fatalf("%s is no object", text)
	}
	return d.Objects
}

const mci = "apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterIngress\n"

func TestWhatAMultiClusterIngressBecomes(t *testing.T) {
	for _, tt := range []struct{ name, of, want string }{
		{
			"labels, annotations and spec",
			mci + "metadata: {name: a, namespace: b, labels: {x: y}, annotations: {n/a: b, policy.karmada.io/a: c, karmada.io/d: e, notkarmada.io/f: g}}\nspec: {defaultBackend: {resource: {kind: K, name: r}}}\nstatus: {trafficBlockClusters: [c]}\n",
			"metadata: {name: a, namespace: b, labels: {x: y}, annotations: {n/a: b, notkarmada.io/f: g}}\nspec: {defaultBackend: {resource: {kind: K, name: r}}}\n",
		},
		{
			"nothing of Karmada's alone",
			mci + "metadata: {name: a, namespace: b, labels: {}, annotations: {policy.karmada.io/a: c}, finalizers: [f]}\nspec: {rules: []}\n",
			"metadata: {name: a, namespace: b}\nspec: {rules: []}\n",
		},
	} {
		o := objects(t, tt.of)[0]
		before := string(o.YAML())
		got := ingress.Make(o)
		want := objects(t, "apiVersion: networking.k8s.io/v1\nkind: Ingress\n"+tt.want)[0]
		if d := cmp.Diff(want.Content(), got.Content()); d != "" || got.Ref() != want.Ref() || got.Ref() != ingress.Of(o.Ref()) || got.Origin() != o.Origin() {
			t.Errorf("%s: it is %s: %s", tt.name, got.Ref(), d)
		}
		if string(o.YAML()) != before {
			t.Errorf("%s: what it is made of is changed", tt.name)
		}
	}
}

// backends are what an object sends traffic to, in a line each.
func backends(content map[string]any) string {
	var lines []string
	for _, b := range ingress.Backends(content) {
		lines = append(lines, fmt.Sprintf("%s %s/%s %s%d", object.FieldPath(b.Path), b.Service.Namespace, b.Service.Name, b.Port.Name, b.Port.Number))
	}
	return strings.Join(lines, "\n")
}

func TestBackends(t *testing.T) {
	names := ingress.NamesOf(map[object.Ref]string{
		{Kind: "Service", Namespace: "shop", Name: "api"}: "derived-api", {Kind: "Service", Namespace: "shop", Name: "web"}: "web",
		{Kind: "Service", Namespace: "far", Name: "api"}: "derived-far",
	})
	for _, tt := range []struct{ name, kind, spec, backends, want string }{
		{
			"an Ingress", "networking.k8s.io/v1 Ingress",
			`{defaultBackend: {service: {name: web, port: {number: 80}}}, tls: [{secretName: s}], rules: [{host: a}, {http: {paths: [{backend: {service: {name: api, port: {name: http}}}}, {backend: {resource: {kind: K, name: api}}}, {path: /}]}}, {http: {paths: [{backend: {service: {name: other}}}]}}]}`,
			"spec.defaultBackend.service.name shop/web 80\nspec.rules[1].http.paths[0].backend.service.name shop/api http0\nspec.rules[2].http.paths[0].backend.service.name shop/other 0",
			`{defaultBackend: {service: {name: web, port: {number: 80}}}, tls: [{secretName: s}], rules: [{host: a}, {http: {paths: [{backend: {service: {name: derived-api, port: {name: http}}}}, {backend: {resource: {kind: K, name: api}}}, {path: /}]}}, {http: {paths: [{backend: {service: {name: other}}}]}}]}`,
		},
		{
			"an HTTPRoute", "gateway.networking.k8s.io/v1 HTTPRoute",
			`{parentRefs: [{name: api, kind: ServiceImport, group: multicluster.x-k8s.io}], rules: [{matches: []}, {filters: [{type: RequestMirror, requestMirror: {backendRef: {group: multicluster.x-k8s.io, kind: ServiceImport, name: web}}}, {type: URLRewrite}], backendRefs: [{group: multicluster.x-k8s.io, kind: ServiceImport, name: api, port: 80, weight: 9, filters: [{requestMirror: {backendRef: {name: api}}}]}, {name: api, port: 1}, {group: example.com, kind: ServiceImport, name: api}]}]}`,
			"spec.rules[1].backendRefs[0].name shop/api 80\nspec.rules[1].filters[0].requestMirror.backendRef.name shop/web 0",
			`{parentRefs: [{name: api, kind: ServiceImport, group: multicluster.x-k8s.io}], rules: [{matches: []}, {filters: [{type: RequestMirror, requestMirror: {backendRef: {kind: Service, name: web}}}, {type: URLRewrite}], backendRefs: [{kind: Service, name: derived-api, port: 80, weight: 9, filters: [{requestMirror: {backendRef: {name: api}}}]}, {name: api, port: 1}, {group: example.com, kind: ServiceImport, name: api}]}]}`,
		},
		{
			"a mirror of one backend", "gateway.networking.k8s.io/v1 GRPCRoute",
			`{rules: [{backendRefs: [{name: api, filters: [{requestMirror: {backendRef: {group: multicluster.x-k8s.io, kind: ServiceImport, name: api, namespace: far, port: 5}}}]}]}]}`,
			"spec.rules[0].backendRefs[0].filters[0].requestMirror.backendRef.name far/api 5",
			`{rules: [{backendRefs: [{name: api, filters: [{requestMirror: {backendRef: {kind: Service, name: derived-far, namespace: far, port: 5}}}]}]}]}`,
		},
		{
			"a TCPRoute, of which one name is not known", "gateway.networking.k8s.io/v1alpha2 TCPRoute",
			`{rules: [{backendRefs: [{group: multicluster.x-k8s.io, kind: ServiceImport, name: else, port: 5}, {group: multicluster.x-k8s.io, kind: ServiceImport}]}]}`,
			"spec.rules[0].backendRefs[0].name shop/else 5",
			`{rules: [{backendRefs: [{group: multicluster.x-k8s.io, kind: ServiceImport, name: else, port: 5}, {group: multicluster.x-k8s.io, kind: ServiceImport}]}]}`,
		},
		{"a shape that no API server takes", "networking.k8s.io/v1 Ingress", `{defaultBackend: [1], rules: {http: a}}`, "", `{defaultBackend: [1], rules: {http: a}}`},
	} {
		apiVersion, kind, _ := strings.Cut(tt.kind, " ")
		of := func(spec string) map[string]any {
			return objects(t, "apiVersion: "+apiVersion+"\nkind: "+kind+"\nmetadata: {name: a, namespace: shop}\nspec: "+spec+"\n")[0].Content()
		}
		content := of(tt.spec)
		if got := backends(content); got != tt.backends {
			t.Errorf("%s: backends are\n%s\nwant\n%s", tt.name, got, tt.backends)
		}
		if d := cmp.Diff(of(tt.want), ingress.Named(content, names)); d != "" {
			t.Errorf("%s: it is written as %s", tt.name, d)
		}
		if d := cmp.Diff(of(tt.spec), content); d != "" {
			t.Errorf("%s: it is changed itself: %s", tt.name, d)
		}
	}
}

func TestNames(t *testing.T) {
	api, web := object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}, object.Ref{Kind: "Service", Namespace: "a", Name: "web"}
	all := map[object.Ref]string{api: "derived-api", web: "web"}
	n := ingress.NamesOf(all)
	if d := cmp.Diff(all, n.All()); d != "" {
		t.Error(d)
	}
	if ingress.NamesOf(map[object.Ref]string{web: "web", api: "derived-api"}) != n || ingress.NamesOf(map[object.Ref]string{api: "derived-api"}) == n || ingress.NamesOf(nil) != "" {
		t.Error("equal names are not equal, or others are")
	}
}

func TestIsRoute(t *testing.T) {
	for _, tt := range []struct {
		group, kind string
		is          bool
	}{
		{"gateway.networking.k8s.io", "HTTPRoute", true},
		{"gateway.networking.k8s.io", "GRPCRoute", true},
		{"gateway.networking.k8s.io", "TLSRoute", true},
		{"gateway.networking.k8s.io", "TCPRoute", true},
		{"gateway.networking.k8s.io", "Gateway", false},
		{"example.com", "HTTPRoute", false},
	} {
		if got := ingress.IsRoute(object.Ref{Group: tt.group, Kind: tt.kind}); got != tt.is {
			t.Errorf("%s of %s is a route: %t", tt.kind, tt.group, got)
		}
	}
}

func TestWithMade(t *testing.T) {
	objs := objects(t, "apiVersion: v1\nkind: Service\nmetadata: {name: taken, namespace: shop}\n---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: taken, namespace: shop}\n---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: free, namespace: other}\n")
	var all []policies.Located[karmada.MultiClusterIngress]
	for _, name := range []string{"free", "taken"} {
		o := objects(t, mci+"metadata: {name: "+name+", namespace: shop}\nspec: {defaultBackend: {resource: {kind: K, name: r}}}\n")[0]
		var value karmada.MultiClusterIngress
		if err := yaml.Unmarshal(o.YAML(), &value); err != nil {
			t.Fatal(err)
		}
		all = append(all, policies.Located[karmada.MultiClusterIngress]{Object: o, Value: &value})
	}
	with, of, diags := ingress.WithMade(objs, all, ingress.Make)
	if len(with) != 4 || with[3].Ref() != ingress.Of(all[0].Object.Ref()) || of[with[3]] != all[0].Object || len(of) != 1 {
		t.Errorf("there are %d objects, of which %d are made", len(with), len(of))
	}
	if len(diags) != 1 || !strings.Contains(diags[0].Message, "MultiClusterIngress shop/taken becomes Ingress.networking.k8s.io/shop/taken, which is also at x.yaml:5") {
		t.Errorf("it says %v", diags)
	}
	if len(objs) != 3 {
		t.Error("the objects themselves are others")
	}
	if with, of, diags := ingress.WithMade(objs, nil, ingress.Make); len(with) != 3 || of != nil || diags != nil {
		t.Error("without MultiClusterIngresses something is made")
	}
}
