package validate

import (
	"strings"
	"testing"
)

func TestFederatedResourceQuota(t *testing.T) {
	quota := func(overall, assignments string) string {
		return `{spec: {overall: {` + overall + `}, staticAssignments: [` + assignments + `]}}`
	}
	long := strings.Repeat("a", 64)
	run(t, policyGroup, "FederatedResourceQuota", []rule{
		{"a quota that is given out", quota(`cpu: 10, requests.memory: 4Gi, pods: 5, count/jobs.batch: 3, requests.nvidia.com/gpu: 1, hugepages-2Mi: 1Gi, requests.storage: 1Gi, limits.cpu: 1`, `{clusterName: m1, hard: {cpu: 4}}, {clusterName: m2, hard: {cpu: 6000m, pods: 5}}`), nil},
		{"a bound may be nothing", quota(`cpu: 0, pods: 0`, ``), nil},
		{"a name has 63 characters", `{metadata: {name: ` + long[1:] + `, namespace: shop}, spec: {overall: {cpu: 1}}}`, nil},
		{"resources are required", `{spec: {staticAssignments: [{clusterName: m1}]}}`, []string{"spec.overall required-field", "spec.staticAssignments[0].hard required-field"}},
		{"a quota is required", `{}`, []string{"spec.overall required-field"}},
		{"there may be no resource", `{spec: {overall: {}, staticAssignments: [{clusterName: m1, hard: {}}]}}`, nil},
		{"an assignment is not null", quota(`cpu: 10`, `null`), []string{"spec.staticAssignments[0] wrong-type"}},
		{"fractions are strings", quota(`cpu: "0.5", memory: .5Gi, pods: 3.0, requests.cpu: +1`, ``), nil},
		{"fractions are no numbers", quota(`cpu: 0.5`, ``), []string{"spec.overall.cpu wrong-type"}},
		{"no space is around quantities", quota(`cpu: " 1", memory: "1 "`, ``), []string{"spec.overall.cpu wrong-type", "spec.overall.memory wrong-type"}},
		{"extended resources are whole, requests of them are not", quota(`nvidia.com/gpu: 500m, requests.nvidia.com/gpu: 500m, kubernetes.io/x: 500m`, ``), []string{"spec.overall.nvidia.com/gpu invalid-value"}},
		{
			"huge pages have a size, and no limit", quota(`hugepages-2Mi: 1, requests.hugepages-1Gi: 1, hugepages-: 1, limits.hugepages-2Mi: 1`, ``),
			[]string{"spec.overall.hugepages- invalid-value", "spec.overall.limits.hugepages-2Mi unsupported-value"},
		},
		{"clusters are not given more than there is", quota(`cpu: 10`, `{clusterName: m1, hard: {cpu: 4}}, {clusterName: m2, hard: {cpu: 6001m}}`), []string{"spec.overall.cpu invalid-value"}},
		{"clusters are given what is bounded", quota(`cpu: 10`, `{clusterName: m1, hard: {memory: 4}}`), []string{"spec.staticAssignments[0].hard.memory invalid-value"}},
		{
			"clusters are named", quota(`cpu: 10`, `{hard: {}}, {clusterName: a.b, hard: {}}, {clusterName: `+long[:49]+`, hard: {}}`),
			[]string{"spec.staticAssignments[0].clusterName required-field", "spec.staticAssignments[1].clusterName invalid-value", "spec.staticAssignments[2].clusterName invalid-value"},
		},
		{
			"resources are those of a quota", quota(`cpus: 10, limits.pods: 1, requests.storages: 1, "a b/c": 1`, ``),
			[]string{"spec.overall.a b/c invalid-value", "spec.overall.cpus unsupported-value", "spec.overall.limits.pods unsupported-value", "spec.overall.requests.storages unsupported-value"},
		},
		{"no bound is negative", quota(`cpu: -1`, ``), []string{"spec.overall.cpu invalid-value"}},
		{"nor what a cluster is given", quota(`cpu: 1`, `{clusterName: m1, hard: {cpu: -1}}`), []string{"spec.staticAssignments[0].hard.cpu invalid-value"}},
		{"objects are counted whole", quota(`cpu: 1500m, pods: 1500m, count/jobs.batch: 500m`, ``), []string{"spec.overall.count/jobs.batch invalid-value", "spec.overall.pods invalid-value"}},
		{"quantities are quantities", quota(`cpu: many`, ``), []string{"spec.overall.cpu wrong-type"}},
		{"a name is a label's value", `{metadata: {name: ` + long + `, namespace: shop}, spec: {overall: {cpu: 1}}}`, []string{"metadata.name invalid-value"}},
		{"a name is a DNS subdomain", `{metadata: {name: A, namespace: shop}, spec: {overall: {cpu: 1}}}`, []string{"metadata.name invalid-value"}},
	})
}

