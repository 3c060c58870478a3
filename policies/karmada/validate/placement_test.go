package validate

import (
	"strings"
	"testing"
)

const overCapacity = `replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}`

func TestClusterAffinity(t *testing.T) {
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"every filter", placement(`clusterAffinity: {clusterNames: [m1], exclude: [m2], labelSelector: {matchLabels: {a: b}},
			fieldSelector: {matchExpressions: [{key: region, operator: In, values: [eu]}, {key: zone, operator: NotIn, values: [a]}, {key: provider, operator: In, values: [x]}]}}`), nil},
		{
			"a label selector is valid", placement(`clusterAffinity: {labelSelector: {matchExpressions: [{key: a, operator: In}]}}`),
			[]string{"spec.placement.clusterAffinity.labelSelector.matchExpressions[0].values required-field"},
		},
		{
			"fields are provider, region and zone", placement(`clusterAffinity: {fieldSelector: {matchExpressions: [{key: regions, operator: In, values: [eu]}]}}`),
			[]string{"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].key unsupported-value"},
		},
		{
			"fields are such as labels have", placement(`clusterAffinity: {fieldSelector: {matchExpressions: [{key: a b, operator: In, values: [eu]}]}}`),
			[]string{"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].key invalid-value"},
		},
		{
			"fields are not asked for", placement(`clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: DoesNotExist}]}}`),
			[]string{"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].operator unsupported-value"},
		},
		{
			"fields are in a list or not", placement(`clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: Exists, values: [eu]}]}}`),
			[]string{
				"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].values conflicting-fields",
				"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].operator unsupported-value",
			},
		},
		{
			"the list is not empty", placement(`clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: In}]}}`),
			[]string{"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].values required-field"},
		},
		{
			"values of regions are those of labels, of zones they are free", placement(`clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: In, values: [a, "b c"]}, {key: zone, operator: In, values: ["b c"]}]}}`),
			[]string{"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].values[1] invalid-value"},
		},
		{
			"a list of zones is not empty either", placement(`clusterAffinity: {fieldSelector: {matchExpressions: [{key: zone, operator: NotIn}]}}`),
			[]string{"spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].values required-field"},
		},
		{"a webhook drops a list without groups", placement(`clusterAffinity: {}, clusterAffinities: []`), nil},
		{"a name is not null", placement(`clusterAffinity: {clusterNames: [m1, null]}`), []string{"spec.placement.clusterAffinity.clusterNames[1] wrong-type"}},
		{
			"a name is not excluded too", placement(`clusterAffinity: {clusterNames: [m1, m2], exclude: [m2]}`),
			[]string{"spec.placement.clusterAffinity.clusterNames[1] excluded-cluster?"},
		},
		{
			"there is one affinity or a list", placement(overCapacity + `, clusterAffinity: {}, clusterAffinities: [{affinityName: a}]`),
			[]string{"spec.placement.clusterAffinities conflicting-fields"},
		},
	})
}

