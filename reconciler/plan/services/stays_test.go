package services_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	rules "github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/layout"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/services"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
)

// four are clusters, of which the last is one of the first's.
const four = `
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: ap}, spec: {syncMode: Push}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu}, spec: {syncMode: Push}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us}, spec: {syncMode: Push}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: va, annotations: {waybill.dev/virtual-of: ap}},
 spec: {syncMode: Push}}
`

// thing is an object of the namespace shop.
func thing(version, kind, name, spec string) string {
	return "---\n{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: " + name + ", namespace: shop}, spec: {" + spec + "}}\n"
}

// sent has a policy send a kind to clusters.
func sent(version, kind, clusters string) string {
	return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n" +
		"metadata: {name: " + strings.ToLower(kind) + ", namespace: shop}\n" +
		"spec: {resourceSelectors: [{apiVersion: " + version + ", kind: " + kind + "}],\n" +
		" placement: {clusterAffinity: {clusterNames: [" + clusters + "]}}}\n"
}

// overridden has one field of a Service be another one in clusters.
func overridden(name, clusters, path, value string) string {
	return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: " + name + ", namespace: shop}\n" +
		"spec: {resourceSelectors: [{apiVersion: v1, kind: Service}], \n" +
		"  overrideRules: [{targetCluster: {clusterNames: [" + clusters + "]},\n" +
		"  overriders: {plaintext: [{path: " + path + ", operator: add, value: " + value + "}]}}]}\n"
}

// What is exchanged is told of each cluster, and what has a mistake stays as it was published, with what is derived of it.
func TestWhatStaysOfServices(t *testing.T) {
	const group, ports = "multicluster.x-k8s.io/v1alpha1", "ports: [{name: http, port: 80}]"
	apps := "selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}"
	service := thing("v1", "Service", "api", ports)
	exposes := func(more string) string {
		return thing("networking.karmada.io/v1alpha1", "MultiClusterService", "api",
			"types: [CrossCluster], providerClusters: [{name: eu}, {name: gone}], consumerClusters: [{name: us}]"+more)
	}
	export := thing(group, "ServiceExport", "api", "")
	imported := thing(group, "ServiceImport", "api", "type: ClusterSetIP, ports: [{name: http, port: 80, protocol: TCP}]")
	everywhere := sent("v1", "Service", "eu, us, va") + sent(group, "ServiceExport", "eu, us, va") + sent(group, "ServiceImport", "ap")
	headless := thing("v1", "Service", "api", ports+", clusterIP: None")
	set := func(name, version, spec string) string { return thing(version, "StatefulSet", name, spec+apps) }
	named := strings.Replace(imported, "name: api,", "name: api, annotations: {waybill.dev/derived-service: mine},", 1)
	badlyNamed := strings.Replace(imported, "name: api,", "name: api, annotations: {waybill.dev/derived-service: No.Name},", 1)
	bothProvide := strings.Replace(exposes(""), "gone", "us", 1)
	exported := service + export + imported + everywhere
	elsewhere := sent("v1", "Service", "us") + sent(group, "ServiceExport", "eu, us") + sent(group, "ServiceImport", "ap")
	differ := overridden("a", "eu", "/spec/clusterIP", "None") + overridden("b", "us", "/spec/clusterIP", "None")
	sets := set("one", "apps/v1", "serviceName: api, ") + set("other", "example.com/v1", "serviceName: api, ") + set("none", "apps/v1", "")
	others := strings.Replace(sent("example.com/v1", "StatefulSet", "eu, us"), "name: statefulset", "name: others", 1)
	pods := headless + export + everywhere
	isRendered := func(in *manifest.Input) {
		const release = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: r, namespace: shop}}"
		d := schedule.Find(in.Decisions, object.Ref{Kind: "Service", Namespace: "shop", Name: "api"})
		part := &template.Part{Release: object.Decode("r.yaml", []byte(release)).Objects[0], Groups: make([]int, 4)}
		d.Template = &template.Template{Variant: d.Template.Variant, Subject: d.Template.Subject, Part: part}
	}
	for _, tt := range []struct {
		name, source string
		edit         func(*manifest.Input)
		want         string
	}{
		{"it is exposed", service + exposes(""), nil, `
warning matches-nothing MultiClusterService shop/api names the cluster "gone",
  which is not registered
native  [] MultiClusterService shop/api wrong false
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports false imports true
`},
		{"a port that it has not", service + exposes(", ports: [{name: grpc, port: 90}]"), nil, `
Service/shop/api in [0 1 2]: ContentUnknown
warning matches-nothing MultiClusterService shop/api names the cluster "gone",
  which is not registered
error no-such-port MultiClusterService shop/api exposes a port with the name grpc, and Service/shop/api at all.yaml:11 has none;
  what was published stays
native  [] MultiClusterService shop/api wrong true
`},
		{"two provide other ports", service + bothProvide + overridden("a", "us", "/spec/ports/0/port", "90"), nil, `
warning export-conflict MultiClusterService shop/api:
  PortConflict:
  Service/shop/api exported by eu and us differ in ports:
  http 80/TCP in eu, http 90/TCP in us;
  endpoints are found by the names of ports
native  [] MultiClusterService shop/api wrong false
  in eu: exports true imports false, True Valid, conflict True PortConflict ports: http 80/TCP in eu, http 90/TCP in us
  in us: exports true imports true, True Valid, conflict True PortConflict ports: http 80/TCP in eu, http 90/TCP in us
`},
		{"two export other ports", exported + overridden("a", "us", "/spec/ports/0", "{name: grpc, port: 90}"), nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP]] type:ClusterIP]
