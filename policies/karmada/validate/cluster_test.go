package validate

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// register is a cluster that is pushed to, with the given further fields of spec.
func register(body string) string { return `{spec: {syncMode: Push, ` + body + `}}` }

func TestCluster(t *testing.T) {
	long := strings.Repeat("a", 49)
	run(t, clusterGroup, "Cluster", []rule{
		{"a pushed cluster", register(`apiEndpoint: "https://10.0.0.1:6443", secretRef: {namespace: a, name: b}, impersonatorSecretRef: {namespace: a, name: c}, proxyURL: "socks5://proxy:1080", zones: [a, b]`), nil},
		{"a pulled cluster", `{spec: {syncMode: Pull, zone: a}}`, nil},
		{"a sync mode is required", `{spec: {}}`, []string{"spec.syncMode required-field"}},
		{"a sync mode is known", `{spec: {syncMode: push}}`, []string{"spec.syncMode unsupported-value"}},
		{"a name has 48 characters", `{metadata: {name: ` + long[1:] + `}, spec: {syncMode: Push}}`, nil},
		{"a name has not 49 characters", `{metadata: {name: ` + long + `}, spec: {syncMode: Push}}`, []string{"metadata.name invalid-value"}},
		{"a name is a label", `{metadata: {name: eu.west}, spec: {syncMode: Push}}`, []string{"metadata.name invalid-value"}},
		{"a cluster has no namespace", `{metadata: {name: m1, namespace: shop}, spec: {syncMode: Push}}`, []string{"metadata.namespace conflicting-fields"}},
		{"an endpoint has a host", register(`apiEndpoint: "10.0.0.1"`), []string{"spec.apiEndpoint invalid-value"}},
		{"an endpoint is a URL", register(`apiEndpoint: "https://a b"`), []string{"spec.apiEndpoint invalid-value"}},
		{"an endpoint has no credentials", register(`apiEndpoint: "https://me:secret@a"`), []string{"spec.apiEndpoint invalid-value"}},
		{"an endpoint has no query", register(`apiEndpoint: "https://a?b=c"`), []string{"spec.apiEndpoint invalid-value"}},
		{"an endpoint has no fragment", register(`apiEndpoint: "https://a#b"`), []string{"spec.apiEndpoint invalid-value"}},
		{"secrets are named in full", register(`secretRef: {name: b}, impersonatorSecretRef: {namespace: a}`), []string{"spec.secretRef.namespace required-field", "spec.impersonatorSecretRef.name required-field"}},
		{"a proxy speaks a known protocol", register(`proxyURL: "ftp://proxy"`), []string{"spec.proxyURL invalid-value"}},
		{"a proxy is a URL", register(`proxyURL: ":"`), []string{"spec.proxyURL invalid-value"}},
		{"zone and zones exclude each other", register(`zone: a, zones: [b]`), []string{"spec.zone conflicting-fields"}},
		{"capacity is in quantities", `{spec: {syncMode: Push}, status: {resourceSummary: {allocatable: {cpu: "4", memory: 8G b}}}}`, []string{"status.resourceSummary.allocatable.memory wrong-type"}},
	})
	x, _ := decode(t, clusterGroup, "Cluster", register(`apiEndpoint: "https://me:secret@a", proxyURL: "ftp://me:secret@a"`))
	if text := explain(Object(x)); strings.Contains(text, "secret") {
		t.Errorf("the findings tell a password:\n%s", text)
	}
	for endpoint, why := range map[string]string{"https://a b": "it is not a URL", "10.0.0.1": "it has no host", "https://me:secret@a": "it must not carry credentials"} {
		x, _ := decode(t, clusterGroup, "Cluster", register(`apiEndpoint: "`+endpoint+`"`))
		if want := "is not the address of an API server: " + why; Object(x)[0].Message != want {
			t.Errorf("%s: %q, want %q", endpoint, Object(x)[0].Message, want)
		}
	}
}

