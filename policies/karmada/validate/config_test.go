package validate

import "testing"

func TestResourceInterpreterCustomization(t *testing.T) {
	scripts := func(body string) string {
		return `{spec: {target: {apiVersion: a.io/v1, kind: Foo}, customizations: {` + body + `}}}`
	}
	const at = "spec.customizations."
	run(t, configGroup, "ResourceInterpreterCustomization", []rule{
		{"a script for each operation", scripts(`
			retention: {luaScript: "function Retain(a, b) return a end"},
			replicaResource: {luaScript: "function GetReplicas(o) return o.spec.replicas, nil end"},
			componentResource: {luaScript: "function GetComponents(o) return {} end"},
			replicaRevision: {luaScript: "function ReviseReplica(o, n) return o end"},
			statusReflection: {luaScript: "function ReflectStatus(o) return o.status end"},
			statusAggregation: {luaScript: "function AggregateStatus(o, items) return o end"},
			healthInterpretation: {luaScript: "InterpretHealth = function(o) return true end"},
			dependencyInterpretation: {luaScript: "function GetDependencies(o) return {} end"}`), nil},
		{"a target is required", `{spec: {customizations: {retention: {luaScript: "function Retain() end"}}}}`, []string{"spec.target.apiVersion required-field", "spec.target.kind required-field"}},
		{"a script is required", scripts(`retention: {}`), []string{at + "retention.luaScript required-field"}},
		{"a script may be empty", scripts(`retention: {luaScript: ""}`), nil},
		{"customizations are required", `{spec: {target: {apiVersion: a.io/v1, kind: Foo}}}`, []string{"spec.customizations required-field", "spec.customizations changes-nothing?"}},
		{"a script has its function", scripts(`healthInterpretation: {luaScript: "function Healthy() end"}`), []string{at + "healthInterpretation.luaScript missing-function?"}},
		{"no script does nothing", scripts(``), []string{"spec.customizations changes-nothing?"}},
		{"operations are known", scripts(`retain: {luaScript: "x"}`), []string{at + "retain unknown-field", "spec.customizations changes-nothing?"}},
	})
}