func TestAffinityGroups(t *testing.T) {
	long := strings.Repeat("a", 33)
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"groups in order", placement(overCapacity + `, clusterAffinities: [{affinityName: a, clusterNames: [m1]}, {affinityName: b}]`), nil},
		{"one group, whatever the replicas", placement(`clusterAffinities: [{affinityName: a}]`), nil},
		{"groups without capacity never move on", placement(`clusterAffinities: [{affinityName: a}, {affinityName: b}]`), []string{"spec.placement.clusterAffinities capacity-ignored?"}},
		{"a name is required", placement(`clusterAffinities: [{}]`), []string{"spec.placement.clusterAffinities[0].affinityName required-field"}},
		{"a name is a label's key", placement(`clusterAffinities: [{affinityName: "a b"}]`), []string{"spec.placement.clusterAffinities[0].affinityName invalid-value"}},
		{"a name has 32 characters", placement(`clusterAffinities: [{affinityName: ` + long[1:] + `}]`), nil},
		{"a name has not 33 characters", placement(`clusterAffinities: [{affinityName: ` + long + `}]`), []string{"spec.placement.clusterAffinities[0].affinityName invalid-value"}},
		{"names differ", placement(overCapacity + `, clusterAffinities: [{affinityName: a}, {affinityName: a}]`), []string{"spec.placement.clusterAffinities[1].affinityName duplicate-value"}},
		{
			"each group is an affinity", placement(`clusterAffinities: [{affinityName: a, fieldSelector: {matchExpressions: [{key: x, operator: In, values: [v]}]}}]`),
			[]string{"spec.placement.clusterAffinities[0].fieldSelector.matchExpressions[0].key unsupported-value"},
		},
		{"overflow of aggregated replicas", placement(overCapacity + `, clusterAffinities: [{affinityName: a, clusterNames: [m1], overflowAffinities: [{affinityName: b}, {affinityName: c}]}]`), nil},
		{"overflow of replicas by dynamic weight", placement(`replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}},
			clusterAffinities: [{affinityName: a, clusterNames: [m1], overflowAffinities: [{affinityName: b}]}]`), nil},
		{
			"no overflow of duplicated replicas", placement(`clusterAffinities: [{affinityName: a, clusterNames: [m1], overflowAffinities: [{affinityName: b}]}]`),
			[]string{"spec.placement.clusterAffinities[0].overflowAffinities conflicting-fields"},
		},
		{
			"no overflow of static weights", placement(`replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted},
			clusterAffinities: [{affinityName: a, clusterNames: [m1], overflowAffinities: [{affinityName: b}]}]`),
			[]string{"spec.placement.clusterAffinities[0].overflowAffinities conflicting-fields"},
		},
		{
			"no overflow of every cluster", placement(overCapacity + `, clusterAffinities: [{affinityName: a, overflowAffinities: [{affinityName: b}]}]`),
			[]string{"spec.placement.clusterAffinities[0].overflowAffinities conflicting-fields"},
		},
		{
			"overflow has names of its own", placement(overCapacity + `, clusterAffinities: [{affinityName: a, clusterNames: [m1], overflowAffinities: [{affinityName: a}, {affinityName: b}, {affinityName: b, clusterNames: [m1], exclude: [m1]}]}]`),
			[]string{
				"spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName duplicate-value",
				"spec.placement.clusterAffinities[0].overflowAffinities[2].affinityName duplicate-value",
				"spec.placement.clusterAffinities[0].overflowAffinities[2].clusterNames[0] excluded-cluster?",
			},
		},
	})
}

func TestTolerations(t *testing.T) {
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"tolerations as of pods", placement(`clusterTolerations: [{key: a, value: b}, {key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}, {operator: Exists}, {key: a, operator: Equal, effect: NoSchedule}]`), nil},
		{
			"numbers are not compared", placement(`clusterTolerations: [{key: a, operator: Lt, value: "3"}, {key: a, operator: Gt, value: "3"}]`),
			[]string{"spec.placement.clusterTolerations[0].operator unsupported-value", "spec.placement.clusterTolerations[1].operator unsupported-value"},
		},
		{"a cluster's taint is no preference", placement(`clusterTolerations: [{operator: Exists, effect: PreferNoSchedule}]`), []string{"spec.placement.clusterTolerations[0].effect matches-nothing?"}},
		{"a value says nothing with Exists", placement(`clusterTolerations: [{operator: Exists, value: x}]`), []string{"spec.placement.clusterTolerations[0].value unused-field?"}},
	})
}

