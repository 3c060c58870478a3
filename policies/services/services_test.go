package services_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// decoded decodes YAML into a value.
func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func objects(t *testing.T, texts ...string) []*object.Object {
	t.Helper()
	d := object.Decode("all.yaml", []byte(strings.Join(texts, "\n---\n")))
	if len(d.Objects) != len(texts) {
		t.Fatal(d.Diags)
	}
	return d.Objects
}

func imported(spec string) string {
	return "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: api, namespace: shop}\nspec: " + spec
}

// codes are what is wrong, in a word each.
func codes(diags []diag.Diagnostic) string {
	var all []string
	for _, d := range diags {
		all = append(all, d.Severity.String()+" "+string(d.Code))
	}
	return strings.Join(all, ", ")
}

func TestDerived(t *testing.T) {
	for _, tt := range []struct{ name, spec, want, said string }{
		{
			"as Karmada", `{type: ClusterSetIP, ports: [{name: http, port: 80, protocol: TCP, appProtocol: http}]}`,
			`{type: ClusterIP, ports: [{name: http, port: 80, protocol: TCP, appProtocol: http}]}`, "",
		},
		{
			"what a Service has, too, is copied",
			`{type: ClusterSetIP, ports: [{port: 80}], sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}, ipFamilies: [IPv6], trafficDistribution: PreferClose}`,
			`{type: ClusterIP, ports: [{port: 80}], sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}, ipFamilies: [IPv6], trafficDistribution: PreferClose}`, "",
		},
		{"headless", `{type: Headless, ports: [{port: 80}], sessionAffinity: ClientIP}`, `{type: ClusterIP, clusterIP: None, ports: [{port: 80}]}`, "notice not-karmadas"},
		{"headless without ports", `{type: Headless, ports: []}`, `{type: ClusterIP, clusterIP: None}`, "notice not-karmadas"},
		{"no ports", `{type: ClusterSetIP, ports: []}`, "", ""},
		{"no type", `{ports: [{port: 80}]}`, "", "error required-field"},
		{"a port that is none", `{type: ClusterSetIP, ports: [{port: http}]}`, "", "error wrong-type"},
		{"a field of a later version", `{type: ClusterSetIP, ports: [{port: 80}], later: {than: this}}`, `{type: ClusterIP, ports: [{port: 80}]}`, "warning unknown-field"},
		{"what is not local", `{type: ClusterSetIP, internalTrafficPolicy: Cluster, ports: [{port: 80}]}`, `{type: ClusterIP, ports: [{port: 80}]}`, ""},
		{
			"addresses, and what is local", `{type: ClusterSetIP, ips: [1.2.3.4], internalTrafficPolicy: Local, ports: [{port: 80}]}`,
			`{type: ClusterIP, ports: [{port: 80}]}`, "warning unused-field, warning unused-field",
		},
	} {
		objs, diags := services.WithDerived(objects(t, imported(tt.spec)), services.Derive)
		if got := codes(diags); got != tt.said {
			t.Errorf("%s: it says %q, want %q", tt.name, got, tt.said)
		}
		for _, d := range diags {
			if !strings.HasPrefix(d.Message, "ServiceImport shop/api: ") || d.Pos.Line == 0 {
				t.Errorf("%s: it does not say of what: %s", tt.name, d)
			}
		}
		if tt.want == "" {
			if len(objs) != 1 {
				t.Errorf("%s: %s is derived", tt.name, objs[1].YAML())
			}
			continue
		}
		if len(objs) != 2 {
			t.Errorf("%s: nothing is derived", tt.name)
			continue
		}
		if want := decoded[map[string]any](t, tt.want); fmt.Sprint(objs[1].Content()["spec"]) != fmt.Sprint(want) || objs[1].Ref().Name != "derived-api" {
			t.Errorf("%s: it is %s\nwant %v", tt.name, objs[1].YAML(), want)
		}
	}
}

