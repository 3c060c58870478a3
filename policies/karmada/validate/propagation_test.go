package validate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/ignore"
)

const selectors = `resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]`

// placement is a policy with the given placement, in flow style.
func placement(body string) string { return `{spec: {` + selectors + `, placement: {` + body + `}}}` }

// spec is a policy with the given further fields of spec.
func spec(body string) string { return `{spec: {` + selectors + `, ` + body + `}}` }

func TestMetadata(t *testing.T) {
	long := strings.Repeat("a", 254)
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"a name and a namespace will do", `{metadata: {name: a.b, namespace: shop}, spec: {` + selectors + `}}`, nil},
		{"a name is required", `{metadata: {namespace: shop}, spec: {` + selectors + `}}`, []string{"metadata.name required-field"}},
		{"a name is a DNS subdomain", `{metadata: {name: Web, namespace: shop}, spec: {` + selectors + `}}`, []string{"metadata.name invalid-value"}},
		{"a name is not too long", `{metadata: {name: ` + long + `, namespace: shop}, spec: {` + selectors + `}}`, []string{"metadata.name invalid-value"}},
		{"a namespace is required", `{metadata: {name: web}, spec: {` + selectors + `}}`, []string{"metadata.namespace required-field"}},
		{"a namespace is a DNS label", `{metadata: {name: web, namespace: a.b}, spec: {` + selectors + `}}`, []string{"metadata.namespace invalid-value"}},
		{
			"labels have valid keys and values", `{metadata: {name: web, namespace: shop, labels: {a.b/c: ok, "-x": v, z: "a b"}}, spec: {` + selectors + `}}`,
			[]string{"metadata.labels.-x invalid-value", "metadata.labels.z invalid-value"},
		},
		{
			"annotations have valid keys", `{metadata: {name: web, namespace: shop, annotations: {A.b/C: any thing, "a b": x}}, spec: {` + selectors + `}}`,
			[]string{"metadata.annotations.a b invalid-value"},
		},
		{
			"annotations are not too large", `{metadata: {name: web, namespace: shop, annotations: {a: ` + strings.Repeat("x", 256<<10) + `}}, spec: {` + selectors + `}}`,
			[]string{"metadata.annotations invalid-value"},
		},
	})
	run(t, policyGroup, "ClusterPropagationPolicy", []rule{
		{"a cluster-wide kind has no namespace", `{metadata: {name: web, namespace: shop}, spec: {` + selectors + `}}`, []string{"metadata.namespace conflicting-fields"}},
	})
}

func TestNamespaceHints(t *testing.T) {
	for _, c := range []struct{ kind, doc, want string }{
		{"PropagationPolicy", `{metadata: {name: web}}`, "write the namespace, or make it a ClusterPropagationPolicy to select in every namespace"},
		{"FederatedResourceQuota", `{metadata: {name: web}}`, "write the namespace"},
		{"ClusterOverridePolicy", `{metadata: {name: web, namespace: shop}}`, "remove it, or make it a OverridePolicy to select in that namespace only"},
		{"ClusterTaintPolicy", `{metadata: {name: web, namespace: shop}}`, "remove it"},
	} {
		x, _ := decode(t, policyGroup, c.kind, c.doc)
		if got := Object(x)[0].Hint; got != c.want {
			t.Errorf("%s: hint %q, want %q", c.kind, got, c.want)
		}
	}
}

func TestResourceSelectors(t *testing.T) {
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"a selector by kind", `{spec: {` + selectors + `}}`, nil},
		{"a selector is required", `{spec: {}}`, []string{"spec.resourceSelectors required-field"}},
		{
			"apiVersion and kind are required", `{spec: {resourceSelectors: [{name: a}]}}`,
			[]string{"spec.resourceSelectors[0].apiVersion required-field", "spec.resourceSelectors[0].kind required-field"},
		},
		{"an apiVersion is group/version", `{spec: {resourceSelectors: [{apiVersion: a/b/c, kind: X}]}}`, []string{"spec.resourceSelectors[0].apiVersion invalid-value"}},
		{"the policy's own namespace may be said", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: shop}]}}`, nil},
		{
			"another namespace is out of reach", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: other}]}}`,
			[]string{"spec.resourceSelectors[0].namespace conflicting-fields"},
		},
		{"a label selector is read", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, labelSelector: {matchLabels: {a.b/c: x},
			matchExpressions: [{key: a, operator: In, values: [x]}, {key: a, operator: Exists}, {key: a, operator: NotIn, values: [x]}, {key: a, operator: DoesNotExist}]}}]}}`, nil},
		{
			"a label selector has rules of its own", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, labelSelector: {matchLabels: {a.b/c: "x y"},
			matchExpressions: [{key: a, operator: In}, {key: a, operator: Exists, values: [x]}, {key: "", operator: within}, {key: a, operator: NotIn, values: [ok, "-"]}]}}]}}`,
			[]string{
				"spec.resourceSelectors[0].labelSelector.matchLabels.a.b/c invalid-value",
				"spec.resourceSelectors[0].labelSelector.matchExpressions[0].values required-field",
				"spec.resourceSelectors[0].labelSelector.matchExpressions[1].values conflicting-fields",
				"spec.resourceSelectors[0].labelSelector.matchExpressions[2].key required-field",
				"spec.resourceSelectors[0].labelSelector.matchExpressions[2].operator unsupported-value",
				"spec.resourceSelectors[0].labelSelector.matchExpressions[3].values[1] invalid-value",
			},
		},
		{
			"a name makes the labels moot", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, name: a, labelSelector: {matchLabels: {a: "b c"}}}]}}`,
			[]string{"spec.resourceSelectors[0].labelSelector unused-field?"},
		},
	})
	run(t, policyGroup, "ClusterPropagationPolicy", []rule{
		{"a cluster-wide policy may select in any namespace", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: other}]}}`, nil},
	})
}