func TestResourceInterpreterWebhookConfiguration(t *testing.T) {
	hook := func(body string) string {
		return `{webhooks: [{name: a.b.c, clientConfig: {url: "https://a"}, interpreterContextVersions: [v1alpha1], ` + body + `}]}`
	}
	client := func(body string) string {
		return `{webhooks: [{name: a.b.c, interpreterContextVersions: [v1alpha1], clientConfig: {` + body + `}}]}`
	}
	versions := func(list string) string {
		return `{webhooks: [{name: a.b.c, clientConfig: {url: "https://a"}, interpreterContextVersions: [` + list + `]}]}`
	}
	run(t, configGroup, "ResourceInterpreterWebhookConfiguration", []rule{
		{"webhooks are required", `{}`, []string{"webhooks required-field"}},
		{"there may be no webhook", `{webhooks: []}`, nil},
		{"a webhook", hook(`timeoutSeconds: 30, rules: [{operations: [InterpretReplica, InterpretHealth], apiGroups: ["", apps], apiVersions: [v1], kinds: ["*"]}]`), nil},
		{"a service", client(`service: {namespace: a, name: b, path: /c, port: 443}`), nil},
		{"a name is fully qualified", `{webhooks: [{name: a, clientConfig: {url: "https://a"}, interpreterContextVersions: [v1alpha1]}]}`, []string{"webhooks[0].name invalid-value"}},
		{
			"names differ", `{webhooks: [{name: a.b.c, clientConfig: {url: "https://a"}, interpreterContextVersions: [v1alpha1]}, {name: a.b.c, clientConfig: {url: "https://a"}, interpreterContextVersions: [v1alpha1]}]}`,
			[]string{"webhooks[1].name duplicate-value"},
		},
		{"a webhook is somewhere", client(``), []string{"webhooks[0].clientConfig required-field"}},
		{"a webhook is in one place", client(`url: "https://a", service: {namespace: a, name: b}`), []string{"webhooks[0].clientConfig required-field"}},
		{"a webhook is called over https", client(`url: "http://a"`), []string{"webhooks[0].clientConfig.url invalid-value"}},
		{"a webhook is called at a host", client(`url: "https:///a"`), []string{"webhooks[0].clientConfig.url invalid-value"}},
		{"a webhook is called without a query", client(`url: "https://a?b"`), []string{"webhooks[0].clientConfig.url invalid-value"}},
		{"a webhook is called without a fragment", client(`url: "https://a#b"`), []string{"webhooks[0].clientConfig.url invalid-value"}},
		{"a webhook is called without credentials", client(`url: "https://me@a"`), []string{"webhooks[0].clientConfig.url invalid-value"}},
		{
			"a service is named in full", client(`service: {port: 0, path: a}`),
			[]string{"webhooks[0].clientConfig.service.name required-field", "webhooks[0].clientConfig.service.namespace required-field", "webhooks[0].clientConfig.service.port invalid-value", "webhooks[0].clientConfig.service.path invalid-value"},
		},
		{"a timeout is 30 seconds at most", hook(`timeoutSeconds: 31`), []string{"webhooks[0].timeoutSeconds invalid-value"}},
		{"a timeout is a second at least", hook(`timeoutSeconds: 0`), []string{"webhooks[0].timeoutSeconds invalid-value"}},
		{
			"a rule is complete", hook(`rules: [{}]`),
			[]string{"webhooks[0].rules[0].operations required-field", "webhooks[0].rules[0].apiGroups required-field", "webhooks[0].rules[0].apiVersions required-field", "webhooks[0].rules[0].kinds required-field"},
		},
		{
			"a wildcard stands alone", hook(`rules: [{operations: ["*", Retain], apiGroups: ["*", apps], apiVersions: ["*", v1], kinds: ["*", Job]}]`),
			[]string{"webhooks[0].rules[0].operations conflicting-fields", "webhooks[0].rules[0].apiGroups conflicting-fields", "webhooks[0].rules[0].apiVersions conflicting-fields", "webhooks[0].rules[0].kinds conflicting-fields"},
		},
		{
			"operations are known, and names not empty", hook(`rules: [{operations: [Retains], apiGroups: [""], apiVersions: [""], kinds: [""]}]`),
			[]string{"webhooks[0].rules[0].operations[0] unsupported-value", "webhooks[0].rules[0].apiVersions[0] required-field", "webhooks[0].rules[0].kinds[0] required-field"},
		},
		{"the protocol is one we know", versions(`v1`), []string{"webhooks[0].interpreterContextVersions required-field"}},
		{"versions are valid and differ", versions(`v1alpha1, V_2, v1alpha1`), []string{"webhooks[0].interpreterContextVersions[1] invalid-value", "webhooks[0].interpreterContextVersions[2] duplicate-value"}},
	})
}

func TestMultiClusterService(t *testing.T) {
	service := func(body string) string { return `{spec: {types: [CrossCluster], ` + body + `}}` }
	run(t, networkingGroup, "MultiClusterService", []rule{
		{"a service", service(`ports: [{name: http, port: 80}, {port: 443}], providerClusters: [{name: m1}], consumerClusters: [{name: m2}]`), nil},
		{"a type is required", `{spec: {}}`, []string{"spec.types required-field"}},
		{"a type is known", `{spec: {types: [ClusterIP]}}`, []string{"spec.types[0] unsupported-value"}},
		{"there is one type", `{spec: {types: [CrossCluster, LoadBalancer]}}`, []string{"spec.types conflicting-fields"}},
		{"there may be no type, or one twice", `{spec: {types: []}}`, nil},
		{"a type may stand twice", `{spec: {types: [CrossCluster, CrossCluster]}}`, nil},
		{"ports are valid", service(`ports: [{name: A, port: 0}, {port: 65536}]`), []string{"spec.ports[0].name invalid-value", "spec.ports[0].port invalid-value", "spec.ports[1].port invalid-value"}},
		{"port names differ", service(`ports: [{name: a, port: 1}, {name: a, port: 2}]`), []string{"spec.ports[1].name duplicate-value"}},
		{"clusters can be", service(`providerClusters: [{name: a.b}], consumerClusters: [{}]`), []string{"spec.providerClusters[0].name invalid-value", "spec.consumerClusters[0].name required-field"}},
		{"old names are deprecated", service(`range: {clusterNames: [m1]}`), []string{"spec.range deprecated-field?", "spec.range deprecated-field?"}},
		{"an old name stands for a new one", service(`serviceProvisionClusters: [m1], consumerClusters: [{name: m2}]`), []string{"spec.serviceProvisionClusters deprecated-field?"}},
		{"an old name says no more", service(`serviceConsumptionClusters: [m1, m2], consumerClusters: [{name: m2}, {name: m1}]`), []string{"spec.serviceConsumptionClusters deprecated-field?"}},
		{"an old name says something else", service(`serviceConsumptionClusters: [m1], consumerClusters: [{name: m2}]`), []string{"spec.serviceConsumptionClusters conflicting-fields"}},
		{"old names differ", service(`range: {clusterNames: [m1]}, serviceProvisionClusters: [m2], consumerClusters: [{name: m1}]`), []string{
			"spec.serviceProvisionClusters deprecated-field?", "spec.range conflicting-fields", "spec.range deprecated-field?",
		}},
		{"a name is that of a Service", `{metadata: {name: 1a, namespace: shop}, spec: {types: [CrossCluster]}}`, []string{"metadata.name invalid-value"}},
	})
}