func TestFederatedHPA(t *testing.T) {
	const target = `scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}`
	run(t, autoscalingGroup, "FederatedHPA", []rule{
		{"bounds and metrics", `{spec: {` + target + `, minReplicas: 2, maxReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}}`, nil},
		{"defaults", `{spec: {scaleTargetRef: {kind: Deployment, name: web}, maxReplicas: 1}}`, nil},
		{"a target is required", `{spec: {maxReplicas: 1, scaleTargetRef: {apiVersion: a/b/c}}}`, []string{"spec.scaleTargetRef.apiVersion invalid-value", "spec.scaleTargetRef.kind required-field", "spec.scaleTargetRef.name required-field"}},
		{"a most is required", `{spec: {` + target + `}}`, []string{"spec.maxReplicas invalid-value"}},
		{"the least is 1", `{spec: {` + target + `, minReplicas: 0, maxReplicas: 1}}`, []string{"spec.minReplicas invalid-value"}},
		{"the most is not less than the least", `{spec: {` + target + `, minReplicas: 3, maxReplicas: 2}}`, []string{"spec.minReplicas conflicting-fields"}},
		{
			"a metric has the source of its type", `{spec: {` + target + `, maxReplicas: 2, metrics: [{type: Pods, resource: {name: cpu, target: {type: Value}}}]}}`,
			[]string{"spec.metrics[0].pods required-field", "spec.metrics[0].resource conflicting-fields"},
		},
		{"a metric has a known type", `{spec: {` + target + `, maxReplicas: 2, metrics: [{type: Resources}, {}]}}`, []string{"spec.metrics[0].type unsupported-value", "spec.metrics[1].type required-field"}},
		{"an external metric is one of Waybill's", `{spec: {` + target + `, maxReplicas: 2, metrics: [{type: External, external: {metric: {name: x}, target: {type: Value, value: 1}}}]}}`, []string{"spec.metrics[0].type not-karmadas?"}},
		{"windows are at most an hour, and periods half of one", `{spec: {` + target + `, maxReplicas: 2, behavior: {scaleUp: {stabilizationWindowSeconds: 3600, policies: [{type: Pods, value: 1, periodSeconds: 1800}]}}}}`, nil},
		{
			"windows and periods have bounds", `{spec: {` + target + `, maxReplicas: 2, behavior: {scaleDown: {stabilizationWindowSeconds: 3601, selectPolicy: Least, policies: [{type: Some, value: 0, periodSeconds: 1801}]}}}}`,
			[]string{
				"spec.behavior.scaleDown.stabilizationWindowSeconds invalid-value", "spec.behavior.scaleDown.selectPolicy unsupported-value",
				"spec.behavior.scaleDown.policies[0].type unsupported-value", "spec.behavior.scaleDown.policies[0].value invalid-value",
				"spec.behavior.scaleDown.policies[0].periodSeconds invalid-value",
			},
		},
		{"a target can be in a path", `{spec: {maxReplicas: 1, scaleTargetRef: {kind: a/b, name: ..}}}`, []string{"spec.scaleTargetRef.kind invalid-value", "spec.scaleTargetRef.name invalid-value"}},
	})
}