// TestAnyKind holds that a selector of any kind is bounded, by a namespace or by paths.
func TestAnyKind(t *testing.T) {
	const wild = `spec: {resourceSelectors: [{apiVersion: "*", kind: "*"}]}`
	at := func(paths string) string {
		return fmt.Sprintf(`{metadata: {name: web, annotations: {waybill.dev/paths: %q}}, `+wild+`}`, paths)
	}
	const paths = "metadata.annotations.waybill.dev/paths invalid-value"
	run(t, policyGroup, "ClusterPropagationPolicy", []rule{
		{"of every object", `{` + wild + `}`, []string{"spec.resourceSelectors[0].kind invalid-value"}},
		{"of one namespace", `{spec: {resourceSelectors: [{apiVersion: "*", kind: "*", namespace: shop}]}}`, nil},
		{"of paths", at("apps/\n!apps/old/"), nil},
		{"of no path", at("# apps/\n\n"), []string{paths}},
		{"of as many paths as can be tried", at(strings.Repeat("a/\n", ignore.MostPatterns)), nil},
		{"of more paths", at(strings.Repeat("a/\n", ignore.MostPatterns+1)), []string{paths}},
		{"a kind of any apiVersion", `{spec: {resourceSelectors: [{apiVersion: "*", kind: Secret, namespace: shop}]}}`, []string{"spec.resourceSelectors[0].apiVersion invalid-value"}},
		{"any kind of an apiVersion", `{spec: {resourceSelectors: [{apiVersion: v1, kind: "*", namespace: shop}]}}`, []string{"spec.resourceSelectors[0].kind invalid-value"}},
	})
	run(t, policyGroup, "PropagationPolicy", []rule{{"of the policy's own namespace", `{` + wild + `}`, nil}})
}

func TestPropagationSpec(t *testing.T) {
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"association is read by nobody", spec(`association: true`), []string{"spec.association unused-field?"}},
		{"a priority may be negative", spec(`priority: -3`), nil},
		{"preemption is Always or Never", spec(`preemption: Sometimes`), []string{"spec.preemption unsupported-value"}},
		{
			"preemption takes objects by name", `{spec: {preemption: Always, resourceSelectors: [{apiVersion: v1, kind: Secret, name: a}, {apiVersion: v1, kind: Secret}]}}`,
			[]string{"spec.resourceSelectors[1].name required-field"},
		},
		{"the default scheduler may be named", spec(`schedulerName: default-scheduler`), nil},
		{"another scheduler is nobody", spec(`schedulerName: mine`), []string{"spec.schedulerName other-scheduler?"}},
		{"a conflict aborts or overwrites", spec(`conflictResolution: Overwrite`), nil},
		{"a conflict does nothing else", spec(`conflictResolution: overwrite`), []string{"spec.conflictResolution unsupported-value"}},
		{"activation may be lazy", spec(`activationPreference: Lazy`), nil},
		{"activation is not eager", spec(`activationPreference: Eager`), []string{"spec.activationPreference unsupported-value"}},
		{"dispatching may be suspended everywhere", spec(`suspension: {dispatching: true, dispatchingOnClusters: {}}`), nil},
		{"dispatching may be suspended in some clusters", spec(`suspension: {dispatching: false, dispatchingOnClusters: {clusterNames: [m1]}}`), nil},
		{
			"dispatching is not suspended in both ways", spec(`suspension: {dispatching: true, dispatchingOnClusters: {clusterNames: [m1]}}`),
			[]string{"spec.suspension.dispatchingOnClusters.clusterNames conflicting-fields"},
		},
		{"a schedule priority names a class", spec(`schedulePriority: {priorityClassSource: KubePriorityClass, priorityClassName: high}`), nil},
		{
			"a schedule priority is complete", spec(`schedulePriority: {}`),
			[]string{"spec.schedulePriority.priorityClassSource required-field", "spec.schedulePriority.priorityClassName required-field"},
		},
		{
			"a schedule priority has one source", spec(`schedulePriority: {priorityClassSource: PodPriorityClass, priorityClassName: high}`),
			[]string{"spec.schedulePriority.priorityClassSource unsupported-value"},
		},
	})
}

