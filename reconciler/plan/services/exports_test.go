package services_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/render/exchange"
	"github.com/waybill-dev/waybill/render/tree"
)

// What clusters export is held against each other once, whatever differs, and what is exported nowhere is said to be.
func TestWhatIsSaidOfExports(t *testing.T) {
	const group, ports = "multicluster.x-k8s.io/v1alpha1", "ports: [{name: http, port: 80}]"
	apps := "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}"
	export := thing(group, "ServiceExport", "api", "")
	imported := func(name, annotations string) string {
		is := thing(group, "ServiceImport", name, "type: ClusterSetIP, ports: [{name: http, port: 80, protocol: TCP}]")
		return strings.Replace(is, "name: "+name+",", "name: "+name+", annotations: {"+annotations+"},", 1)
	}
	sends := thing("v1", "Service", "api", ports) + sent("v1", "Service", "ap, eu, us")
	exported := sends + export + sent(group, "ServiceExport", "ap, eu, us")
	one := sends + imported("api", "") + sent(group, "ServiceImport", "ap")
	onExport := func(name, clusters, path, value string) string {
		return strings.Replace(overridden(name, clusters, path, value), "apiVersion: v1, kind: Service", "apiVersion: "+group+", kind: ServiceExport", 1)
	}
	set := func(replicas string) string {
		return thing("apps/v1", "StatefulSet", "one", "serviceName: api, replicas: "+replicas+", "+apps) + sent("apps/v1", "StatefulSet", "eu, us")
	}
	headless := overridden("headless", "ap, eu, us", "/spec/clusterIP", "None")
	otherPorts := overridden("a", "eu", "/spec/ports/0/port", "90") + overridden("b", "us", "/spec/ports/0/port", "70")
	daemon := thing("apps/v1", "Deployment", "two", "serviceName: api, "+apps) + sent("apps/v1", "Deployment", "eu, us")
	of := strings.NewReplacer("apiVersion: v1, kind: Service", "apiVersion: apps/v1, kind: StatefulSet", "operator: add", "operator: replace")
	broken := of.Replace(overridden("broken", "us", "/spec/none/of/it", "x"))
	applied := func(in *manifest.Input) { in.Config.Services.Endpoints = exchange.Apply }
	second := thing("v1", "Service", "web", "ports: [{name: http, port: 81}]") + thing(group, "ServiceExport", "web", "")
	derived := imported("api", "waybill.dev/derived-service: zeta") + imported("web", "waybill.dev/derived-service: abe")
	toAP := sent(group, "ServiceImport", "ap")
	native := thing("networking.karmada.io/v1alpha1", "MultiClusterService", "api", "types: [CrossCluster], consumerClusters: [{name: us}]")
	pulled := strings.ReplaceAll(four, "syncMode: Push", "syncMode: Pull")
	for _, tt := range []struct {
		name, fleet, source string
		edit                func(*manifest.Input)
		want                string
	}{
		{"three have other ports", four, exported + otherPorts, nil, `
warning export-conflict ServiceExport shop/api:
  PortConflict:
  Service/shop/api exported by ap and eu, us differ in ports:
  http 80/TCP in ap, http 90/TCP in eu;
  the derived Service has the ports of all, but for http 90/TCP of eu beside http 80/TCP, http 70/TCP of us beside http 80/TCP
derived  [] ServiceExport shop/api wrong false
  in ap: exports true imports false, True Valid, conflict True PortConflict ports: http 80/TCP in ap, http 90/TCP in eu; ports: http 80/TCP in ap, http 70/TCP in us
  in eu: exports true imports false, True Valid, conflict True PortConflict ports: http 80/TCP in ap, http 90/TCP in eu
  in us: exports true imports false, True Valid, conflict True PortConflict ports: http 80/TCP in ap, http 70/TCP in us
`},
		{
			"one has a mistake, and two have other ports", four,
			exported + overridden("a", "eu", "/spec/ports/0/port", "90") + overridden("b", "us", "/spec/ports", "none"), nil, `
error invalid-value ServiceExport shop/api:
  in us:
  reading the Service:
  cannot restore slice from string;
  what was published stays
derived  [] ServiceExport shop/api wrong true
`,
		},
		{"what exports it has other labels", four, exported + onExport("a", "us", "/spec/exportedLabels", "{tier: gold}"), nil, `
warning export-conflict ServiceExport shop/api:
  LabelsConflict:
  Service/shop/api exported by ap and us differ in exported labels:
  none in ap, tier=gold in us;
  that of the lower name counts
derived  [] ServiceExport shop/api wrong false
  in ap: exports true imports false, True Valid, conflict True LabelsConflict exported labels: none in ap, tier=gold in us
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict True LabelsConflict exported labels: none in ap, tier=gold in us
`},
		{"what exports it has a mistake", four, exported + otherPorts + onExport("c", "ap, eu, us", "/spec/exportedLabels", "gold"), nil, `
error wrong-type ServiceExport shop/api:
  spec.exportedLabels:
  "gold" is not a mapping
derived  [] ServiceExport shop/api wrong true
`},
		{"nothing sends what exports it", four, one + export, nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 1: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
warning no-export ServiceImport shop/api imports Service/shop/api,
  which no ServiceExport exports from any cluster:
  the Service that is derived has no endpoints
derived derived-api [] ServiceExport shop/api wrong false
`},
		{
			"another kind of that name exports it", four,
			one + thing("example.com/v1", "ServiceExport", "api", "") + sent("example.com/v1", "ServiceExport", "eu"), nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 1: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
warning no-export ServiceImport shop/api imports Service/shop/api,
  which no ServiceExport exports from any cluster:
  the Service that is derived has no endpoints
derived derived-api [] ServiceImport shop/api wrong false
`,
		},
		{"pods of one name, of a Service with an address", four, exported + set("2"), nil, `
derived  [] ServiceExport shop/api wrong false
  in ap: exports true imports false, True Valid, conflict False NoConflicts 
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
		{"pods of one name, and other workloads", four, exported + headless + set("2") + daemon, nil, `
notice same-hostname ServiceExport shop/api:
  pods of StatefulSet.apps/shop/one are called one-0 in eu and in us:
  one DNS name of Service/shop/api has both addresses
derived  [] ServiceExport shop/api wrong false
  in ap: exports true imports false, True Valid, conflict False NoConflicts 
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
		{"pods of one name, of which one cannot be written", four, exported + headless + set("2") + broken, nil, `
StatefulSet.apps/shop/one in [2]: OverrideFails
derived  [] ServiceExport shop/api wrong false
  in ap: exports true imports false, True Valid, conflict False NoConflicts 
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
		{
			"two are imported, in another order than what is derived", four,
			exported + second + derived + toAP + overridden("a", "us", "/spec/ports/0", "{name: grpc, port: 90}"), nil, `
abe in 0: [ports:[[name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP]] type:ClusterIP]
abe in 1: [ports:[[name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP]] type:ClusterIP]
abe in 2: [ports:[[name:grpc port:90] [name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP targetPort:90]] type:ClusterIP]
web in 0: [ports:[[name:http port:81]]]
web in 1: [ports:[[name:http port:81]]]
web in 2: [ports:[[name:grpc port:90] [name:http port:81]]]
zeta in 0: [ports:[[name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP]] type:ClusterIP]
zeta in 1: [ports:[[name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP]] type:ClusterIP]
zeta in 2: [ports:[[name:grpc port:90] [name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP targetPort:90]] type:ClusterIP]
warning export-conflict ServiceExport shop/api:
  PortConflict:
  Service/shop/api exported by ap and us differ in ports:
  http 80/TCP in ap, grpc 90/TCP, http 80/TCP in us;
  the derived Service has the ports of all
warning export-conflict ServiceExport shop/web:
  PortConflict:
  Service/shop/web exported by ap and us differ in ports:
  http 81/TCP in ap, grpc 90/TCP, http 81/TCP in us;
  the derived Service has the ports of all
derived zeta [] ServiceExport shop/api wrong false
  in ap: exports true imports true, True Valid, conflict True PortConflict ports: http 80/TCP in ap, grpc 90/TCP, http 80/TCP in us
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict True PortConflict ports: http 80/TCP in ap, grpc 90/TCP, http 80/TCP in us
`,
		},
		{
			"types differ, and endpoints are applied", pulled, exported + imported("api", "") + toAP + overridden("a", "eu", "/spec/clusterIP", "None"),
			applied, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 1: [clusterIP:None ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
warning export-conflict ServiceExport shop/api:
  TypeConflict:
  Service/shop/api exported by ap and eu differ in type:
  with a cluster IP in ap, headless in eu;
  no endpoint of eu is imported
derived derived-api [] ServiceExport shop/api wrong false
  in ap: exports true imports true, True Valid, conflict True TypeConflict type: with a cluster IP in ap, headless in eu
  in eu: exports true imports false, True Valid, conflict True TypeConflict type: with a cluster IP in ap, headless in eu
  in us: exports true imports false, True Valid, conflict False NoConflicts 
[us] have [shop/api] in their books
`,
		},
		{"two ways", pulled, exported + native, applied, `
native  [] MultiClusterService shop/api wrong false
  in ap: exports true imports false, True Valid, conflict False NoConflicts 
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports true, True Valid, conflict False NoConflicts 
derived  [] ServiceExport shop/api wrong false
  in ap: exports true imports false, True Valid, conflict False NoConflicts 
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
[ap eu] have [shop/api] in their books
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, settled(t, tt.fleet+tt.source, tt.edit)); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
		})
	}
}

// Where nobody delivers endpoints that is said of each Service once, whichever ways it is exchanged in; where nothing is exchanged there is
// nothing to say.
func TestWhatIsNotDeliveredIsSaidOnce(t *testing.T) {
	const group = "multicluster.x-k8s.io/v1alpha1"
	service := thing("v1", "Service", "api", "ports: [{name: http, port: 80}]") + sent("v1", "Service", "ap, eu, us")
	native := thing("networking.karmada.io/v1alpha1", "MultiClusterService", "api", "types: [CrossCluster], consumerClusters: [{name: us}]")
	derived := thing(group, "ServiceExport", "api", "") + thing(group, "ServiceImport", "api", "type: ClusterSetIP, ports: [{name: http, port: 80}]")
	sends := sent(group, "ServiceExport", "eu, us") + sent(group, "ServiceImport", "ap")
	for _, tt := range []struct{ name, source, want string }{
		{"one way", service + native, "endpoints of 1 service are not delivered to the clusters that import them yet: shop/api"},
		{"two ways", service + native + derived + sends, "endpoints of 1 service are not delivered to the clusters that import them yet: shop/api"},
		{"nothing is exchanged", service, ""},
	} {
		writing := writingOf(four + tt.source)
		written, exchanged, decisions := services.Write(writing)
		if (exchanged == nil) != (tt.want == "") || len(decisions) != len(writing.Decisions) {
			t.Errorf("%s: exchanged is %v", tt.name, exchanged)
		}
		blobs := written.Blobs
		laying := layout.Input{Rows: written.Rows, Blobs: &blobs, Flux: make([]tree.Flux, 4), Virtual: writing.Policies.Virtual}
		_, laid := exchanged.Lay(&laying, layout.Trees(laying))
		var said []string
		for _, d := range laid.Said() {
			said = append(said, d.Message)
		}
		if is := strings.Join(said, "; "); is != tt.want {
			t.Errorf("%s: it says %q, want %q", tt.name, is, tt.want)
		}
	}
}