func TestCronFederatedHPA(t *testing.T) {
	rules := func(list string) string {
		return `{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, rules: [` + list + `]}}`
	}
	federated := func(list string) string {
		return `{spec: {scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: FederatedHPA, name: web}, rules: [` + list + `]}}`
	}
	long := strings.Repeat("a", 33)
	run(t, autoscalingGroup, "CronFederatedHPA", []rule{
		{"rules of a template", rules(`{name: up, schedule: "0 8 * * 1-5", targetReplicas: 5, timeZone: Europe/Berlin, successfulHistoryLimit: 32, failedHistoryLimit: 0}, {name: down, schedule: "@daily", targetReplicas: 0, timeZone: UTC}`), nil},
		{"rules of a FederatedHPA", federated(`{name: a, schedule: "0 8 * * *", targetMinReplicas: 1}, {name: b, schedule: "*/5 * * JAN MON", targetMaxReplicas: 1}, {name: c, schedule: "0 8 * * *", targetMinReplicas: 2, targetMaxReplicas: 2}`), nil},
		{"rules are required", `{spec: {scaleTargetRef: {kind: Deployment, name: web}}}`, []string{"spec.rules required-field"}},
		{"there may be no rule", rules(``), nil},
		{"a target can be in a path", `{spec: {scaleTargetRef: {kind: Deployment, name: a%b}, rules: []}}`, []string{"spec.scaleTargetRef.name invalid-value"}},
		{"a rule has a name, a time and a scale", rules(`{}`), []string{"spec.rules[0].name required-field", "spec.rules[0].schedule required-field", "spec.rules[0].targetReplicas required-field"}},
		{"names differ", rules(`{name: a, schedule: "0 8 * * *", targetReplicas: 1}, {name: a, schedule: "0 8 * * *", targetReplicas: 1}`), []string{"spec.rules[1].name duplicate-value"}},
		{"a name has 32 characters", rules(`{name: ` + long[1:] + `, schedule: "0 8 * * *", targetReplicas: 1}`), nil},
		{"characters are not bytes", rules(`{name: ` + strings.Repeat("é", 32) + `, schedule: "0 8 * * *", targetReplicas: 1}`), nil},
		{"a name has not 33 characters", rules(`{name: ` + long + `, schedule: "0 8 * * *", targetReplicas: 1}`), []string{"spec.rules[0].name invalid-value"}},
		{"a schedule has five fields", rules(`{name: a, schedule: "0 0 8 * * *", targetReplicas: 1}`), []string{"spec.rules[0].schedule invalid-value"}},
		{"a schedule is in range", rules(`{name: a, schedule: "60 8 * * *", targetReplicas: 1}`), []string{"spec.rules[0].schedule invalid-value"}},
		{"a schedule is no interval", rules(`{name: a, schedule: "@every 5m", targetReplicas: 1}`), []string{"spec.rules[0].schedule invalid-value"}},
		{"a schedule has no time zone", rules(`{name: a, schedule: "TZ=UTC 0 8 * * *", targetReplicas: 1}, {name: b, schedule: "TZ=", targetReplicas: 1}`), []string{"spec.rules[0].schedule invalid-value", "spec.rules[1].schedule invalid-value"}},
		{"weekday 7 is Sunday, and Karmada does not run it", rules(`{name: a, schedule: "0 8 * * 5-7", targetReplicas: 1}`), []string{"spec.rules[0].schedule unchecked-value?"}},
		{"a time zone is known", rules(`{name: a, schedule: "0 8 * * *", timeZone: Europe/Bielefeld, targetReplicas: 1}`), []string{"spec.rules[0].timeZone invalid-value"}},
		{"a time zone is not that of the machine", rules(`{name: a, schedule: "0 8 * * *", timeZone: Local, targetReplicas: 1}`), []string{"spec.rules[0].timeZone invalid-value"}},
		{"replicas are not negative", rules(`{name: a, schedule: "0 8 * * *", targetReplicas: -1}`), []string{"spec.rules[0].targetReplicas invalid-value"}},
		{
			"history is bounded", rules(`{name: a, schedule: "0 8 * * *", targetReplicas: 1, successfulHistoryLimit: 0, failedHistoryLimit: 33}`),
			[]string{"spec.rules[0].successfulHistoryLimit invalid-value", "spec.rules[0].failedHistoryLimit invalid-value"},
		},
		{
			"of this group only a FederatedHPA is scaled", `{spec: {scaleTargetRef: {apiVersion: autoscaling.karmada.io/v1alpha1, kind: CronFederatedHPA, name: web}, rules: [{name: a, schedule: "0 8 * * *", targetMinReplicas: 1}]}}`,
			[]string{"spec.scaleTargetRef.kind unsupported-value"},
		},
		{"a FederatedHPA has bounds", federated(`{name: a, schedule: "0 8 * * *", targetReplicas: 3}`), []string{"spec.rules[0].targetMaxReplicas required-field"}},
		{"bounds are 1 or more", federated(`{name: a, schedule: "0 8 * * *", targetMinReplicas: 0, targetMaxReplicas: 0}`), []string{"spec.rules[0].targetMinReplicas invalid-value", "spec.rules[0].targetMaxReplicas invalid-value"}},
		{"bounds are in order", federated(`{name: a, schedule: "0 8 * * *", targetMinReplicas: 3, targetMaxReplicas: 2}`), []string{"spec.rules[0].targetMinReplicas conflicting-fields"}},
	})
}

