package interpret_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// The first rows are what Karmada's own functions answer.
func TestRetain(t *testing.T) {
	for _, tt := range []struct{ name, kind, desired, observed, want, err string }{
		{
			name: "a labelled Deployment keeps its replicas", kind: "apps/v1 Deployment", observed: `{spec: {replicas: 9}}`,
			desired: `{metadata: {name: a, labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 2}}`,
			want:    `{metadata: {name: a, labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 9}}`,
		},
		{name: "any other Deployment does not", kind: "apps/v1 Deployment", desired: `{spec: {replicas: 2}}`, observed: `{spec: {replicas: 9}}`, want: `{spec: {replicas: 2}}`},
		{
			name: "a Service keeps its address, but no node ports", kind: "v1 Service", desired: `{spec: {ports: [{port: 1}]}}`,
			observed: `{spec: {clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4], healthCheckNodePort: 31000, ports: [{port: 1, nodePort: 30000}]}}`,
			want:     `{spec: {clusterIP: 1.2.3.4, healthCheckNodePort: 31000, ports: [{port: 1}]}}`,
		},
		{
			name: "a ServiceAccount keeps its secrets", kind: "v1 ServiceAccount", desired: `{imagePullSecrets: [{name: q}]}`,
			observed: `{secrets: [{name: t}], imagePullSecrets: [{name: q}]}`, want: `{secrets: [{name: t}], imagePullSecrets: [{name: q}]}`,
		},

		{name: "secrets are united", kind: "v1 ServiceAccount", desired: `{secrets: [{name: b}]}`, observed: `{secrets: [{name: a}, {name: b}]}`, want: `{secrets: [{name: b}, {name: a}]}`},
		{
			name: "replicas of 0 are kept, too", kind: "apps/v1 Deployment", observed: `{spec: {replicas: 0}}`,
			desired: `{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {}}`,
			want:    `{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 0}}`,
		},
		{
			name: "without replicas there are none to keep", kind: "apps/v1 Deployment", observed: `{spec: {}}`,
			desired: `{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 2}}`,
			want:    `{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 2}}`,
		},
		{
			name: "replicas that are no number are an error", kind: "apps/v1 Deployment", observed: `{spec: {replicas: many}}`,
			desired: `{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}}`, err: `.spec.replicas: "many"`,
		},
		{name: "a StatefulSet keeps nothing", kind: "apps/v1 StatefulSet", desired: `{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 2}}`, observed: `{spec: {replicas: 9}}`, want: `{metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 2}}`},
		{
			name: "a Pod keeps what its cluster has set", kind: "v1 Pod",
			desired:  `{spec: {containers: [{name: a, image: new}, {name: new}], initContainers: [{name: i}], hostname: h}}`,
			observed: `{spec: {nodeName: n1, serviceAccountName: sa, volumes: [{name: v}], containers: [{name: b, volumeMounts: [{name: w}]}, {name: a, image: old, volumeMounts: [{name: v}]}], initContainers: [{name: i, volumeMounts: [{name: v}]}]}}`,
			want:     `{spec: {nodeName: n1, serviceAccountName: sa, volumes: [{name: v}], hostname: h, containers: [{name: a, image: new, volumeMounts: [{name: v}]}, {name: new}], initContainers: [{name: i, volumeMounts: [{name: v}]}]}}`,
		},
		{name: "a claim keeps its volume", kind: "v1 PersistentVolumeClaim", desired: `{spec: {}}`, observed: `{spec: {volumeName: v}}`, want: `{spec: {volumeName: v}}`},
		{name: "a claim without a volume keeps the one it wants", kind: "v1 PersistentVolumeClaim", desired: `{spec: {volumeName: w}}`, observed: `{spec: {volumeName: ""}}`, want: `{spec: {volumeName: w}}`},
		{name: "a volume keeps its claim", kind: "v1 PersistentVolume", desired: `{spec: {}}`, observed: `{spec: {claimRef: {name: c}}}`, want: `{spec: {claimRef: {name: c}}}`},
		{
			name: "a Job keeps its labels", kind: "batch/v1 Job", desired: `{spec: {template: {metadata: {labels: {x: y1}}, spec: {}}}}`,
			observed: `{spec: {selector: {matchLabels: {uid: u}}, template: {metadata: {labels: {x: y1, uid: u}}}}}`,
			want:     `{spec: {selector: {matchLabels: {uid: u}}, template: {metadata: {labels: {x: y1, uid: u}}, spec: {}}}}`,
		},
		{name: "a token stays", kind: "v1 Secret", desired: `{type: kubernetes.io/service-account-token, data: null}`, observed: `{data: {token: eA==}}`, want: `{type: kubernetes.io/service-account-token, data: {token: eA==}}`},
		{name: "any other Secret is replaced", kind: "v1 Secret", desired: `{type: Opaque, data: {a: eA==}}`, observed: `{data: {a: eQ==}}`, want: `{type: Opaque, data: {a: eA==}}`},
		{
			name: "what a server sets is copied", kind: "example.com/v1 Thing", desired: `{metadata: {name: a}}`,
			observed: `{metadata: {name: a, uid: u, resourceVersion: "7", finalizers: [f], ownerReferences: [{name: o}]}}`,
			want:     `{metadata: {name: a, resourceVersion: "7", finalizers: [f], ownerReferences: [{name: o}]}}`,
		},
		{
			name: "labels and annotations of others stay, ours go", kind: "example.com/v1 Thing", desired: `{metadata: {labels: {a: new}}}`,
			observed: `{metadata: {labels: {a: old, gone: x, theirs: y1}, annotations: {mine: x, theirs: y1, resourcetemplate.karmada.io/managed-labels: "a,gone",
  resourcetemplate.karmada.io/managed-annotations: "mine,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels"}}}`,
			want: `{metadata: {labels: {a: new, theirs: y1}, annotations: {theirs: y1}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			desired, observed := of(t, tt.kind, tt.desired), of(t, tt.kind, tt.observed)
			check, checkObserved := frozen(t, desired), frozen(t, observed)
			got, err := interpret.New().Retain(desired, observed)
			check()
			checkObserved()
			wantError(t, err, tt.err)
			if err != nil {
				return
			}
			if diff := cmp.Diff(of(t, tt.kind, tt.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestOwned holds what is left out for who applies without a look at the cluster: replicas that an autoscaler has.
func TestOwned(t *testing.T) {
	const labelled = `{metadata: {name: a, labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 3, paused: true}}`
	for _, tt := range []struct{ name, kind, obj, want string }{
		{"a Deployment that says so", "apps/v1 Deployment", labelled, `{metadata: {name: a, labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {paused: true}}`},
		{"a Deployment that says no", "apps/v1 Deployment", strings.Replace(labelled, `"true"`, `"false"`, 1), ""},
		{"a Deployment that does not say", "apps/v1 Deployment", `{metadata: {name: a}, spec: {replicas: 3}}`, ""},
		{"another kind that says so", "apps/v1 StatefulSet", labelled, ""},
		{"somebody else's Deployment", "example.com/v1 Deployment", labelled, ""},
	} {
		obj := of(t, tt.kind, tt.obj)
		want := obj
		if tt.want != "" {
			want = of(t, tt.kind, tt.want)
		}
		check := frozen(t, obj)
		if diff := cmp.Diff(want, interpret.Owned(obj)); diff != "" {
			t.Errorf("%s: it is (-want +got)\n%s", tt.name, diff)
		}
		check()
	}
}
