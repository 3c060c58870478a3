package health_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/interpret/argocd"
	"github.com/waybill-dev/waybill/reconciler/health"
)

// kubernetesOwn are objects of kinds of Kubernetes' own.
const kubernetesOwn = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, generation: 2}, spec: {replicas: 3, template: {spec: {containers: [{name: a, image: a, env: [{name: A, value: a}], ports: [{containerPort: 80}]}]}}}, status: {observedGeneration: 2, replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3, conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a, generation: 2}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate}}, status: {observedGeneration: 2, replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3, availableReplicas: 3, currentRevision: a, updateRevision: a}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a, generation: 2}, spec: {updateStrategy: {type: RollingUpdate}}, status: {observedGeneration: 2, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3, numberReady: 3}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a, generation: 2}, spec: {replicas: 3}, status: {observedGeneration: 2, replicas: 3, fullyLabeledReplicas: 3, readyReplicas: 3, availableReplicas: 3}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: a, generation: 1}, spec: {completions: 1}, status: {succeeded: 1, conditions: [{type: Complete, status: "True"}]}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: a, generation: 1}, spec: {schedule: "* * * * *"}, status: {lastScheduleTime: "2026-01-01T00:00:00Z", lastSuccessfulTime: "2026-01-01T00:00:10Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a}]}, status: {phase: Running, conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {type: LoadBalancer, clusterIP: 10.0.0.1}, status: {loadBalancer: {ingress: [{ip: 10.0.0.2}]}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {}, status: {phase: Bound}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: a}, status: {phase: Active}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, generation: 1}, spec: {rules: [{host: a}]}, status: {loadBalancer: {ingress: [{ip: 10.0.0.2}]}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, generation: 1}, spec: {minAvailable: 1}, status: {observedGeneration: 1, currentHealthy: 3, desiredHealthy: 1, conditions: [{type: DisruptionAllowed, status: "True", message: a}]}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3}, status: {currentReplicas: 1, desiredReplicas: 1, conditions: [{type: AbleToScale, status: "True"}]}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a, generation: 1}, spec: {group: a}, status: {conditions: [{type: Established, status: "True"}]}}
`

// known are kinds of other projects, in Argo CD's cases: first those for which Karmada has a rule, too.
var known = []string{
	"apps.kruise.io/AdvancedCronJob", "apps.kruise.io/BroadcastJob", "apps.kruise.io/CloneSet", "apps.kruise.io/DaemonSet", "apps.kruise.io/StatefulSet",
	"argoproj.io/Rollout", "flink.apache.org/FlinkDeployment", "helm.toolkit.fluxcd.io/HelmRelease",
	"kustomize.toolkit.fluxcd.io/Kustomization", "source.toolkit.fluxcd.io/Bucket", "source.toolkit.fluxcd.io/GitRepository",
	"source.toolkit.fluxcd.io/HelmChart", "source.toolkit.fluxcd.io/HelmRepository", "source.toolkit.fluxcd.io/OCIRepository", "sparkoperator.k8s.io/SparkApplication",

	"argoproj.io/AnalysisRun", "argoproj.io/ApplicationSet", "bitnami.com/SealedSecret", "ceph.rook.io/CephCluster", "cert-manager.io/Certificate",
	"cert-manager.io/Issuer", "cluster.x-k8s.io/Cluster", "elasticsearch.k8s.elastic.co/Elasticsearch", "external-secrets.io/ExternalSecret", "flagger.app/Canary", "gateway.networking.k8s.io/Gateway",
	"gateway.networking.k8s.io/HTTPRoute", "kafka.strimzi.io/Kafka", "keda.sh/ScaledObject", "minio.min.io/Tenant", "monitoring.coreos.com/Prometheus", "pkg.crossplane.io/Provider",
	"postgresql.cnpg.io/Cluster", "rabbitmq.com/User", "serving.knative.dev/Service", "_.crossplane.io/_",
}

// BenchmarkJudge judges 10,000 objects of 50 kinds, as many of each.
func BenchmarkJudge(b *testing.B) {
	own, foreign := fleet(b)
	judge := &health.Judge{Kinds: interpret.New()}
	for _, set := range []struct {
		name    string
		objects []map[string]any
	}{
		{"Kubernetes' own", own},
		{"by Karmada and Argo CD", foreign[:15]},
		{"by Argo CD", foreign[15:]},
		{"all", append(own, foreign...)},
	} {
		b.Run(set.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range 10_000 {
					judge.Of(set.objects[i%len(set.objects)], health.Moment{})
				}
			}
		})
	}
}

// fleet is an object of each of 50 kinds. Of other projects it is one that is healthy by Argo CD, if its
// cases have one.
func fleet(b *testing.B) (own, foreign []map[string]any) {
	b.Helper()
	for doc := range strings.SplitSeq(kubernetesOwn, "---") {
		var live map[string]any
		if err := yaml.Unmarshal([]byte(doc), &live); err != nil {
			b.Fatal(err)
		}
		whole(live)
		own = append(own, live)
	}
	healthy, other := map[string]map[string]any{}, map[string]map[string]any{}
	eachCase(b, func(name string, live map[string]any, want argocd.Verdict) {
		kind := strings.Join(strings.Split(name, "/")[:2], "/")
		if other[kind] == nil {
			other[kind] = live
		}
		if healthy[kind] == nil && want.Status == argocd.Healthy {
			healthy[kind] = live
		}
	})
	for _, kind := range known {
		switch {
		case healthy[kind] != nil:
			foreign = append(foreign, healthy[kind])
		case other[kind] != nil:
			foreign = append(foreign, other[kind])
		default:
			b.Errorf("Argo CD has no case of %s", kind)
		}
	}
	if n := len(own) + len(foreign); n != 50 {
		b.Fatalf("there are %d kinds", n)
	}
	return own, foreign
}