func TestMultiClusterIngress(t *testing.T) {
	const backend = `backend: {service: {name: web, port: {number: 80}}}`
	path := func(body string) string { return `{spec: {rules: [{host: a.b, http: {paths: [{` + body + `}]}}]}}` }
	const at = "spec.rules[0].http.paths[0]."
	run(t, networkingGroup, "MultiClusterIngress", []rule{
		{"paths and hosts", `{spec: {tls: [{hosts: ["*.b"]}], rules: [{host: "*.b", http: {paths: [{path: /, pathType: Prefix, ` + backend + `}, {pathType: ImplementationSpecific, ` + backend + `}]}}, {host: a.b}]}}`, nil},
		{"a default backend", `{spec: {defaultBackend: {resource: {kind: Bucket, name: a}}}}`, nil},
		{"a default backend is complete", `{spec: {defaultBackend: {service: {name: web}}}}`, []string{"spec.defaultBackend.service.port required-field"}},
		{"something is served", `{spec: {}}`, []string{"spec required-field"}},
		{"hosts are names", `{spec: {tls: [{hosts: [A]}], rules: [{host: "a.*"}]}}`, []string{"spec.tls[0].hosts[0] invalid-value", "spec.rules[0].host invalid-value"}},
		{"a rule has paths", `{spec: {rules: [{http: {}}]}}`, []string{"spec.rules[0].http.paths required-field"}},
		{"a path has a type", path(`path: /, ` + backend), []string{at + "pathType required-field"}},
		{"a path has a known type", path(`path: /, pathType: Regex, ` + backend), []string{at + "pathType unsupported-value"}},
		{"a path begins with a slash", path(`path: a, pathType: Exact, ` + backend), []string{at + "path invalid-value"}},
		{"only a path of the implementation's own may be empty", path(`pathType: Prefix, ` + backend), []string{at + "path invalid-value"}},
		{"a path of the implementation's own begins with a slash", path(`path: a, pathType: ImplementationSpecific, ` + backend), []string{at + "path invalid-value"}},
		{"a backend is required", path(`path: /, pathType: Exact`), []string{at + "backend required-field"}},
		{"a backend is one", path(`path: /, pathType: Exact, backend: {service: {name: web, port: {number: 80}}, resource: {kind: A, name: a}}`), []string{at + "backend required-field"}},
		{"a resource is named", path(`path: /, pathType: Exact, backend: {resource: {}}`), []string{at + "backend.resource.kind required-field", at + "backend.resource.name required-field"}},
		{"a service is named, and its port", path(`path: /, pathType: Exact, backend: {service: {}}`), []string{at + "backend.service.name required-field", at + "backend.service.port required-field"}},
		{"a port has a name or a number", path(`path: /, pathType: Exact, backend: {service: {name: 1a, port: {name: a, number: 1}}}`), []string{at + "backend.service.name invalid-value", at + "backend.service.port required-field"}},
		{"a port's name is one", path(`path: /, pathType: Exact, backend: {service: {name: a, port: {name: A_}}}`), []string{at + "backend.service.port.name invalid-value"}},
		{"a port's number is one", path(`path: /, pathType: Exact, backend: {service: {name: a, port: {number: 70000}}}`), []string{at + "backend.service.port.number invalid-value"}},
	})
}