// annotated is a cluster m1 with the given annotations.
func annotated(body string) string {
	return `{metadata: {name: m1, annotations: {` + body + `}}, spec: {syncMode: Push}}`
}

func TestVirtualCluster(t *testing.T) {
	const of, suffix, selector = "metadata.annotations.waybill.dev/virtual-of ", "metadata.annotations.waybill.dev/namespace-suffix ", "metadata.annotations.waybill.dev/node-selector "
	run(t, clusterGroup, "Cluster", []rule{
		{"a part of another", annotated(`waybill.dev/virtual-of: big`), nil},
		{"with a suffix and nodes of its own", annotated(`waybill.dev/virtual-of: big, waybill.dev/namespace-suffix: -eu-1, waybill.dev/node-selector: "location=beijing,arch=arm64"`), nil},
		{"what no virtual cluster has", annotated(`waybill.dev/namespace-suffix: -eu, waybill.dev/node-selector: a=b`), []string{suffix + "conflicting-fields", selector + "conflicting-fields"}},
		{"a part of a cluster that can be", annotated(`waybill.dev/virtual-of: a.b`), []string{of + "invalid-value"}},
		{"a part of itself", annotated(`waybill.dev/virtual-of: m1`), []string{of + "invalid-value"}},
		{"a suffix begins with a dash", annotated(`waybill.dev/virtual-of: big, waybill.dev/namespace-suffix: eu`), []string{suffix + "invalid-value"}},
		{"a suffix is something", annotated(`waybill.dev/virtual-of: big, waybill.dev/namespace-suffix: ""`), []string{suffix + "invalid-value"}},
		{"a suffix does not end with a dash", annotated(`waybill.dev/virtual-of: big, waybill.dev/namespace-suffix: -eu-`), []string{suffix + "invalid-value"}},
		{
			"a name that cannot be a suffix", `{metadata: {name: A, annotations: {waybill.dev/virtual-of: big}}, spec: {syncMode: Push}}`,
			[]string{"metadata.name invalid-value", of + "invalid-value"},
		},
		{"nodes are chosen by labels", annotated(`waybill.dev/virtual-of: big, waybill.dev/node-selector: "location in (a, b)"`), []string{selector + "invalid-value"}},
		{"nodes are chosen by something", annotated(`waybill.dev/virtual-of: big, waybill.dev/node-selector: ""`), []string{selector + "invalid-value"}},
		{"backends of routes are rewritten", annotated(`waybill.dev/service-import-backends: rewrite`), nil},
		{"backends of routes are nothing else", annotated(`waybill.dev/service-import-backends: "true"`), []string{"metadata.annotations.waybill.dev/service-import-backends unsupported-value"}},
	})
}

func TestClusterPodRanges(t *testing.T) {
	run(t, clusterGroup, "Cluster", []rule{
		{"ranges of addresses", annotated(`waybill.dev/pod-cidrs: "10.1.0.0/16, fd00::/48"`), nil},
		{"an address is no range", annotated(`waybill.dev/pod-cidrs: 10.1.0.0`), []string{"metadata.annotations.waybill.dev/pod-cidrs invalid-value"}},
	})
}

func TestClusterTaints(t *testing.T) {
	run(t, clusterGroup, "Cluster", []rule{
		{"taints", register(`taints: [{key: a.b/c, value: d, effect: NoSchedule}, {key: a.b/c, value: d, effect: NoExecute}]`), nil},
		{"there is no preference", register(`taints: [{key: a, effect: PreferNoSchedule}]`), []string{"spec.taints[0].effect unsupported-value"}},
		{"key and effect are required", register(`taints: [{}]`), []string{"spec.taints[0].effect required-field", "spec.taints[0].key required-field"}},
		{"key and value are those of labels", register(`taints: [{key: a b, value: c d, effect: NoSchedule}]`), []string{"spec.taints[0].key invalid-value", "spec.taints[0].value invalid-value"}},
		{"a key has an effect once", register(`taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]`), []string{"spec.taints[1] duplicate-value"}},
	})
}