func TestNamesOfDerivedServices(t *testing.T) {
	named := func(name string) string {
		return strings.Replace(imported(`{type: ClusterSetIP, ports: [{port: 80}]}`), "namespace: shop}", "namespace: shop, annotations: {waybill.dev/derived-service: "+name+"}}", 1)
	}
	other := "apiVersion: multicluster.x-k8s.io/v1beta1\nkind: ServiceImport\nmetadata: {name: web, namespace: shop, annotations: {waybill.dev/derived-service: far}}\nspec: {type: ClusterSetIP, ports: [{port: 80}]}"
	local := "apiVersion: v1\nkind: Service\nmetadata: {name: far, namespace: shop}"
	for _, tt := range []struct {
		name string
		objs []string
		want []string
		said string
	}{
		{"another name", []string{named("far")}, []string{"far"}, ""},
		{"no name of a Service", []string{named("1st")}, nil, "error invalid-value"},
		{"no name of a headless Service", []string{strings.Replace(named("1st"), "ClusterSetIP", "Headless", 1)}, nil, "error invalid-value"},
		{"two of one name", []string{named("far"), other}, []string{"far"}, "error duplicate-object"},
		{"one that the source has", []string{named("far"), local}, nil, "error duplicate-object"},
		{"another kind of the name", []string{named("far"), strings.Replace(local, "Service", "ConfigMap", 1)}, []string{"far"}, ""},
		{"two, in the order of the imports' names", []string{other, named("near")}, []string{"near", "far"}, ""},
	} {
		objs, diags := services.WithDerived(objects(t, tt.objs...), services.Derive)
		var got []string
		for _, o := range objs[len(tt.objs):] {
			got = append(got, o.Ref().Name)
		}
		if !slices.Equal(got, tt.want) || codes(diags) != tt.said {
			t.Errorf("%s: derived are %v, and it says %v", tt.name, got, diags)
		}
	}
}

// TestDerivedLeavesTheListAlone holds that two callers who have one list get each their own Services.
func TestDerivedLeavesTheListAlone(t *testing.T) {
	list := append(make([]*object.Object, 0, 2), objects(t, imported(`{type: ClusterSetIP, ports: [{port: 80}]}`))...)
	first, _ := services.WithDerived(list, services.Derive)
	second, _ := services.WithDerived(list, services.Derive)
	if first[1] == second[1] || list[:2][1] != nil {
		t.Error("the second list is written over the first")
	}
}