func TestSpreadConstraints(t *testing.T) {
	constraints := func(list string) string { return placement(`spreadConstraints: [` + list + `]`) }
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"clusters in regions", constraints(`{spreadByField: region, minGroups: 2, maxGroups: 3}, {spreadByField: cluster, maxGroups: 3}`), nil},
		{"clusters are the default", constraints(`{maxGroups: 3}`), nil},
		{"by a label alone", constraints(`{spreadByLabel: a.b/rack, maxGroups: 3}`), nil},
		{"a label is valid", constraints(`{spreadByLabel: "a b", maxGroups: 3}`), []string{"spec.placement.spreadConstraints[0].spreadByLabel invalid-value"}},
		{"by a field or by a label", constraints(`{spreadByField: cluster, spreadByLabel: rack, maxGroups: 3}`), []string{"spec.placement.spreadConstraints[0].spreadByLabel conflicting-fields"}},
		{"by a known field", constraints(`{spreadByField: cluster, maxGroups: 1}, {spreadByField: regions, maxGroups: 1}`), []string{"spec.placement.spreadConstraints[1].spreadByField unsupported-value"}},
		{"no bound is negative", constraints(`{minGroups: -1, maxGroups: -2}`), []string{"spec.placement.spreadConstraints[0].minGroups invalid-value", "spec.placement.spreadConstraints[0].maxGroups invalid-value"}},
		{"the most is not less than the least", constraints(`{minGroups: 3, maxGroups: 2}`), []string{"spec.placement.spreadConstraints[0].maxGroups conflicting-fields"}},
		{"one constraint a field", constraints(`{maxGroups: 2}, {spreadByField: cluster, maxGroups: 2}`), []string{"spec.placement.spreadConstraints[1].spreadByField duplicate-value"}},
		{"every field needs clusters", constraints(`{spreadByField: region, maxGroups: 2}`), []string{"spec.placement.spreadConstraints required-field"}},
		{"no maximum is none", constraints(`{minGroups: 1}`), []string{"spec.placement.spreadConstraints[0].maxGroups spread-selects-none?"}},
		{
			"zones and providers are only asked for", constraints(`{maxGroups: 2}, {spreadByField: zone}, {spreadByField: provider, maxGroups: 2}`),
			[]string{"spec.placement.spreadConstraints[1] spread-idle?", "spec.placement.spreadConstraints[2] spread-idle?"},
		},
		{"labels beside each other spread", constraints(`{spreadByLabel: rack, maxGroups: 2}, {spreadByLabel: hall, maxGroups: 2}`), nil},
		{"a label beside a field is passed over", constraints(`{maxGroups: 2}, {spreadByLabel: rack, maxGroups: 2}`), []string{"spec.placement.spreadConstraints[1] spread-idle?"}},
		{
			"the annotation makes them act", `{metadata: {name: web, namespace: shop, annotations: {waybill.dev/spread: strict}}, spec: {` + selectors + `, placement: {spreadConstraints: [{maxGroups: 2}, {spreadByField: zone}]}}}`,
			[]string{"spec.placement.spreadConstraints[1].maxGroups spread-selects-none?"},
		},
		{
			"weights by default pass over constraints", placement(`replicaScheduling: {replicaSchedulingType: Divided}, spreadConstraints: [{maxGroups: 2}]`),
			[]string{"spec.placement.spreadConstraints spread-ignored?"},
		},
		{
			"static weights pass over constraints", placement(`replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {staticWeightList: [{weight: 1, targetCluster: {}}]}}, spreadConstraints: [{maxGroups: 2}]`),
			[]string{"spec.placement.spreadConstraints spread-ignored?"},
		},
		{
			"an empty weightPreference honours constraints", placement(`replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {}}, spreadConstraints: [{maxGroups: 2}]`),
			[]string{"spec.placement.replicaScheduling.weightPreference empty-weights?"},
		},
		{"dynamic weights honour constraints", placement(`replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}, spreadConstraints: [{maxGroups: 2}]`), nil},
		{"aggregation honours constraints", placement(overCapacity + `, spreadConstraints: [{maxGroups: 2}]`), nil},
	})
}

