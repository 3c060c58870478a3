package karmada

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// TestDefault compares the whole document, so that nothing else is filled in.
func TestDefault(t *testing.T) {
	for _, c := range []struct{ name, apiVersion, kind, in, want string }{
		{
			"a policy selects in its own namespace and has the defaults of every field", policyGroup, "PropagationPolicy",
			`{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret}, {apiVersion: v1, kind: Secret, namespace: shop}]}}`,
			`{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: shop}, {apiVersion: v1, kind: Secret, namespace: shop}],
			  priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {}}}`,
		},
		{
			"a cluster-wide policy selects in every namespace", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret}]}}`,
			`{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret}],
			  priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {}}}`,
		},
		{
			"what is given stays", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], priority: 3, preemption: Always, schedulerName: x, conflictResolution: Overwrite, propagateDeps: true,
			  placement: {spreadConstraints: [{spreadByField: region, minGroups: 2, maxGroups: 3}], replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}},
			  failover: {application: {decisionConditions: {tolerationSeconds: 5}, purgeMode: Gracefully, gracePeriodSeconds: 7}, cluster: {purgeMode: Directly}}}}`,
			`{spec: {resourceSelectors: [], priority: 3, preemption: Always, schedulerName: x, conflictResolution: Overwrite, propagateDeps: true,
			  placement: {spreadConstraints: [{spreadByField: region, minGroups: 2, maxGroups: 3}], replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}},
			  failover: {application: {decisionConditions: {tolerationSeconds: 5}, purgeMode: Gracefully, gracePeriodSeconds: 7}, cluster: {purgeMode: Directly}}}}`,
		},
		{
			"spread constraints are by cluster and of one group at least, and maxGroups stays", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], placement: {spreadConstraints: [{}, {spreadByLabel: rack}, {spreadByField: zone, maxGroups: 4}]}}}`,
			`{spec: {resourceSelectors: [], priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort,
			  placement: {spreadConstraints: [{spreadByField: cluster, minGroups: 1}, {spreadByLabel: rack, minGroups: 1}, {spreadByField: zone, minGroups: 1, maxGroups: 4}]}}}`,
		},
		{
			"an empty replicaScheduling divides by weights", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], placement: {replicaScheduling: {}}}}`,
			`{spec: {resourceSelectors: [], priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort,
			  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}}}`,
		},
		{
			"duplicated replicas have no preference", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], placement: {replicaScheduling: {replicaSchedulingType: Duplicated}}}}`,
			`{spec: {resourceSelectors: [], priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort,
			  placement: {replicaScheduling: {replicaSchedulingType: Duplicated}}}}`,
		},
		{
			"a ServiceImport takes its dependencies along", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}]}}`,
			`{spec: {resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}], propagateDeps: true,
			  priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {}}}`,
		},
		{
			"a ServiceImport of the later version, too", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1beta1, kind: ServiceImport}]}}`,
			`{spec: {resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1beta1, kind: ServiceImport}], propagateDeps: true,
			  priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {}}}`,
		},
		{
			"failover is graceful, after 300 seconds and for 600", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], failover: {application: {decisionConditions: {}}, cluster: {}}}}`,
			`{spec: {resourceSelectors: [], priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {},
			  failover: {application: {decisionConditions: {tolerationSeconds: 300}, purgeMode: Gracefully, gracePeriodSeconds: 600}, cluster: {purgeMode: Gracefully}}}}`,
		},
		{
			"old purge modes get their new names", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], failover: {application: {decisionConditions: {}, purgeMode: Immediately}, cluster: {purgeMode: Graciously}}}}`,
			`{spec: {resourceSelectors: [], priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {},
			  failover: {application: {decisionConditions: {tolerationSeconds: 300}, purgeMode: Directly}, cluster: {purgeMode: Gracefully}}}}`,
		},
		{
			"failover of clusters alone needs nothing of applications", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], failover: {cluster: {}}}}`,
			`{spec: {resourceSelectors: [], priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {},
			  failover: {cluster: {purgeMode: Gracefully}}}}`,
		},
		{
			"failover of applications alone needs nothing of clusters", policyGroup, "ClusterPropagationPolicy",
			`{spec: {resourceSelectors: [], failover: {application: {decisionConditions: {}, purgeMode: Never}}}}`,
			`{spec: {resourceSelectors: [], priority: 0, preemption: Never, schedulerName: default-scheduler, conflictResolution: Abort, placement: {},
			  failover: {application: {decisionConditions: {tolerationSeconds: 300}, purgeMode: Never}}}}`,
		},
		{
			"an override policy selects in its own namespace", policyGroup, "OverridePolicy",
			`{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret}], overriders: {}}}`,
			`{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: shop}], overriders: {}}}`,
		},
		{
			"a zone moves into zones", clusterGroup, "Cluster",
			`{spec: {syncMode: Push, zone: a}, status: {}}`, `{spec: {syncMode: Push, zones: [a]}, status: {}}`,
		},
		{
			"zones that are given stay, and no models are added", clusterGroup, "Cluster",
			`{spec: {syncMode: Push, zones: [b]}, status: {}}`, `{spec: {syncMode: Push, zones: [b]}, status: {}}`,
		},
		{
			"a zone beside zones stays, which is a mistake", clusterGroup, "Cluster",
			`{spec: {syncMode: Push, zone: a, zones: [b]}, status: {}}`, `{spec: {syncMode: Push, zone: a, zones: [b]}, status: {}}`,
		},
		{
			"models are ordered by grade, from nothing to no bound", clusterGroup, "Cluster",
			`{spec: {syncMode: Push, resourceModels: [{grade: 1, ranges: [{name: cpu, min: "2", max: "4"}]}, {grade: 0, ranges: [{name: cpu, min: "1", max: "2"}]}]}, status: {}}`,
			`{spec: {syncMode: Push, resourceModels: [{grade: 0, ranges: [{name: cpu, min: "0", max: "2"}]}, {grade: 1, ranges: [{name: cpu, min: "2", max: "9223372036854775807"}]}]}, status: {}}`,
		},
		{
			"a FederatedHPA keeps one replica and the use of CPU at 80 percent", autoscalingGroup, "FederatedHPA",
			`{spec: {scaleTargetRef: {kind: Deployment, name: web}, maxReplicas: 3}, status: {currentMetrics: null, desiredReplicas: 0}}`,
			`{spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 1, maxReplicas: 3,
			  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}, status: {currentMetrics: null, desiredReplicas: 0}}`,
		},
		{
			"a FederatedHPA keeps the metrics and the least that it says", autoscalingGroup, "FederatedHPA",
			`{spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 3, metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}]}, status: {currentMetrics: null, desiredReplicas: 0}}`,
			`{spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 3, metrics: [{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1Gi}}}]}, status: {currentMetrics: null, desiredReplicas: 0}}`,
		},
		{
			"a rule of a CronFederatedHPA runs and remembers three times", autoscalingGroup, "CronFederatedHPA",
			`{spec: {scaleTargetRef: {kind: Deployment, name: web}, rules: [{name: a, schedule: "@daily", failedHistoryLimit: 0}, {name: b, schedule: "@daily", suspend: true, successfulHistoryLimit: 1}]}, status: {}}`,
			`{spec: {scaleTargetRef: {kind: Deployment, name: web}, rules: [{name: a, schedule: "@daily", suspend: false, successfulHistoryLimit: 3, failedHistoryLimit: 0},
			  {name: b, schedule: "@daily", suspend: true, successfulHistoryLimit: 1, failedHistoryLimit: 3}]}, status: {}}`,
		},
		{"of other kinds nothing changes", policyGroup, "ClusterTaintPolicy", `{spec: {taints: []}}`, `{spec: {taints: []}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, found := decode(t, c.apiVersion, c.kind, c.in)
			if x == nil {
				t.Fatal(explain(found))
			}
			Default(x)
			var want map[string]any
			if err := yaml.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, body(t, x)); diff != "" {
				t.Errorf("defaults (-want +got):\n%s", diff)
			}
			once := body(t, x)
			Default(x)
			if diff := cmp.Diff(once, body(t, x)); diff != "" {
				t.Errorf("Default twice (-once +twice):\n%s", diff)
			}
		})
	}
}

// body is what x encodes to, but for its kind and metadata.
func body(t *testing.T, x any) map[string]any {
	t.Helper()
	data, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(data, &content); err != nil {
		t.Fatal(err)
	}
	delete(content, "apiVersion")
	delete(content, "kind")
	delete(content, "metadata")
	return content
}

// TestDefaultResourceModels holds the grades against their table (section A.13) and
// against the rules for models.
func TestDefaultResourceModels(t *testing.T) {
	models := DefaultResourceModels()
	if len(models) != 9 {
		t.Fatalf("%d models, want 9", len(models))
	}
	for grade, want := range map[int][2]string{0: {"0", "0"}, 1: {"1", "4Gi"}, 2: {"2", "16Gi"}, 3: {"4", "32Gi"}, 7: {"64", "512Gi"}, 8: {"128", "1Ti"}} {
		for i, q := range want {
			if r := models[grade].Ranges[i]; r.Min.Cmp(resource.MustParse(q)) != 0 {
				t.Errorf("grade %d has at least %s %s, want %s", grade, r.Min.String(), r.Name, q)
			}
		}
	}
	if last := models[8].Ranges; last[0].Max.Value() != math.MaxInt64 || last[1].Max.Value() != math.MaxInt64 {
		t.Errorf("the last grade is bounded by %s and %s", last[0].Max.String(), last[1].Max.String())
	}
	c := &Cluster{Spec: ClusterSpec{SyncMode: Push, ResourceModels: models}}
	Default(c)
	if diff := cmp.Diff(DefaultResourceModels(), c.Spec.ResourceModels); diff != "" {
		t.Errorf("the default models are not in force as they are:\n%s", diff)
	}
}