derived-api in 1: [ports:[[name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP]] type:ClusterIP]
derived-api in 2: [ports:[[name:grpc port:90] [name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP targetPort:90]] type:ClusterIP]
derived-api in 3: [ports:[[name:http port:80 protocol:TCP] [name:grpc port:90 protocol:TCP]] type:ClusterIP]
warning export-conflict ServiceExport shop/api:
  PortConflict:
  Service/shop/api exported by eu and us differ in ports:
  http 80/TCP in eu, grpc 90/TCP, http 80/TCP in us;
  the derived Service has the ports of all
derived derived-api [] ServiceExport shop/api wrong false
  in ap: exports false imports true
  in eu: exports true imports false, True Valid, conflict True PortConflict ports: http 80/TCP in eu, grpc 90/TCP, http 80/TCP in us
  in us: exports true imports false, True Valid, conflict True PortConflict ports: http 80/TCP in eu, grpc 90/TCP, http 80/TCP in us
`},
		{"no Service", exposes(""), nil, `
Service/shop/api in [0]: ContentUnknown
warning matches-nothing MultiClusterService shop/api names the cluster "gone",
  which is not registered
error no-service MultiClusterService shop/api exposes Service/shop/api,
  which is no template of the source;
  what was published stays
native  [] MultiClusterService shop/api wrong true
`},
		{"a Service that a release renders", service + exposes(""), isRendered, `
Service/shop/api in [1 2]: ReleaseNotRendered
warning matches-nothing MultiClusterService shop/api names the cluster "gone",
  which is not registered
error no-service MultiClusterService shop/api exposes Service/shop/api,
  which HelmRelease.helm.toolkit.fluxcd.io/shop/r renders, so that it goes where that goes
native  [] MultiClusterService shop/api wrong true
`},
		{"it is exported", exported, nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 1: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 3: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived derived-api [] ServiceExport shop/api wrong false
  in ap: exports false imports true
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
		{"it is exported where it is not", service + export + imported + elsewhere, nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
warning no-service ServiceExport shop/api exports Service/shop/api,
  which is not delivered to eu:
  nothing is exported there
derived derived-api [] ServiceExport shop/api wrong false
  in ap: exports false imports true
  in eu: exports false imports false, False NoService, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
		{"nothing exports it", service + imported + everywhere, nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 1: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 3: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
warning no-export ServiceImport shop/api imports Service/shop/api,
  which no ServiceExport exports from any cluster:
  the Service that is derived has no endpoints
derived derived-api [] ServiceImport shop/api wrong false
`},
		{"types differ", strings.ReplaceAll(exported, "eu, us, va", "ap, eu, us") + differ, nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 1: [clusterIP:None ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [clusterIP:None ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
warning export-conflict ServiceExport shop/api:
  TypeConflict:
  Service/shop/api exported by ap and eu, us differ in type:
  with a cluster IP in ap, headless in eu;
  no endpoint of eu, us is imported
derived derived-api [] ServiceExport shop/api wrong false
  in ap: exports true imports true, True Valid, conflict True TypeConflict type: with a cluster IP in ap, headless in eu
  in eu: exports true imports false, True Valid, conflict True TypeConflict type: with a cluster IP in ap, headless in eu
  in us: exports true imports false, True Valid, conflict True TypeConflict type: with a cluster IP in ap, headless in eu
`},
		{"one cannot be exported", exported + overridden("a", "us", "/spec/type", "ExternalName"), nil, `
derived-api in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 1: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived-api in 2: [internalTrafficPolicy:Cluster ports:[[name:http port:80 protocol:TCP]] type:ExternalName]
derived-api in 3: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
error invalid-service-type ServiceExport shop/api:
  InvalidServiceType:
  Service/shop/api is of type ExternalName in us, and has no endpoints to export
derived derived-api [] ServiceExport shop/api wrong false
  in ap: exports false imports true
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports false imports false, False InvalidServiceType, conflict False NoConflicts 
`},
		{"one has a mistake", exported + overridden("a", "us", "/spec/ports", "none"), nil, `
Service/shop/derived-api in [0 1 2 3]: ContentUnknown
error invalid-value ServiceExport shop/api:
  in us:
  reading the Service:
  cannot restore slice from string;
  what was published stays
derived derived-api [] ServiceExport shop/api wrong true
`},
		{"what is derived has a name of its own", service + export + named + everywhere, nil, `
mine in 0: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
mine in 1: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
mine in 2: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
mine in 3: [ports:[[name:http port:80 protocol:TCP]] type:ClusterIP]
derived mine [] ServiceExport shop/api wrong false
  in ap: exports false imports true
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
		{"what is derived has a name that is none", service + export + badlyNamed + everywhere, nil, `
Service/shop/No.Name in [0]: ContentUnknown
Service/shop/derived-api in [0]: ContentUnknown
derived No.Name [] ServiceExport shop/api wrong true
`},
		{"the source has one of that name", exported + thing("v1", "Service", "derived-api", ports), nil, `
Service/shop/derived-api in [0 1 2 3]: ContentUnknown
derived derived-api [] ServiceExport shop/api wrong true
`},
		{"pods of one name", pods + sets + sent("apps/v1", "StatefulSet", "eu, us") + others, nil, `
notice same-hostname ServiceExport shop/api:
  pods of StatefulSet.apps/shop/one are called one-0 in eu and in us:
  one DNS name of Service/shop/api has both addresses
derived  [] ServiceExport shop/api wrong false
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
		{"pods in one cluster", pods + set("one", "apps/v1", "serviceName: api, replicas: 2, ") + sent("apps/v1", "StatefulSet", "us"), nil, `
derived  [] ServiceExport shop/api wrong false
  in eu: exports true imports false, True Valid, conflict False NoConflicts 
  in us: exports true imports false, True Valid, conflict False NoConflicts 
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, settled(t, four+tt.source, tt.edit)); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
		})
	}
}

