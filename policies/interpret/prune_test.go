package interpret_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret"
)

// Most rows are what Karmada's own functions answer.
func TestPrune(t *testing.T) {
	for _, tt := range []struct{ name, kind, obj, want string }{
		{
			name: "what a server sets goes", kind: "example.com/v1 Thing",
			obj: `{status: {x: 1}, spec: {status: 1}, metadata: {name: a, namespace: ns, labels: {l: v}, annotations: {k: v}, creationTimestamp: null, deletionTimestamp: t, deletionGracePeriodSeconds: 1,
  generation: 2, managedFields: [], resourceVersion: "1", selfLink: s, uid: u, ownerReferences: [], finalizers: [f], generateName: g}}`,
			want: `{metadata: {name: a, namespace: ns, labels: {l: v}, annotations: {k: v}, generateName: g}, spec: {status: 1}}`,
		},
		{
			name: "a Service loses its addresses and keeps its node ports", kind: "v1 Service",
			obj:  `{metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: z}}, spec: {clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4], healthCheckNodePort: 31000, ports: [{port: 1, nodePort: 30000}]}}`,
			want: `{metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: z}}, spec: {healthCheckNodePort: 31000, ports: [{port: 1, nodePort: 30000}]}}`,
		},
		{
			name: "a headless Service stays headless", kind: "v1 Service",
			obj:  `{metadata: {name: a}, spec: {clusterIP: None, clusterIPs: [None]}}`,
			want: `{metadata: {name: a}, spec: {clusterIP: None, clusterIPs: [None]}}`,
		},
		{
			name: "a Job loses what its controller generates", kind: "batch/v1 Job",
			obj: `{metadata: {name: a, labels: {job-name: a}}, spec: {ttlSecondsAfterFinished: 5, selector: {matchLabels: {controller-uid: u, batch.kubernetes.io/controller-uid: u}},
  template: {metadata: {labels: {controller-uid: u, batch.kubernetes.io/controller-uid: u, job-name: a, batch.kubernetes.io/job-name: a, x: y1}}}}}`,
			want: `{metadata: {name: a, labels: {job-name: a}}, spec: {selector: {matchLabels: {}}, template: {metadata: {labels: {x: y1}}}}}`,
		},
		{
			name: "a Job with its own selector loses only its time to live", kind: "batch/v1 Job",
			obj:  `{metadata: {name: a}, spec: {ttlSecondsAfterFinished: 5, manualSelector: true, selector: {matchLabels: {controller-uid: u}}, template: {metadata: {labels: {job-name: a}}}}}`,
			want: `{metadata: {name: a}, spec: {manualSelector: true, selector: {matchLabels: {controller-uid: u}}, template: {metadata: {labels: {job-name: a}}}}}`,
		},
		{
			name: "the token of a Secret is emptied", kind: "v1 Secret",
			obj:  `{type: kubernetes.io/service-account-token, data: {token: eA==}, metadata: {name: a, annotations: {kubernetes.io/service-account.name: s, kubernetes.io/service-account.uid: u}}}`,
			want: `{type: kubernetes.io/service-account-token, data: null, metadata: {name: a, annotations: {kubernetes.io/service-account.name: s}}}`,
		},
		{
			name: "any other Secret is kept", kind: "v1 Secret",
			obj:  `{type: Opaque, data: {token: eA==}, metadata: {name: a}}`,
			want: `{type: Opaque, data: {token: eA==}, metadata: {name: a}}`,
		},
		{
			name: "neighbouring token secrets of a ServiceAccount all go", kind: "v1 ServiceAccount",
			obj:  `{metadata: {name: sa}, secrets: [{name: sa-token-1}, {name: sa-token-2}, {name: mine}, {name: other-token-1}]}`,
			want: `{metadata: {name: sa}, secrets: [{name: mine}, {name: other-token-1}]}`,
		},
		{
			name: "a Deployment loses its revision", kind: "apps/v1 Deployment",
			obj:  `{metadata: {name: a, annotations: {deployment.kubernetes.io/revision: "1", deployment.kubernetes.io/revision-history: "1"}}}`,
			want: `{metadata: {name: a, annotations: {}}}`,
		},
		{
			name: "a claim loses its node and keeps its volume", kind: "v1 PersistentVolumeClaim",
			obj:  `{metadata: {name: a, annotations: {k: v, volume.kubernetes.io/selected-node: n1}}, spec: {volumeName: pv1}}`,
			want: `{metadata: {name: a, annotations: {k: v}}, spec: {volumeName: pv1}}`,
		},
		{
			name: "kinds are told by name alone", kind: "example.com/v1 Service",
			obj: `{spec: {clusterIP: 1.2.3.4}}`, want: `{spec: {}}`,
		},
		{name: "nothing is made where there is nothing", kind: "batch/v1 Job", obj: `{metadata: {name: a}}`, want: `{metadata: {name: a}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := of(t, tt.kind, tt.obj)
			check := frozen(t, obj)
			got := interpret.Prune(obj)
			check()
			if diff := cmp.Diff(of(t, tt.kind, tt.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
