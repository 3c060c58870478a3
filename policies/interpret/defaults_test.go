package interpret_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// pod is a spec with the defaults of a pod, before its containers.
const podDefaults = `restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, terminationGracePeriodSeconds: 30, securityContext: {}`

// containerDefaults are those that do not depend on the image.
const containerDefaults = `terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, resources: {}`

func TestDefaultsOfPods(t *testing.T) {
	for _, tt := range []struct{ name, spec, want string }{
		{name: "an empty spec", spec: `{}`, want: `{` + podDefaults + `}`},
		{
			name: "a container", spec: `{containers: [{image: "a:1"}]}`,
			want: `{` + podDefaults + `, containers: [{image: "a:1", imagePullPolicy: IfNotPresent, ` + containerDefaults + `}]}`,
		},
		{
			name: "init and ephemeral containers", spec: `{initContainers: [{image: "a:1"}], ephemeralContainers: [{image: a}]}`,
			want: `{` + podDefaults + `, initContainers: [{image: "a:1", imagePullPolicy: IfNotPresent, ` + containerDefaults + `}], ephemeralContainers: [{image: a, imagePullPolicy: Always, ` + containerDefaults + `}]}`,
		},
		{
			name: "ports, environment and hooks of a container",
			spec: `{containers: [{image: "a:1", ports: [{containerPort: 1}, {containerPort: 2, protocol: UDP}], env: [{name: A, valueFrom: {fieldRef: {fieldPath: f}}}], lifecycle: {postStart: {httpGet: {port: 1}}, preStop: {exec: {}}}}]}`,
			want: `{` + podDefaults + `, containers: [{image: "a:1", imagePullPolicy: IfNotPresent, ` + containerDefaults + `, ports: [{containerPort: 1, protocol: TCP}, {containerPort: 2, protocol: UDP}],
  env: [{name: A, valueFrom: {fieldRef: {fieldPath: f, apiVersion: v1}}}], lifecycle: {postStart: {httpGet: {port: 1, path: /, scheme: HTTP}}, preStop: {exec: {}}}}]}`,
		},
		{
			name: "probes, whose zero is not set",
			spec: `{containers: [{image: "a:1", livenessProbe: {httpGet: {port: 1}, timeoutSeconds: 0}, readinessProbe: {grpc: {port: 1}, failureThreshold: 5, initialDelaySeconds: 0}, startupProbe: {httpGet: {path: /x, scheme: HTTPS}}}]}`,
			want: `{` + podDefaults + `, containers: [{image: "a:1", imagePullPolicy: IfNotPresent, ` + containerDefaults + `,
  livenessProbe: {httpGet: {port: 1, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3},
  readinessProbe: {grpc: {port: 1, service: ""}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 5, initialDelaySeconds: 0},
  startupProbe: {httpGet: {path: /x, scheme: HTTPS}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}}]}`,
		},
		{
			name: "the newer account name names the older", spec: `{serviceAccountName: a}`,
			want: `{` + podDefaults + `, serviceAccountName: a, serviceAccount: a}`,
		},
		{
			name: "the older account name names the newer", spec: `{serviceAccount: a}`,
			want: `{` + podDefaults + `, serviceAccountName: a, serviceAccount: a}`,
		},
		{
			name: "the newer account name wins", spec: `{serviceAccountName: a, serviceAccount: b}`,
			want: `{` + podDefaults + `, serviceAccountName: a, serviceAccount: a}`,
		},
		{
			name: "account names that are empty name nothing", spec: `{serviceAccountName: "", serviceAccount: ""}`,
			want: `{` + podDefaults + `, serviceAccountName: "", serviceAccount: ""}`,
		},
		{
			name: "an older account name that is empty names nothing", spec: `{serviceAccount: ""}`,
			want: `{` + podDefaults + `, serviceAccount: ""}`,
		},
		{
			name: "volumes",
			spec: `{volumes: [{name: a}, {name: o, emptyDir: null}, {name: b, configMap: {}}, {name: c, secret: {defaultMode: 256}}, {name: d, projected: {sources: [{serviceAccountToken: {path: p}}, {downwardAPI: {items: [{fieldRef: {}}]}}]}}, {name: e, downwardAPI: {items: [{fieldRef: {}}]}},
  {name: f, hostPath: {path: /}}, {name: g, ephemeral: {volumeClaimTemplate: {spec: {}}}}, {name: h, nfs: {}}, {name: i, secret: {}}]}`,
			want: `{` + podDefaults + `, volumes: [{name: a, emptyDir: {}}, {name: o, emptyDir: {}}, {name: b, configMap: {defaultMode: 420}}, {name: c, secret: {defaultMode: 256}},
  {name: d, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: p, expirationSeconds: 3600}}, {downwardAPI: {items: [{fieldRef: {apiVersion: v1}}]}}]}}, {name: e, downwardAPI: {defaultMode: 420, items: [{fieldRef: {apiVersion: v1}}]}},
  {name: f, hostPath: {path: /, type: ""}}, {name: g, ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Filesystem}}}}, {name: h, nfs: {}}, {name: i, secret: {defaultMode: 420}}]}`,
		},
		{
			name: "null and empty are not set, zero of a pointer is", spec: `{restartPolicy: "", dnsPolicy: null, terminationGracePeriodSeconds: 0}`,
			want: `{restartPolicy: Always, dnsPolicy: ClusterFirst, schedulerName: default-scheduler, terminationGracePeriodSeconds: 0, securityContext: {}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkDefault(t, of(t, "v1 Pod", "{spec: "+tt.spec+"}"), of(t, "v1 Pod", "{spec: "+tt.want[:len(tt.want)-1]+", enableServiceLinks: true}}"))
			checkDefault(t, of(t, "apps/v1 ReplicaSet", "{spec: {replicas: 2, template: {spec: "+tt.spec+"}}}"), of(t, "apps/v1 ReplicaSet", "{spec: {replicas: 2, template: {spec: "+tt.want+"}}}"))
			checkDefault(t, of(t, "batch/v1 CronJob", "{spec: {concurrencyPolicy: Forbid, suspend: true, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0, jobTemplate: {spec: {template: {spec: "+tt.spec+"}}}}}"),
				of(t, "batch/v1 CronJob", "{spec: {concurrencyPolicy: Forbid, suspend: true, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0, jobTemplate: {spec: {template: {spec: "+tt.want+"}}}}}"))
		})
	}
}

// checkDefault checks the defaults of an object, and that they can be taken away.
func checkDefault(t *testing.T, obj, want map[string]any) {
	t.Helper()
	check := frozen(t, obj)
	got, added := interpret.Default(obj)
	check()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults of %v:\n%s", obj["kind"], diff)
	}
	if diff := cmp.Diff(obj, interpret.Undefault(got, added)); diff != "" {
		t.Errorf("defaults of %v taken away:\n%s", obj["kind"], diff)
	}
	if len(added) == 0 && !cmp.Equal(obj, want) {
		t.Errorf("no path was added to %v", obj["kind"])
	}
}

func TestPullPolicyFollowsTheTag(t *testing.T) {
	const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for image, want := range map[string]string{
		"nginx": "Always", "nginx:latest": "Always", "nginx:1.27": "IfNotPresent", "nginx:Latest": "IfNotPresent",
		"registry:5000/nginx": "Always", "registry:5000/nginx:1": "IfNotPresent", "localhost:5000": "IfNotPresent",
		"a.example.com/b/c_d/e__f/g-h--i.j": "Always", "[::1]:5000/a:1": "IfNotPresent", "Reg.example.com/a": "Always",
		"nginx" + digest: "IfNotPresent", "nginx:latest" + digest: "Always", "nginx:1" + digest: "IfNotPresent",
		"": "IfNotPresent", "Nginx": "IfNotPresent", "$(REGISTRY)/nginx": "IfNotPresent", "nginx:": "IfNotPresent", "a//b": "IfNotPresent", "a b": "IfNotPresent",
	} {
		obj, _ := interpret.Default(of(t, "v1 Pod", "{spec: {containers: [{image: "+asJSON(t, image)+"}]}}"))
		got := obj["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["imagePullPolicy"]
		if got != want {
			t.Errorf("the policy for %q is %v, want %s", image, got, want)
		}
	}
}

func TestDefaultsOfKinds(t *testing.T) {
	const retention = `persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}`
	for _, tt := range []struct{ name, kind, spec, want string }{
		{name: "a Deployment", kind: "apps/v1 Deployment", spec: `{}`, want: `{replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 25%}}}`},
		{name: "a Deployment scaled to 0", kind: "apps/v1 Deployment", spec: `{replicas: 0, revisionHistoryLimit: 0, progressDeadlineSeconds: 0, strategy: {type: Recreate}}`, want: `{replicas: 0, revisionHistoryLimit: 0, progressDeadlineSeconds: 0, strategy: {type: Recreate}}`},
		{name: "a Deployment with half a strategy", kind: "apps/v1 Deployment", spec: `{strategy: {rollingUpdate: {maxSurge: 1}}}`, want: `{replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%, maxSurge: 1}}}`},
		{name: "a ReplicaSet", kind: "apps/v1 ReplicaSet", spec: `{}`, want: `{replicas: 1}`},
		{
			name: "a StatefulSet", kind: "apps/v1 StatefulSet", spec: `{volumeClaimTemplates: [{spec: {}}, {spec: {volumeMode: Block}}]}`,
			want: `{replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: OrderedReady, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}, ` + retention + `, volumeClaimTemplates: [{spec: {volumeMode: Filesystem}}, {spec: {volumeMode: Block}}]}`,
		},
		{name: "a StatefulSet that says only RollingUpdate", kind: "apps/v1 StatefulSet", spec: `{updateStrategy: {type: RollingUpdate}}`, want: `{replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: OrderedReady, updateStrategy: {type: RollingUpdate}, ` + retention + `}`},
		{name: "a DaemonSet", kind: "apps/v1 DaemonSet", spec: `{}`, want: `{revisionHistoryLimit: 10, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}}`},
		{name: "a DaemonSet updated by hand", kind: "apps/v1 DaemonSet", spec: `{updateStrategy: {type: OnDelete}}`, want: `{revisionHistoryLimit: 10, updateStrategy: {type: OnDelete}}`},
		{name: "a Job", kind: "batch/v1 Job", spec: `{}`, want: `{parallelism: 1, completions: 1, backoffLimit: 6, completionMode: NonIndexed, suspend: false, podReplacementPolicy: TerminatingOrFailed}`},
		{name: "a Job that says only parallelism", kind: "batch/v1 Job", spec: `{parallelism: 2}`, want: `{parallelism: 2, backoffLimit: 6, completionMode: NonIndexed, suspend: false, podReplacementPolicy: TerminatingOrFailed}`},
		{name: "a Job that says only completions", kind: "batch/v1 Job", spec: `{completions: 2}`, want: `{parallelism: 1, completions: 2, backoffLimit: 6, completionMode: NonIndexed, suspend: false, podReplacementPolicy: TerminatingOrFailed}`},
		{name: "a Job with a policy for failures", kind: "batch/v1 Job", spec: `{completions: 2, completionMode: Indexed, backoffLimitPerIndex: 0, podFailurePolicy: {}}`, want: `{parallelism: 1, completions: 2, completionMode: Indexed, backoffLimitPerIndex: 0, podFailurePolicy: {}, backoffLimit: 2147483647, suspend: false, podReplacementPolicy: Failed}`},
		{name: "a CronJob", kind: "batch/v1 CronJob", spec: `{jobTemplate: {spec: {}}}`, want: `{concurrencyPolicy: Allow, suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1, jobTemplate: {spec: {}}}`},
		{name: "a Service", kind: "v1 Service", spec: `{ports: [{port: 80}, {port: 53, protocol: UDP, targetPort: dns}, {port: 1, targetPort: 0}]}`, want: `{type: ClusterIP, sessionAffinity: None, internalTrafficPolicy: Cluster, ports: [{port: 80, protocol: TCP, targetPort: 80}, {port: 53, protocol: UDP, targetPort: dns}, {port: 1, protocol: TCP, targetPort: 1}]}`},
		{name: "a sticky Service", kind: "v1 Service", spec: `{sessionAffinity: ClientIP}`, want: `{type: ClusterIP, sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}, internalTrafficPolicy: Cluster}`},
		{name: "a Service on every node", kind: "v1 Service", spec: `{type: NodePort}`, want: `{type: NodePort, sessionAffinity: None, internalTrafficPolicy: Cluster, externalTrafficPolicy: Cluster}`},
		{name: "a Service with outside addresses", kind: "v1 Service", spec: `{externalIPs: [1.1.1.1]}`, want: `{type: ClusterIP, externalIPs: [1.1.1.1], sessionAffinity: None, internalTrafficPolicy: Cluster, externalTrafficPolicy: Cluster}`},
		{name: "a load balancer", kind: "v1 Service", spec: `{type: LoadBalancer}`, want: `{type: LoadBalancer, sessionAffinity: None, internalTrafficPolicy: Cluster, externalTrafficPolicy: Cluster, allocateLoadBalancerNodePorts: true}`},
		{name: "a Service that is a name", kind: "v1 Service", spec: `{type: ExternalName}`, want: `{type: ExternalName, sessionAffinity: None}`},
		{name: "a claim", kind: "v1 PersistentVolumeClaim", spec: `{}`, want: `{volumeMode: Filesystem}`},
		{name: "a volume", kind: "v1 PersistentVolume", spec: `{}`, want: `{volumeMode: Filesystem, persistentVolumeReclaimPolicy: Retain}`},
		{name: "an autoscaler", kind: "autoscaling/v2 HorizontalPodAutoscaler", spec: `{metrics: []}`, want: `{minReplicas: 1, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}`},
		{name: "an autoscaler with metrics", kind: "autoscaling/v2 HorizontalPodAutoscaler", spec: `{minReplicas: 2, metrics: [{type: External}]}`, want: `{minReplicas: 2, metrics: [{type: External}]}`},
		{name: "an older autoscaler", kind: "autoscaling/v1 HorizontalPodAutoscaler", spec: `{}`, want: `{minReplicas: 1}`},
		{name: "a policy for incoming traffic", kind: "networking.k8s.io/v1 NetworkPolicy", spec: `{ingress: [{ports: [{port: 1}]}]}`, want: `{policyTypes: [Ingress], ingress: [{ports: [{port: 1, protocol: TCP}]}]}`},
		{name: "a policy for both ways", kind: "networking.k8s.io/v1 NetworkPolicy", spec: `{egress: [{ports: [{port: 1}]}]}`, want: `{policyTypes: [Ingress, Egress], egress: [{ports: [{port: 1, protocol: TCP}]}]}`},
		{name: "an Ingress has none", kind: "networking.k8s.io/v1 Ingress", spec: `{rules: [{http: {paths: [{}]}}]}`, want: `{rules: [{http: {paths: [{}]}}]}`},
		{name: "another group has none", kind: "example.com/v1 Deployment", spec: `{}`, want: `{}`},
		{name: "a spec that is no map has none", kind: "apps/v1 Deployment", spec: `text`, want: `text`},
		{name: "items that are no maps have none", kind: "v1 Service", spec: `{ports: [1, null, [], {}]}`, want: `{type: ClusterIP, sessionAffinity: None, internalTrafficPolicy: Cluster, ports: [1, null, [], {protocol: TCP}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkDefault(t, of(t, tt.kind, "{spec: "+tt.spec+"}"), of(t, tt.kind, "{spec: "+tt.want+"}"))
		})
	}
}