// TestValidateSchedule has what the parser takes and Karmada's webhook does not.
func TestSchedule(t *testing.T) {
	for _, schedule := range []string{
		"@midnight", "1,, * * * *", ",1 * * * *", "*-5 * * * *", "?-5 * * * *", "* ?/2 * * *", "0 8 * * *\\n", "TZ=UTC 0 8 * * *", "@every 5m",
		"0 8 * * 8", "0 8 * * 7-8", "0 8 * * 0-8",
	} {
		run(t, autoscalingGroup, "CronFederatedHPA", []rule{{
			schedule, `{spec: {scaleTargetRef: {kind: Deployment, name: web}, rules: [{name: a, schedule: "` + schedule + `", targetReplicas: 1}]}}`,
			[]string{"spec.rules[0].schedule invalid-value"},
		}})
	}
}

func TestWorkloadRebalancer(t *testing.T) {
	run(t, appsGroup, "WorkloadRebalancer", []rule{
		{"workloads", `{spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, name: web, namespace: shop}, {apiVersion: v1, kind: Namespace, name: shop}], ttlSecondsAfterFinished: 5}}`, nil},
		{"a workload is required", `{spec: {}}`, []string{"spec.workloads required-field"}},
		{"a workload is named", `{spec: {workloads: [{}]}}`, []string{"spec.workloads[0].apiVersion required-field", "spec.workloads[0].kind required-field", "spec.workloads[0].name required-field"}},
	})
}

func TestRemedy(t *testing.T) {
	match := func(body string) string {
		return `{spec: {clusterAffinity: {clusterNames: [m1]}, decisionMatches: [{}, {clusterConditionMatch: {` + body + `}}], actions: [TrafficControl]}}`
	}
	run(t, remedyGroup, "Remedy", []rule{
		{"a match", match(`conditionType: ServiceDomainNameResolutionReady, operator: Equal, conditionStatus: "False"`), nil},
		{"nothing is needed", `{spec: {}}`, nil},
		{"a spec is needed", `{}`, []string{"spec required-field"}},
		{"a match is complete", match(``), []string{
			"spec.decisionMatches[1].clusterConditionMatch.conditionType required-field",
			"spec.decisionMatches[1].clusterConditionMatch.operator required-field",
			"spec.decisionMatches[1].clusterConditionMatch.conditionStatus required-field",
		}},
		{"an operator is known", match(`conditionType: ServiceDomainNameResolutionReady, operator: In, conditionStatus: "False"`), []string{"spec.decisionMatches[1].clusterConditionMatch.operator unsupported-value"}},
		{"another condition is never there", match(`conditionType: Ready, operator: NotEqual, conditionStatus: "False"`), []string{"spec.decisionMatches[1].clusterConditionMatch.conditionType matches-nothing?"}},
		{"another action is nobody's", `{spec: {actions: [Reboot]}}`, []string{"spec.actions[0] unknown-action?"}},
	})
}

func TestWork(t *testing.T) {
	run(t, workGroup, "Work", []rule{
		{"manifests", `{spec: {workload: {manifests: [{apiVersion: v1, kind: Secret, data: {a: b}}]}, suspendDispatching: true, preserveResourcesOnDeletion: false}}`, nil},
		{"a manifest is an object", `{spec: {workload: {manifests: [3]}}}`, []string{"spec.workload.manifests[0] invalid-value"}},
		{"a manifest has a kind", `{spec: {workload: {manifests: [{apiVersion: v1}]}}}`, []string{"spec.workload.manifests[0].kind required-field"}},
	})
	run(t, bindingGroup, "ResourceBinding", []rule{{"a binding has no rules but for its name", `{spec: {resource: {apiVersion: v1, kind: Secret, name: a}}}`, nil}})
}