// merged is what comes of what clusters a, b and so on export, as "CLUSTERS: service | export".
func merged(t *testing.T, of ...string) services.Merged {
	t.Helper()
	var all []services.Provided
	for _, text := range of {
		clusters, text, _ := strings.Cut(text, ": ")
		service, export, _ := strings.Cut(text, " | ")
		p := services.Provided{Clusters: strings.Fields(clusters), Service: decoded[corev1.ServiceSpec](t, service)}
		if export != "" {
			p.Export = decoded[mcs.ServiceExportSpec](t, export)
		}
		all = append(all, p)
	}
	return services.Merge(all)
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name string
		of   []string
		want string // conflicts, then ports
	}{
		{"nothing", nil, "; "},
		{"alike", []string{"a b: {ports: [{name: http, port: 80}]}"}, "; http 80"},
		{"the protocol of a port is TCP", []string{"a: {ports: [{port: 80}]}", "b: {ports: [{port: 80, protocol: TCP}]}"}, ";  80"},
		{
			"ports of other names",
			[]string{"a: {ports: [{name: web, port: 8080}]}", "b c: {ports: [{name: http, port: 80}]}"},
			"PortConflict a/b c ports: web 8080/TCP in a, http 80/TCP in b; web 8080, http 80",
		},
		{
			"a port of another number",
			[]string{"a: {ports: [{name: http, port: 80}]}", "b: {ports: [{name: http, port: 81}]}"},
			"PortConflict a/b ports: http 80/TCP in a, http 81/TCP in b; http 80, but http 81/TCP of b beside http 80/TCP",
		},
		{
			"one number under two names",
			[]string{"a: {ports: [{name: web, port: 80}]}", "b: {ports: [{name: http, port: 80}]}"},
			"PortConflict a/b ports: web 80/TCP in a, http 80/TCP in b; web 80, but http 80/TCP of b beside web 80/TCP",
		},
		{
			"an appProtocol",
			[]string{"a: {ports: [{name: http, port: 80, appProtocol: http}]}", "b: {ports: [{name: http, port: 80}]}"},
			"PortConflict a/b ports: http 80/TCP http in a, http 80/TCP in b; http 80, but http 80/TCP of b beside http 80/TCP http",
		},
		{
			"a headless one loses",
			[]string{"a: {ports: [{port: 80}]}", "b: {clusterIP: None, ports: [{port: 80}]}"},
			"TypeConflict a/b type: with a cluster IP in a, headless in b;  80, lost b",
		},
		{
			"a headless one wins",
			[]string{"a: {clusterIP: None}", "b c: {ports: [{port: 80}]}"},
			"TypeConflict a/b c type: headless in a, with a cluster IP in b;, lost b c",
		},
		{"two protocols of one number", []string{"a b: {ports: [{name: dns, port: 53, protocol: UDP}, {name: dns-tcp, port: 53}]}"}, "; dns 53, dns-tcp 53"},
		{"the order of ports", []string{"a: {ports: [{name: a, port: 1}, {name: b, port: 2}]}", "b: {ports: [{name: b, port: 2}, {name: a, port: 1}]}"}, "; a 1, b 2"},
		{"no ports", []string{"a: {}", "b: {ports: [{port: 80}]}"}, "PortConflict a/b ports: none in a, 80/TCP in b;  80"},
		{
			"the time of session affinity",
			[]string{
				"a: {sessionAffinity: ClientIP}", "b: {sessionAffinity: ClientIP, sessionAffinityConfig: {}}",
				"c: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {}}}", "d: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 9}}}",
			},
			"SessionAffinityConfigConflict a/d seconds of session affinity: as by default in a, 9 in d;",
		},
		{"the time of no session affinity", []string{"a: {}", "b: {sessionAffinity: None, sessionAffinityConfig: {clientIP: {timeoutSeconds: 9}}}"}, ";"},
		{
			"session affinity",
			[]string{"a: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}", "b: {}"},
			"SessionAffinityConflict a/b session affinity: ClientIP in a, None in b, " +
				"SessionAffinityConfigConflict a/b seconds of session affinity: 5 in a, as by default in b;",
		},
		{
			"what is exported",
			[]string{"a: {} | {exportedLabels: {a: b}}", "b: {} | {exportedLabels: {a: c, d: e}, exportedAnnotations: {f: g}}"},
			"LabelsConflict a/b exported labels: a=b in a, a=c d=e in b, AnnotationsConflict a/b exported annotations: none in a, f=g in b; map[a:b] map[]",
		},
	} {
		m := merged(t, tt.of...)
		var conflicts, ports []string
		for _, c := range m.Conflicts {
			conflicts = append(conflicts, fmt.Sprintf("%s %s/%s %s", c.Reason, c.Winner, strings.Join(c.Clusters, " "), c.Message))
		}
		for _, p := range m.Ports {
			ports = append(ports, fmt.Sprintf("%s %d", p.Name, p.Port))
		}
		got := strings.Join(conflicts, ", ") + "; " + strings.Join(ports, ", ")
		for _, r := range []services.Reason{mcs.ServiceExportReasonPortConflict, mcs.ServiceExportReasonTypeConflict, mcs.ServiceExportReasonLabelsConflict} {
			if m.Conflicting(r) != strings.Contains(got, string(r)+" ") {
				t.Errorf("%s: it is said that there is a %s: %t", tt.name, r, m.Conflicting(r))
			}
		}
		if len(m.Beside) > 0 {
			got += ", but " + strings.Join(m.Beside, ", ")
		}
		if len(m.Labels)+len(m.Annotations) > 0 {
			got += fmt.Sprint(m.Labels, " ", m.Annotations)
		}
		if lost := slices.Sorted(maps.Keys(m.Lost)); len(lost) > 0 {
			got += ", lost " + strings.Join(lost, " ")
		}
		if strings.ReplaceAll(got, "; ", ";") != strings.ReplaceAll(tt.want, "; ", ";") {
			t.Errorf("%s: it is\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestCompleted(t *testing.T) {
	derive := func(spec string) *object.Object { return services.Derive(objects(t, imported(spec))[0]).Service }
	is := derive(`{type: ClusterSetIP, ports: [{name: http, port: 80}]}`)
	same := merged(t, "a b: {ports: [{name: web, port: 8080}]}")
	if services.Completed(is, &same) != is {
		t.Error("ports that are the same everywhere are those of the import")
	}
	taken := merged(t, "a: {ports: [{name: http, port: 81}]}", "b: {ports: [{name: http, port: 80}]}")
	if services.Completed(is, &taken) != is {
		t.Error("a port is added beside one of its name")
	}
	for _, tt := range []struct {
		spec string
		of   []string
		want string
	}{
		{
			`{type: ClusterSetIP, ports: [{name: http, port: 80, protocol: TCP}]}`,
			[]string{"a: {ports: [{name: web, port: 8080}]}", "b: {ports: [{name: http, port: 80}]}"},
			"map[ports:[map[name:http port:80 protocol:TCP] map[name:web port:8080 protocol:TCP]] type:ClusterIP]",
		},
		{
			`{type: ClusterSetIP, ports: [{name: http, port: 80, protocol: TCP}]}`,
			[]string{"a: {ports: [{name: web, port: 80}]}", "b: {ports: [{name: http, port: 80}]} | {exportedLabels: {a: b}}"},
			"map[ports:[map[name:http port:80 protocol:TCP]] type:ClusterIP]",
		},
		{
			`{type: ClusterSetIP, ports: [{port: 80}]}`,
			[]string{"a: {ports: [{port: 80}], sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 9}}}"},
			"map[ports:[map[port:80]] sessionAffinity:ClientIP sessionAffinityConfig:map[clientIP:map[timeoutSeconds:9]] type:ClusterIP]",
		},
		{
			`{type: ClusterSetIP, ports: [{name: http, port: 80}]}`,
			[]string{"a: {ports: [{port: 81}, {name: grpc, port: 82, protocol: UDP, appProtocol: h2c}]}", "b: {ports: [{name: http, port: 80}]}"},
			"map[ports:[map[name:http port:80] map[port:81 protocol:TCP] map[appProtocol:h2c name:grpc port:82 protocol:UDP]] type:ClusterIP]",
		},
		{`{type: ClusterSetIP, ports: [{port: 80}]}`, []string{"a: {sessionAffinity: ClientIP}"}, "map[ports:[map[port:80]] sessionAffinity:ClientIP type:ClusterIP]"},
		{`{type: Headless, ports: [{port: 80}]}`, []string{"a: {sessionAffinity: ClientIP}"}, "map[clusterIP:None ports:[map[port:80]] type:ClusterIP]"},
		{
			`{type: ClusterSetIP, sessionAffinity: None, ports: [{port: 80}]}`,
			[]string{"a: {sessionAffinity: ClientIP} | {exportedLabels: {a: b}}"},
			"map[ports:[map[port:80]] sessionAffinity:None type:ClusterIP]",
		},
	} {
		m := merged(t, tt.of...)
		from := derive(tt.spec)
		got := services.Completed(from, &m)
		if before := derive(tt.spec); fmt.Sprint(from.Content()) != fmt.Sprint(before.Content()) {
			t.Errorf("%s with %v: what was derived is changed: %v", tt.spec, tt.of, from.Content())
		}
		if text := fmt.Sprint(got.Content()["spec"]); text != tt.want {
			t.Errorf("%s with %v is\n%s\nwant\n%s", tt.spec, tt.of, text, tt.want)
		}
	}
	bare := fmt.Sprint(is.Content())
	labelled := merged(t, "a: {} | {exportedLabels: {a: b}, exportedAnnotations: {c: d}}")
	if got := services.Completed(is, &labelled); got.Labels()["a"] != "b" || got.Annotations()["c"] != "d" || fmt.Sprint(is.Content()) != bare {
		t.Errorf("labels and annotations are %v and %v", got.Labels(), got.Annotations())
	}
}

// TestServicesAreRead holds that a Service is its spec, and that one which cannot be read is said to be none.
func TestServicesAreRead(t *testing.T) {
	for spec, want := range map[string]string{"{clusterIP: None}": "None", "{clusterIP: 3}": "", "none": ""} {
		s, err := services.Service(decoded[map[string]any](t, "spec: "+spec))
		if (err == nil) != (want != "") || err == nil && s.ClusterIP != want {
			t.Errorf("%s is read as %+v, %v", spec, s, err)
		}
	}
}

func TestPorts(t *testing.T) {
	s := decoded[corev1.ServiceSpec](t, "{ports: [{name: http, port: 80}, {name: admin, port: 81}]}")
	for _, tt := range []struct {
		exposed []karmada.ExposurePort
		want    []string
		lacks   []int
	}{
		{nil, nil, nil},
		{[]karmada.ExposurePort{{Name: "http", Port: 99}}, []string{"http"}, nil}, // a name counts
		{[]karmada.ExposurePort{{Port: 81}, {Name: "admin", Port: 81}, {Port: 80}}, []string{"admin", "http"}, nil},
		{[]karmada.ExposurePort{{Port: 80}, {Port: 81}}, []string{"admin", "http"}, nil},
		{[]karmada.ExposurePort{{Name: "grpc", Port: 80}, {Port: 80}, {Port: 99}}, []string{"http"}, []int{0, 2}},
	} {
		names, lacks := services.Ports(tt.exposed, &s)
		var at []int
		for _, l := range lacks {
			at = append(at, l.Index)
		}
		if !slices.Equal(names, tt.want) || !slices.Equal(at, tt.lacks) {
			t.Errorf("%v is %v, and lacks %v", tt.exposed, names, lacks)
		}
	}
}

// TestPortsThatAreNotThere holds what is said of them, and of a Service whose port has no name.
func TestPortsThatAreNotThere(t *testing.T) {
	s := decoded[corev1.ServiceSpec](t, "{ports: [{port: 80}]}")
	names, lacks := services.Ports([]karmada.ExposurePort{{Port: 80}, {Port: 99}, {Name: "grpc", Port: 80}}, &s)
	want := []services.NoPort{{Index: 1, What: "the number 99", Has: "80/TCP"}, {Index: 2, What: "the name grpc", Has: "80/TCP"}}
	if !slices.Equal(names, []string{""}) || !slices.Equal(lacks, want) {
		t.Errorf("exposed are %q, and it lacks %+v", names, lacks)
	}
}

func TestOwners(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want []string // nil for every cluster
	}{
		{"providerClusters: [{name: b}], consumerClusters: [{name: c}, {name: a}, {name: b}]", []string{"a", "b", "c"}},
		{"providerClusters: [{name: b}]", nil},
		{"consumerClusters: [{name: b}]", nil},
		{"serviceProvisionClusters: [a], serviceConsumptionClusters: [b]", []string{"a", "b"}},
		{"range: {clusterNames: [a, b]}", []string{"a", "b"}},
		{"providerClusters: [{name: a}], range: {clusterNames: [a]}", []string{"a"}},
	} {
		objs := objects(t, "apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: api, namespace: shop}\nspec: {types: [CrossCluster], "+tt.spec+"}")
		set, _, diags := policies.Load(objs, nil)
		if diag.HasErrors(diags) {
			t.Fatal(diags)
		}
		p := services.Owners(set.Exposures)[object.Ref{Kind: "Service", Namespace: "shop", Name: "api"}]
		var got []string
		if a := p.Spec.Placement.ClusterAffinity; a != nil {
			got = a.ClusterNames
		}
		if !slices.Equal(got, tt.want) || !p.Overwrites() || p.Divides() || p.Spec.SchedulerName != karmada.DefaultScheduler || p.String() != "MultiClusterService shop/api" {
			t.Errorf("%s is placed on %v, want %v", tt.spec, got, tt.want)
		}
	}
}

func TestFile(t *testing.T) {
	f := services.File{
		Exports: []services.Export{
			{Namespace: "shop", Service: "web"},
			{Namespace: "shop", Service: "api"},
			{Namespace: "shop", Service: "web", Book: true},
			{Namespace: "shop", Service: "web"},
			{Namespace: "shop", Service: "db", Book: true},
			{Namespace: "shop", Service: "db"},
		},
		Imports: []services.Import{
			{Namespace: "shop", Service: "api", Style: services.Native, From: []string{"eu", "us"}, Ports: []string{"http"}},
			{Namespace: "shop", Service: "api", Style: services.ByImport, Derived: "derived-api", From: []string{"eu"}},
		},
	}
	var lines []services.Line
	for i := range f.Exports {
		lines = append(lines, f.Exports[i].Line())
	}
	for i := range f.Imports {
		lines = append(lines, f.Imports[i].Line())
	}
	data := services.Encode(lines)
	got, err := services.Decode(data)
	want := services.File{Exports: []services.Export{{Namespace: "shop", Service: "api"}, {Namespace: "shop", Service: "db", Book: true}, {Namespace: "shop", Service: "web", Book: true}}, Imports: []services.Import{f.Imports[1], f.Imports[0]}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s is read as %+v, %v", data, got, err)
	}
	const text = `{
  "exports": [
    {"namespace":"shop","service":"api"},
    {"namespace":"shop","service":"db","book":true},
    {"namespace":"shop","service":"web","book":true}
  ],
  "imports": [
    {"namespace":"shop","service":"api","style":"derived","derived":"derived-api","from":["eu"]},
    {"namespace":"shop","service":"api","style":"native","from":["eu","us"],"ports":["http"]}
  ]
}
`
	if string(data) != text {
		t.Errorf("it is written as\n%s\nwant\n%s", data, text)
	}
	slices.Reverse(lines)
	if again := services.Encode(lines); string(again) != text {
		t.Errorf("from the other end it is written as\n%s", again)
	}
	var booked []string
	for i := range lines {
		booked = append(booked, lines[i].Booked())
	}
	slices.Sort(booked)
	if got := slices.Compact(booked); !slices.Equal(got, []string{"", "shop/db", "shop/web"}) {
		t.Errorf("by books are %q", got)
	}
	if empty := services.Encode(nil); empty != nil {
		t.Errorf("an empty file is %s", empty)
	}
	for _, text := range []string{"[]", "", "\n", "null", "{}", `{"imports": []}`, `{"exports": [{"namespace": "shop", "service": "api"}], "imports": 3}`} {
		if f, err := services.Decode([]byte(text)); err == nil {
			t.Errorf("%q is taken: %+v", text, f)
		}
	}
	if f, err := services.Decode(nil); err != nil || len(f.Exports)+len(f.Imports) > 0 {
		t.Errorf("none is %+v, %v", f, err)
	}
}