func TestFailover(t *testing.T) {
	app := func(body string) string {
		return spec(`propagateDeps: true, failover: {application: {decisionConditions: {}, ` + body + `}}`)
	}
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"failover with all defaults", spec(`propagateDeps: true, failover: {application: {decisionConditions: {}}, cluster: {}}`), nil},
		{"an application takes its dependencies along", spec(`failover: {application: {decisionConditions: {}}}`), []string{"spec.propagateDeps conflicting-fields"}},
		{"a ServiceImport does so by itself", `{spec: {resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}], failover: {application: {decisionConditions: {}}}}}`, nil},
		{"cluster failover does not need them", spec(`failover: {cluster: {purgeMode: Directly}}`), nil},
		{"toleration may be nothing", spec(`propagateDeps: true, failover: {application: {decisionConditions: {tolerationSeconds: 0}}}`), nil},
		{
			"toleration is not negative", spec(`propagateDeps: true, failover: {application: {decisionConditions: {tolerationSeconds: -1}}}`),
			[]string{"spec.failover.application.decisionConditions.tolerationSeconds invalid-value"},
		},
		{"an application may stay", app(`purgeMode: Never`), nil},
		{"a purge mode is known", app(`purgeMode: Graceful`), []string{"spec.failover.application.purgeMode unsupported-value"}},
		{"a cluster does not keep applications", spec(`failover: {cluster: {purgeMode: Never}}`), []string{"spec.failover.cluster.purgeMode unsupported-value"}},
		{
			"old purge modes are read", spec(`propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Graciously, gracePeriodSeconds: 5}, cluster: {purgeMode: Immediately}}`),
			[]string{"spec.failover.application.purgeMode old-purge-mode?", "spec.failover.cluster.purgeMode old-purge-mode?"},
		},
		{"grace is the default", app(`gracePeriodSeconds: 5`), nil},
		{"grace is more than nothing", app(`gracePeriodSeconds: 0`), []string{"spec.failover.application.gracePeriodSeconds invalid-value"}},
		{"grace needs a graceful mode", app(`purgeMode: Directly, gracePeriodSeconds: 5`), []string{"spec.failover.application.gracePeriodSeconds conflicting-fields"}},
		{"state is carried over", app(`statePreservation: {rules: [{aliasLabelName: a.b/c, jsonPath: "{.x}"}]}`), nil},
		{"state may have no rule", app(`statePreservation: {rules: []}`), nil},
		{"state needs rules", app(`statePreservation: {}`), []string{"spec.failover.application.statePreservation.rules required-field"}},
		{
			"state becomes a valid label", spec(`failover: {cluster: {statePreservation: {rules: [{aliasLabelName: "a b"}]}}}`),
			[]string{"spec.failover.cluster.statePreservation.rules[0].aliasLabelName invalid-value", "spec.failover.cluster.statePreservation.rules[0].jsonPath required-field"},
		},
	})
}

// TestValidateSaysWhatIsAllowed shows the words of the messages that most people
// will meet.
func TestSaysWhatIsAllowed(t *testing.T) {
	for _, c := range []struct{ doc, message, hint string }{
		{spec(`conflictResolution: overwrit`), `"overwrit" is not supported; want "Abort" or "Overwrite"`, `did you mean "Overwrite"?`},
		{spec(`activationPreference: Eager`), `"Eager" is not supported; want "Lazy"`, ""},
		{
			placement(`spreadConstraints: [{spreadByField: cluster, maxGroups: 1}, {spreadByField: regoin, maxGroups: 1}]`),
			`"regoin" is not supported; want "cluster", "region", "zone" or "provider"`, `did you mean "region"?`,
		},
		{spec(`schedulePriority: {priorityClassName: a}`), "is required", `write "KubePriorityClass"`},
		{spec(`priority: 3, failover: {cluster: {purgeMode: Immediately}}`), `"Immediately" is no longer a purge mode; it is read as "Directly"`, "write purgeMode: Directly"},
	} {
		x, _ := decode(t, policyGroup, "PropagationPolicy", c.doc)
		found := Object(x)
		if len(found) != 1 || found[0].Message != c.message || found[0].Hint != c.hint {
			t.Errorf("%s\nwant %q, hint %q", explain(found), c.message, c.hint)
		}
	}
}
