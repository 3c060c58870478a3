package validate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	mcs "sigs.k8s.io/mcs-api/pkg/apis/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// exchanged holds what is wrong with objects of the Multi-Cluster Services API, which their types can be filled from.
func exchanged[T any](t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		data, err := yaml.YAMLToJSON([]byte(r.doc))
		if err != nil || !json.Valid(data) {
			t.Fatal(r.name, err)
		}
		x := new(T)
		found, ok := karmada.Read(x, data)
		if ok {
			found = append(found, Object(x)...)
		}
		if diff := cmp.Diff(r.want, lines(found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", r.name, diff, explain(found))
		}
	}
}

func TestServiceImport(t *testing.T) {
	spec := func(body string) string { return `{spec: {type: ClusterSetIP, ` + body + `}}` }
	exchanged[mcs.ServiceImport](t, []rule{
		{"all that there is", spec(`ports: [{name: http, port: 80, protocol: TCP, appProtocol: kubernetes.io/h2c}, {name: dns, port: 80, protocol: UDP}],
			sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 86400}}, ipFamilies: [IPv4, IPv6], internalTrafficPolicy: Local, ips: [10.0.0.1]`), nil},
		{"headless, without ports", `{spec: {type: Headless, ports: []}}`, nil},
		{"one port needs no name", spec(`ports: [{port: 80}]`), nil},
		{"a type is required", `{spec: {ports: [{port: 80}]}}`, []string{"spec.type required-field"}},
		{"a type is known", `{spec: {type: LoadBalancer, ports: [{port: 80}]}}`, []string{"spec.type unsupported-value"}},
		{"several ports have names", spec(`ports: [{name: a, port: 1}, {port: 2}]`), []string{"spec.ports[1].name required-field"}},
		{"names differ", spec(`ports: [{name: a, port: 1}, {name: a, port: 2}]`), []string{"spec.ports[1].name duplicate-value"}},
		{"names are valid", spec(`ports: [{name: A, port: 1}]`), []string{"spec.ports[0].name invalid-value"}},
		{"numbers are valid", spec(`ports: [{name: a, port: 0}, {name: b, port: 65536}]`), []string{"spec.ports[0].port invalid-value", "spec.ports[1].port invalid-value"}},
		{"numbers differ in a protocol", spec(`ports: [{name: a, port: 1}, {name: b, port: 1, protocol: TCP}]`), []string{"spec.ports[1].port duplicate-value"}},
		{"protocols are known", spec(`ports: [{port: 80, protocol: HTTP, appProtocol: "a b"}]`), []string{"spec.ports[0].protocol unsupported-value", "spec.ports[0].appProtocol invalid-value"}},
		{"affinity is known", spec(`ports: [], sessionAffinity: clientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 0}}`), []string{
			"spec.sessionAffinity unsupported-value", "spec.sessionAffinityConfig.clientIP.timeoutSeconds invalid-value",
		}},
		{"families and policies are known", spec(`ports: [], ipFamilies: [IPv5], internalTrafficPolicy: local`), []string{"spec.ipFamilies[0] unsupported-value", "spec.internalTrafficPolicy unsupported-value"}},
		{"fields are known", spec(`port: []`), []string{"spec.port unknown-field"}},
		{"values have types", spec(`ports: "80"`), []string{"spec.ports wrong-type"}},
	})
}

func TestServiceExport(t *testing.T) {
	exchanged[mcs.ServiceExport](t, []rule{
		{"nothing more", `{metadata: {name: api}}`, nil},
		{"labels and annotations", `{spec: {exportedLabels: {team: blue}, exportedAnnotations: {example.com/note: "any words"}}}`, nil},
		{"labels are valid", `{spec: {exportedLabels: {"a b": x, team: "a b"}, exportedAnnotations: {"a b": x}}}`, []string{
			"spec.exportedLabels.a b invalid-value", "spec.exportedLabels.team invalid-value", "spec.exportedAnnotations.a b invalid-value",
		}},
		{"values have types", `{spec: {exportedLabels: [x]}}`, []string{"spec.exportedLabels wrong-type"}},
	})
}