func TestReplicaScheduling(t *testing.T) {
	scheduling := func(body string) string { return placement(`replicaScheduling: {` + body + `}`) }
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"duplicated", scheduling(`replicaSchedulingType: Duplicated`), nil},
		{"divided by static weights", scheduling(`replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [m1]}, weight: 1}]}`), nil},
		{"nothing means divided", scheduling(``), []string{"spec.placement.replicaScheduling.replicaSchedulingType implicit-divided?"}},
		{"a type is known", scheduling(`replicaSchedulingType: Divde`), []string{"spec.placement.replicaScheduling.replicaSchedulingType unsupported-value"}},
		{"a preference is known", scheduling(`replicaSchedulingType: Divided, replicaDivisionPreference: Weight`), []string{"spec.placement.replicaScheduling.replicaDivisionPreference unsupported-value"}},
		{"a dynamic weight is known", scheduling(`replicaSchedulingType: Divided, weightPreference: {dynamicWeight: Free}`), []string{"spec.placement.replicaScheduling.weightPreference.dynamicWeight unsupported-value"}},
		{"a weight is 1 or more", scheduling(`replicaSchedulingType: Divided, weightPreference: {staticWeightList: [{targetCluster: {}, weight: 0}]}`), []string{"spec.placement.replicaScheduling.weightPreference.staticWeightList[0].weight invalid-value"}},
		{
			"a weight's clusters are an affinity", scheduling(`replicaSchedulingType: Divided, weightPreference: {staticWeightList: [{weight: 1, targetCluster: {fieldSelector: {matchExpressions: [{key: region, operator: In}]}}}]}`),
			[]string{"spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster.fieldSelector.matchExpressions[0].values required-field"},
		},
		{
			"a weight's labels are read", scheduling(`replicaSchedulingType: Divided, weightPreference: {staticWeightList: [{weight: 1, targetCluster: {labelSelector: {matchExpressions: [{key: a b, operator: in}]}}}]}`),
			[]string{
				"spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster.labelSelector.matchExpressions[0].key invalid-value",
				"spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster.labelSelector.matchExpressions[0].operator unsupported-value",
			},
		},
		{
			"a weight's fields are not looked at", scheduling(`replicaSchedulingType: Divided, weightPreference: {staticWeightList: [{weight: 1, targetCluster: {fieldSelector: {matchExpressions: [{key: color, operator: In, values: [red]}]}}}]}`),
			[]string{"spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster.fieldSelector.matchExpressions[0].key unchecked-value?"},
		},
		{
			"dynamic weights win", scheduling(`replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas, staticWeightList: [{targetCluster: {}, weight: 1}]}`),
			[]string{"spec.placement.replicaScheduling.weightPreference.staticWeightList unused-field?"},
		},
		{"a preference divides", scheduling(`replicaSchedulingType: Duplicated, replicaDivisionPreference: Weighted`), []string{"spec.placement.replicaScheduling.replicaDivisionPreference unused-field?"}},
		{"weights divide", scheduling(`replicaSchedulingType: Duplicated, weightPreference: {dynamicWeight: AvailableReplicas}`), []string{"spec.placement.replicaScheduling.weightPreference unused-field?"}},
		{
			"weights do not aggregate", scheduling(`replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated, weightPreference: {dynamicWeight: AvailableReplicas}`),
			[]string{"spec.placement.replicaScheduling.weightPreference unused-field?"},
		},
	})
}

func TestWorkloadAffinity(t *testing.T) {
	run(t, policyGroup, "PropagationPolicy", []rule{
		{"with some and apart from others", placement(`workloadAffinity: {affinity: {groupByLabelKey: a.b/c}, antiAffinity: {groupByLabelKey: d}}`), nil},
		{
			"keys are required", placement(`workloadAffinity: {affinity: {}, antiAffinity: {}}`),
			[]string{"spec.placement.workloadAffinity.affinity.groupByLabelKey required-field", "spec.placement.workloadAffinity.antiAffinity.groupByLabelKey required-field"},
		},
		{"keys are those of labels", placement(`workloadAffinity: {affinity: {groupByLabelKey: "a b"}}`), []string{"spec.placement.workloadAffinity.affinity.groupByLabelKey invalid-value"}},
		{"keys differ", placement(`workloadAffinity: {affinity: {groupByLabelKey: a}, antiAffinity: {groupByLabelKey: a}}`), []string{"spec.placement.workloadAffinity.antiAffinity.groupByLabelKey conflicting-fields"}},
	})
}