// writingOf is what is written of a source, in clusters of which the first had every Service.
func writingOf(text string) manifest.Input {
	set, objects, _ := policies.Load(object.Decode("all.yaml", []byte(text)).Objects, nil)
	objects, _ = rules.WithDerived(objects, rules.Derive)
	render.SortObjects(objects)
	in := schedule.Input{Policies: index.Of(set, nil, &index.Memo{}), State: &state.State{}, Memo: &schedule.Memo{}}
	for _, o := range objects {
		in.Templates = append(in.Templates, template.New(o, &template.Memo{}))
	}
	return manifest.Input{
		Policies: in.Policies, Decisions: schedule.Decide(in).Decisions, Config: render.DefaultConfig(), OnBranch: true, Memo: &manifest.Memo{},
		Before: manifest.Before{
			Had:       func(r object.Ref) func(int) bool { return func(i int) bool { return r.Kind == "Service" && i == 0 } },
			Sent:      func(object.Ref, string) bool { return false },
			Own:       func(int) []object.Ref { return nil },
			Leaving:   func(*schedule.Decision) []string { return nil },
			HoldsData: func(object.Ref, int) bool { return false },
		},
	}
}

// settled says what is exchanged by a source, in clusters that had every Service.
func settled(t *testing.T, text string, edit func(*manifest.Input)) string {
	t.Helper()
	writing := writingOf(text)
	if edit != nil {
		edit(&writing)
	}
	written, exchange, _ := services.Write(writing)
	blobs := written.Blobs
	laying := layout.Input{Rows: written.Rows, Blobs: &blobs, Flux: make([]tree.Flux, 4), Virtual: writing.Policies.Virtual}
	for i := range laying.Rows { // what is not known is not there
		row := &laying.Rows[i]
		for cluster := range row.Unwritten().All() {
			row.Unwant(cluster)
		}
	}
	_, laid := exchange.Lay(&laying, layout.Trees(laying))
	var b strings.Builder
	b.WriteString("\n")
	for _, row := range written.Rows {
		isDerived := row.Ref.Kind == "Service" && row.Ref.Name != "api"
		for _, w := range row.Wants {
			if isDerived && w.Blob >= 0 {
				o, err := object.ReadCanonical(blobs.At(w.Blob))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&b, "%s in %d: %s\n", row.Ref.Name, w.Cluster, strings.ReplaceAll(fmt.Sprint(o["spec"]), "map[", "["))
			}
		}
		for _, g := range row.Blocks {
			fmt.Fprintf(&b, "%s in %v: %s\n", row.Ref, slices.Collect(g.Clusters.All()), g.Is)
		}
	}
	for _, d := range laid.Said() {
		if d.Code != diag.EndpointsLeftOut {
			message := strings.NewReplacer("; ", ";\n  ", ": ", ":\n  ", ", which", ",\n  which").Replace(d.Message)
			fmt.Fprintf(&b, "%s %s %s\n", d.Severity, d.Code, message)
		}
	}
	for _, a := range laid.About(object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}) {
		fmt.Fprintf(&b, "%s %s %v %s wrong %t\n", a.Style, a.Derived, a.Ports, a.By, a.Wrong)
		for _, c := range a.Clusters {
			fmt.Fprintf(&b, "  in %s: exports %t imports %t", c.Name, c.Exports, c.Imports)
			if c.Valid != nil {
				fmt.Fprintf(&b, ", %s %s, conflict %s %s %s", c.Valid.Status, c.Valid.Reason, c.Conflict.Status, c.Conflict.Reason, c.Conflict.Message)
			}
			b.WriteString("\n")
		}
	}
	for _, booked := range laid.Booked() {
		fmt.Fprintf(&b, "%v have %v in their books\n", booked.Clusters, booked.Services)
	}
	return b.String()
}