func TestResourceModels(t *testing.T) {
	models := func(list string) string { return register(`resourceModels: [` + list + `]`) }
	const most = "9223372036854775807"
	run(t, clusterGroup, "Cluster", []rule{
		{"grades that go on from each other", models(`{grade: 0, ranges: [{name: cpu, min: 0, max: 2}]}, {grade: 1, ranges: [{name: cpu, min: 2, max: ` + most + `}]}`), nil},
		{"order and outer bounds do not matter", models(`{grade: 5, ranges: [{name: cpu, min: 2000m, max: 1}]}, {grade: 1, ranges: [{name: cpu, min: 1, max: 2}]}`), nil},
		{"a single grade", models(`{grade: 0, ranges: [{name: storage, min: 5, max: 1}, {name: ephemeral-storage, min: 0, max: 1}]}`), nil},
		{"a grade may have no ranges", models(`{grade: 0}, {grade: 1, ranges: []}`), nil},
		{"no schema looks at how bounds are written", models(`{grade: 0, ranges: [{name: cpu, min: 0, max: 0.5}]}, {grade: 1, ranges: [{name: cpu, min: " 500m", max: 2}]}`), nil},
		{"resources are those of nodes", models(`{grade: 0, ranges: [{name: nvidia.com/gpu, min: 0, max: 1}]}`), []string{"spec.resourceModels[0].ranges[0].name unsupported-value"}},
		{"grades differ", models(`{grade: 1, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: [{name: cpu, min: 1, max: 2}]}`), []string{"spec.resourceModels[1].grade duplicate-value"}},
		{"the most is more than the least", models(`{grade: 0, ranges: [{name: cpu, min: 0, max: 2}]}, {grade: 1, ranges: [{name: cpu, min: 2, max: 2}]}, {grade: 2, ranges: [{name: cpu, min: 2, max: 4}]}`), []string{"spec.resourceModels[1].ranges[0].max invalid-value"}},
		{"there is no gap", models(`{grade: 0, ranges: [{name: cpu, min: 0, max: 2}]}, {grade: 1, ranges: [{name: cpu, min: 3, max: 4}]}`), []string{"spec.resourceModels[1].ranges[0].min invalid-value"}},
		{"there is no overlap, in the order of grades", models(`{grade: 1, ranges: [{name: cpu, min: 1, max: 4}]}, {grade: 0, ranges: [{name: cpu, min: 0, max: 2}]}`), []string{"spec.resourceModels[0].ranges[0].min invalid-value"}},
		{"each grade has as many resources", models(`{grade: 0, ranges: [{name: cpu, min: 0, max: 2}]}, {grade: 1, ranges: [{name: cpu, min: 2, max: 4}, {name: memory, min: 0, max: 1}]}`), []string{"spec.resourceModels[1].ranges invalid-value"}},
		{"each grade has the same resources", models(`{grade: 0, ranges: [{name: cpu, min: 0, max: 2}]}, {grade: 1, ranges: [{name: memory, min: 2, max: 4}]}`), []string{"spec.resourceModels[1].ranges[0].name invalid-value"}},
		{"bounds are quantities", models(`{grade: 0, ranges: [{name: cpu, min: none, max: 2}]}`), []string{"spec.resourceModels[0].ranges[0].min wrong-type"}},
		{"a grade is not negative", models(`{grade: -1}`), []string{"spec.resourceModels[0].grade wrong-type"}},
	})
}

