package validate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// all is every kind that has rules.
var all = []struct{ apiVersion, kind string }{
	{policyGroup, "PropagationPolicy"},
	{policyGroup, "ClusterPropagationPolicy"},
	{policyGroup, "OverridePolicy"},
	{policyGroup, "ClusterOverridePolicy"},
	{policyGroup, "ClusterTaintPolicy"},
	{policyGroup, "FederatedResourceQuota"},
	{clusterGroup, "Cluster"},
	{workGroup, "Work"},
	{bindingGroup, "ResourceBinding"},
	{bindingGroup, "ClusterResourceBinding"},
	{autoscalingGroup, "FederatedHPA"},
	{autoscalingGroup, "CronFederatedHPA"},
	{appsGroup, "WorkloadRebalancer"},
	{remedyGroup, "Remedy"},
	{configGroup, "ResourceInterpreterCustomization"},
	{configGroup, "ResourceInterpreterWebhookConfiguration"},
	{networkingGroup, "MultiClusterService"},
	{networkingGroup, "MultiClusterIngress"},
}

// The groups of the kinds that policyGroup does not have.
const (
	clusterGroup     = "cluster.karmada.io/v1alpha1"
	workGroup        = "work.karmada.io/v1alpha1"
	bindingGroup     = "work.karmada.io/v1alpha2"
	autoscalingGroup = "autoscaling.karmada.io/v1alpha1"
	appsGroup        = "apps.karmada.io/v1alpha1"
	remedyGroup      = "remedy.karmada.io/v1alpha1"
	configGroup      = "config.karmada.io/v1alpha1"
	networkingGroup  = "networking.karmada.io/v1alpha1"
)

// FuzzObject shows that nothing that decodes makes Object panic, that it answers the same
// each time, and that Default makes no mistake and takes none away.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{"spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "X", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}], "placement": {"clusterAffinities": [{"affinityName": "a", "overflowAffinities": [{}]}], "spreadConstraints": [{}, {"spreadByLabel": "x"}], "replicaScheduling": {"weightPreference": {"staticWeightList": [{"weight": 0}]}}, "clusterTolerations": [{"operator": "Lt"}]}, "failover": {"application": {"purgeMode": "Graciously"}, "cluster": {}}, "suspension": {"dispatching": true}}}`,
		`{"spec": {"overrideRules": [{"overriders": {"imageOverrider": [{"predicate": {}}], "fieldOverrider": [{"json": [{"value": null}]}], "plaintext": [{"path": "a"}]}}], "overriders": {"labelsOverrider": [{"value": {"a b": "c"}}]}}}`,
		`{"spec": {"syncMode": "Push", "zone": "a", "taints": [{}, {}], "apiEndpoint": "%zz", "resourceModels": [{"grade": 1, "ranges": [{"name": "cpu", "min": "1", "max": "2"}]}, {"grade": 0}]}}`,
		`{"spec": {"scaleTargetRef": {}, "rules": [{"schedule": "@every x", "timeZone": "../x"}], "metrics": [{}]}}`,
		`{"spec": {"customizations": {"retention": {"luaScript": "x ="}}, "workload": {"manifests": [1, null, {}]}, "overall": {"pods": "1.5"}, "staticAssignments": [{"hard": {"cpu": "1e400"}}]}}`,
		`{"webhooks": [{"clientConfig": {"url": ":"}, "rules": [{"operations": ["*", "a"]}]}]}`,
		`{"spec": {"types": ["a"], "ports": [{"port": -1}], "rules": [{"http": {"paths": [{"backend": {"service": {}}}]}}]}, "a": 1, "a": 2}`,
	} {
		for i := range all {
			f.Add(uint8(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		kind := all[int(which)%len(all)]
		x, _ := karmada.Decode(kind.apiVersion, kind.kind, data)
		if x == nil {
			return
		}
		before := Object(x)
		if diff := cmp.Diff(before, Object(x)); diff != "" {
			t.Errorf("Object twice (-once +twice):\n%s", diff)
		}
		karmada.Default(x)
		if diff := cmp.Diff(mistakes(before), mistakes(Object(x))); diff != "" {
			t.Errorf("Default changes the mistakes (-before +after):\n%s", diff)
		}
	})
}
