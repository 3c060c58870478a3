package interpret_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
)

func TestHealth(t *testing.T) {
	const healthy, unhealthy, unknown = karmada.ResourceHealthy, karmada.ResourceUnhealthy, karmada.ResourceUnknown
	for _, tt := range []struct {
		name, kind, obj string
		want            karmada.ResourceHealth
	}{
		{"a Deployment with all replicas available", "apps/v1 Deployment", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 3, availableReplicas: 3}}`, healthy},
		{"a Deployment that was not seen yet", "apps/v1 Deployment", `{metadata: {generation: 3}, spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 3, availableReplicas: 3}}`, unhealthy},
		{"a Deployment on its way", "apps/v1 Deployment", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 2, availableReplicas: 3}}`, unhealthy},
		{"a Deployment with a pod that is not available", "apps/v1 Deployment", `{metadata: {generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, updatedReplicas: 3, availableReplicas: 2}}`, unhealthy},
		{"a Deployment without replicas wants none", "apps/v1 Deployment", `{}`, healthy},
		{"a Deployment whose status cannot be read", "apps/v1 Deployment", `{status: {updatedReplicas: many}}`, unknown},
		{"a StatefulSet with all replicas available", "apps/v1 StatefulSet", `{metadata: {generation: 2}, spec: {replicas: 1}, status: {observedGeneration: 2, updatedReplicas: 1, availableReplicas: 1}}`, healthy},
		{"a StatefulSet on its way", "apps/v1 StatefulSet", `{spec: {replicas: 1}, status: {}}`, unhealthy},
		{"a ReplicaSet with all replicas available", "apps/v1 ReplicaSet", `{metadata: {generation: 1}, spec: {replicas: 1}, status: {observedGeneration: 1, availableReplicas: 1}}`, healthy},
		{"a ReplicaSet with one missing", "apps/v1 ReplicaSet", `{spec: {replicas: 2}, status: {availableReplicas: 1}}`, unhealthy},
		{"a ReplicaSet that was not seen yet", "apps/v1 ReplicaSet", `{metadata: {generation: 1}}`, unhealthy},
		{"a DaemonSet on every node", "apps/v1 DaemonSet", `{metadata: {generation: 1}, status: {observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}}`, healthy},
		{"a DaemonSet on its way", "apps/v1 DaemonSet", `{status: {desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2}}`, unhealthy},
		{"a DaemonSet that is not available on a node", "apps/v1 DaemonSet", `{status: {desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1}}`, unhealthy},
		{"a DaemonSet that was not seen yet", "apps/v1 DaemonSet", `{metadata: {generation: 1}}`, unhealthy},
		{"a Service within the cluster", "v1 Service", `{spec: {type: ClusterIP}}`, healthy},
		{"a load balancer with an address", "v1 Service", `{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{}, {ip: 1.1.1.1}]}}}`, healthy},
		{"a load balancer with a name", "v1 Service", `{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{hostname: h}]}}}`, healthy},
		{"a load balancer without an address", "v1 Service", `{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{}]}}}`, unhealthy},
		{"an Ingress with an address", "networking.k8s.io/v1 Ingress", `{status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}`, healthy},
		{"an Ingress without an address", "networking.k8s.io/v1 Ingress", `{status: {loadBalancer: {}}}`, unhealthy},
		{"a claim that is bound", "v1 PersistentVolumeClaim", `{status: {phase: Bound}}`, healthy},
		{"a claim that is pending", "v1 PersistentVolumeClaim", `{status: {phase: Pending}}`, unhealthy},
		{"a Pod that is ready", "v1 Pod", `{status: {phase: Running, conditions: [{type: Initialized, status: "False"}, {type: Ready, status: "True"}]}}`, healthy},
		{"a Pod that is not ready", "v1 Pod", `{status: {phase: Running, conditions: [{type: Ready, status: "False"}]}}`, unhealthy},
		{"a Pod that says nothing of ready", "v1 Pod", `{status: {phase: Running}}`, unhealthy},
		{"a Pod that is done", "v1 Pod", `{status: {phase: Succeeded}}`, healthy},
		{"a Pod that failed", "v1 Pod", `{status: {phase: Failed, conditions: [{type: Ready, status: "True"}]}}`, unhealthy},
		{"a budget that is kept", "policy/v1 PodDisruptionBudget", `{status: {currentHealthy: 2, desiredHealthy: 2}}`, healthy},
		{"a budget that is overdrawn", "policy/v1 PodDisruptionBudget", `{status: {currentHealthy: 1, desiredHealthy: 2}}`, unhealthy},
		{"a kind without a rule", "batch/v1 Job", `{status: {failed: 3}}`, healthy},
		{"a Deployment of another group", "example.com/v1 Deployment", `{spec: {replicas: 3}}`, healthy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := interpret.New().Health(of(t, tt.kind, tt.obj)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