func TestClusterTaintPolicy(t *testing.T) {
	const add = `addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["False", Unknown]}]`
	run(t, policyGroup, "ClusterTaintPolicy", []rule{
		{"a policy", `{spec: {targetClusters: {clusterNames: [m1]}, ` + add + `, removeOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}], taints: [{key: a, effect: NoSchedule}]}}`, nil},
		{"a taint is required", `{spec: {` + add + `}}`, []string{"spec.taints required-field"}},
		{"that a taint drives out is judged by the config", `{spec: {` + add + `, taints: [{key: a, effect: NoExecute}]}}`, nil},
		{
			"taints are those of a cluster", `{spec: {` + add + `, taints: [{}, {key: a b, effect: PreferNoSchedule}]}}`,
			[]string{"spec.taints[0].effect required-field", "spec.taints[0].key required-field", "spec.taints[1].effect unchecked-value?", "spec.taints[1].key unchecked-value?"},
		},
		{"a taint may be empty", `{spec: {` + add + `, taints: [{key: "", effect: ""}]}}`, nil},
		{"taints differ", `{spec: {` + add + `, taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule, value: b}]}}`, []string{"spec.taints[1] duplicate-value"}},
		{
			"conditions are complete", `{spec: {addOnConditions: [{}], taints: [{key: a, effect: NoSchedule}]}}`,
			[]string{"spec.addOnConditions[0].conditionType required-field", "spec.addOnConditions[0].operator required-field", "spec.addOnConditions[0].statusValues required-field"},
		},
		{
			"conditions are known", `{spec: {removeOnConditions: [{conditionType: Ready, operator: Equal, statusValues: ["Yes"]}], taints: [{key: a, effect: NoSchedule}]}}`,
			[]string{"spec.removeOnConditions[0].operator unchecked-value?", "spec.removeOnConditions[0].statusValues[0] unchecked-value?"},
		},
		{"conditions may have no values", `{spec: {addOnConditions: [{conditionType: Ready, operator: In, statusValues: []}], taints: [{key: a, effect: NoSchedule}]}}`, nil},
		{
			"fields of clusters are not looked at", `{spec: {targetClusters: {fieldSelector: {matchExpressions: [{key: color, operator: Exists}]}}, ` + add + `, taints: [{key: a, effect: NoSchedule}]}}`,
			[]string{
				"spec.targetClusters.fieldSelector.matchExpressions[0].key unchecked-value?", "spec.targetClusters.fieldSelector.matchExpressions[0].operator unchecked-value?",
			},
		},
		{
			"fields of clusters are read", `{spec: {targetClusters: {fieldSelector: {matchExpressions: [{key: region, operator: in, values: [eu]}, {key: region, operator: Exists, values: [eu]}]}}, ` + add + `, taints: [{key: a, effect: NoSchedule}]}}`,
			[]string{
				"spec.targetClusters.fieldSelector.matchExpressions[0].operator unsupported-value", "spec.targetClusters.fieldSelector.matchExpressions[1].values conflicting-fields",
				"spec.targetClusters.fieldSelector.matchExpressions[1].operator unchecked-value?",
			},
		},
		{"clusters are an affinity", `{spec: {targetClusters: {labelSelector: {matchLabels: {"a b": c}}}, ` + add + `, taints: [{key: a, effect: NoSchedule}]}}`, []string{"spec.targetClusters.labelSelector.matchLabels.a b invalid-value"}},
		{"without conditions nothing happens", `{spec: {taints: [{key: a, effect: NoSchedule}]}}`, []string{"spec changes-nothing?"}},
	})
}

// TestDrivesOut holds what the config may refuse of a policy that is right in itself.
func TestDrivesOut(t *testing.T) {
	x, _ := decode(t, policyGroup, "ClusterTaintPolicy", `{spec: {taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoExecute}]}}`)
	if got := lines(DrivesOut(x.(*karmada.ClusterTaintPolicy))); !slices.Equal(got, []string{"spec.taints[1].effect unsupported-value"}) {
		t.Errorf("drives out by %v", got)
	}
}

func TestDefaultResourceModelsAreValid(t *testing.T) {
	c := &karmada.Cluster{Spec: karmada.ClusterSpec{SyncMode: karmada.Push, ResourceModels: karmada.DefaultResourceModels()}}
	if found := Object(c); len(found) > 0 {
		t.Errorf("the default models are not valid:\n%s", explain(found))
	}
}