func TestDefaultsBesideASpec(t *testing.T) {
	for _, tt := range []struct{ kind, obj, want string }{
		{"v1 Secret", `{}`, `{type: Opaque}`},
		{"v1 Secret", `{type: kubernetes.io/tls}`, `{type: kubernetes.io/tls}`},
		{"v1 ConfigMap", `{data: {}}`, `{data: {}}`},
		{"storage.k8s.io/v1 StorageClass", `{}`, `{reclaimPolicy: Delete, volumeBindingMode: Immediate}`},
		{
			"rbac.authorization.k8s.io/v1 RoleBinding", `{roleRef: {name: r}, subjects: [{kind: User}, {kind: Group}, {kind: ServiceAccount}]}`,
			`{roleRef: {name: r, apiGroup: rbac.authorization.k8s.io}, subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io}, {kind: Group, apiGroup: rbac.authorization.k8s.io}, {kind: ServiceAccount}]}`,
		},
		{"rbac.authorization.k8s.io/v1 ClusterRoleBinding", `{roleRef: {}}`, `{roleRef: {apiGroup: rbac.authorization.k8s.io}}`},
	} {
		t.Run(tt.kind, func(t *testing.T) { checkDefault(t, of(t, tt.kind, tt.obj), of(t, tt.kind, tt.want)) })
	}
}
