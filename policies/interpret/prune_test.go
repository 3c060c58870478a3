package interpret_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/object"
)

// Most rows are what Karmada's own functions answer: for Karmada every object is one of
// its server, which these are, too.
func TestPruneWhatWasExported(t *testing.T) {
	for _, tt := range []struct{ name, kind, obj, want, gone string }{
		{
			name: "what a server sets goes", kind: "example.com/v1 Thing",
			obj: `{status: {x: 1}, spec: {status: 1}, metadata: {name: a, namespace: ns, labels: {l: v}, annotations: {k: v}, creationTimestamp: null, deletionTimestamp: t, deletionGracePeriodSeconds: 1,
  generation: 2, managedFields: [], resourceVersion: "1", selfLink: s, uid: u, ownerReferences: [], finalizers: [f], generateName: g}}`,
			want: `{metadata: {name: a, namespace: ns, labels: {l: v}, annotations: {k: v}, generateName: g}, spec: {status: 1}}`,
			gone: "metadata.ownerReferences metadata.finalizers",
		},
		{
			name: "a Service loses its addresses and keeps its node ports", kind: "v1 Service",
			obj:  `{metadata: {name: a, uid: u, annotations: {kubectl.kubernetes.io/last-applied-configuration: z}}, spec: {clusterIP: 1.2.3.4, clusterIPs: [1.2.3.4], healthCheckNodePort: 31000, ports: [{port: 1, nodePort: 30000}]}}`,
			want: `{metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: z}}, spec: {healthCheckNodePort: 31000, ports: [{port: 1, nodePort: 30000}]}}`,
			gone: "spec.clusterIP spec.clusterIPs",
		},
		{
			name: "a headless Service stays headless", kind: "v1 Service",
			obj:  `{metadata: {name: a, resourceVersion: "7"}, spec: {clusterIP: None, clusterIPs: [None]}}`,
			want: `{metadata: {name: a}, spec: {clusterIP: None, clusterIPs: [None]}}`,
		},
		{
			name: "a Job loses what its controller generates", kind: "batch/v1 Job",
			obj: `{metadata: {name: a, uid: u, labels: {job-name: a}}, spec: {ttlSecondsAfterFinished: 5, selector: {matchLabels: {controller-uid: u, batch.kubernetes.io/controller-uid: u}},
  template: {metadata: {labels: {controller-uid: u, batch.kubernetes.io/controller-uid: u, job-name: a, batch.kubernetes.io/job-name: a, x: y1}}}}}`,
			want: `{metadata: {name: a, labels: {job-name: a}}, spec: {selector: {matchLabels: {}}, template: {metadata: {labels: {x: y1}}}}}`,
			gone: "spec.selector.matchLabels.controller-uid spec.selector.matchLabels.batch.kubernetes.io/controller-uid " +
				"spec.template.metadata.labels.job-name spec.template.metadata.labels.batch.kubernetes.io/job-name " +
				"spec.template.metadata.labels.controller-uid spec.template.metadata.labels.batch.kubernetes.io/controller-uid spec.ttlSecondsAfterFinished",
		},
		{
			name: "a Job with its own selector loses only its time to live", kind: "batch/v1 Job",
			obj:  `{metadata: {name: a, uid: u}, spec: {ttlSecondsAfterFinished: 5, manualSelector: true, selector: {matchLabels: {controller-uid: u}}, template: {metadata: {labels: {job-name: a}}}}}`,
			want: `{metadata: {name: a}, spec: {manualSelector: true, selector: {matchLabels: {controller-uid: u}}, template: {metadata: {labels: {job-name: a}}}}}`,
			gone: "spec.ttlSecondsAfterFinished",
		},
		{
			name: "the token of a Secret is emptied", kind: "v1 Secret",
			obj:  `{type: kubernetes.io/service-account-token, data: {token: eA==}, metadata: {name: a, uid: u, annotations: {kubernetes.io/service-account.name: s, kubernetes.io/service-account.uid: u}}}`,
			want: `{type: kubernetes.io/service-account-token, data: null, metadata: {name: a, annotations: {kubernetes.io/service-account.name: s}}}`,
			gone: "metadata.annotations.kubernetes.io/service-account.uid data",
		},
		{
			name: "any other Secret is kept", kind: "v1 Secret",
			obj:  `{type: Opaque, data: {token: eA==}, metadata: {name: a, uid: u}}`,
			want: `{type: Opaque, data: {token: eA==}, metadata: {name: a}}`,
		},
		{
			name: "neighbouring token secrets of a ServiceAccount all go", kind: "v1 ServiceAccount",
			obj:  `{metadata: {name: sa, uid: u}, secrets: [{name: sa-token-1}, {name: sa-token-2}, {name: mine}, {name: other-token-1}]}`,
			want: `{metadata: {name: sa}, secrets: [{name: mine}, {name: other-token-1}]}`,
			gone: "secrets",
		},
		{
			name: "a Deployment loses its revision", kind: "apps/v1 Deployment",
			obj:  `{metadata: {name: a, uid: u, annotations: {deployment.kubernetes.io/revision: "1", deployment.kubernetes.io/revision-history: "1"}}}`,
			want: `{metadata: {name: a, annotations: {}}}`,
			gone: "metadata.annotations.deployment.kubernetes.io/revision metadata.annotations.deployment.kubernetes.io/revision-history",
		},
		{
			name: "a claim loses its node and keeps its volume", kind: "v1 PersistentVolumeClaim",
			obj:  `{metadata: {name: a, uid: u, annotations: {k: v, volume.kubernetes.io/selected-node: n1}}, spec: {volumeName: pv1}}`,
			want: `{metadata: {name: a, annotations: {k: v}}, spec: {volumeName: pv1}}`,
			gone: "metadata.annotations.volume.kubernetes.io/selected-node",
		},
		{
			name: "kinds are told by name alone", kind: "example.com/v1 Service",
			obj: `{metadata: {managedFields: [{manager: m}]}, spec: {clusterIP: 1.2.3.4}}`, want: `{metadata: {}, spec: {}}`,
			gone: "spec.clusterIP",
		},
		{name: "no list of secrets is made", kind: "v1 ServiceAccount", obj: `{metadata: {name: sa, uid: u}}`, want: `{metadata: {name: sa}}`},
		{
			name: "what is no Job keeps what is called like a Job's", kind: "apps/v1 Deployment",
			obj:  `{metadata: {name: a, uid: u}, spec: {selector: {matchLabels: {job-name: a}}, template: {metadata: {labels: {job-name: a, controller-uid: u}}}}}`,
			want: `{metadata: {name: a}, spec: {selector: {matchLabels: {job-name: a}}, template: {metadata: {labels: {job-name: a, controller-uid: u}}}}}`,
		},
		{name: "nothing is made where there is nothing", kind: "batch/v1 Job", obj: `{metadata: {name: a, uid: u}}`, want: `{metadata: {name: a}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := of(t, tt.kind, tt.obj)
			check := frozen(t, obj)
			got := interpret.Prune(obj)
			gone := interpret.Pruned(obj)
			check()
			if diff := cmp.Diff(of(t, tt.kind, tt.want), got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.gone, strings.Join(gone, " ")); diff != "" {
				t.Error("what is gone:", diff)
			}
			if !interpret.Exported(obj) {
				t.Error("it does not count as exported")
			}
		})
	}
}

// What a person wrote stays, but for what no client can set and what holds in one server
// only.
func TestPruneWhatWasWritten(t *testing.T) {
	for _, tt := range []struct{ name, kind, obj, want, gone string }{
		{
			name: "finalizers", kind: "example.com/v1 Thing",
			obj:  `{metadata: {name: a, finalizers: [f], creationTimestamp: null, generation: 1, uid: "", resourceVersion: "", managedFields: []}, status: {}}`,
			want: `{metadata: {name: a, finalizers: [f]}}`,
		},
		{
			name: "an owner of another server", kind: "v1 ConfigMap", obj: `{metadata: {finalizers: [f], ownerReferences: [{name: a}, {name: b, uid: u}]}}`,
			want: `{metadata: {finalizers: [f]}}`, gone: "metadata.ownerReferences",
		},
		{
			name: "the labels of another server's Job", kind: "batch/v1 Job",
			obj:  `{metadata: {finalizers: [f]}, spec: {ttlSecondsAfterFinished: 5, template: {metadata: {labels: {job-name: a, controller-uid: u, app: a}}}}}`,
			want: `{metadata: {finalizers: [f]}, spec: {ttlSecondsAfterFinished: 5, template: {metadata: {labels: {app: a}}}}}`,
			gone: "spec.template.metadata.labels.job-name spec.template.metadata.labels.controller-uid",
		},
		{name: "an owner without a uid", kind: "v1 ConfigMap", obj: `{metadata: {ownerReferences: [{name: a}]}}`, want: `{metadata: {ownerReferences: [{name: a}]}}`},
		{name: "the address of a Service", kind: "v1 Service", obj: `{spec: {clusterIP: 10.0.0.10, clusterIPs: [10.0.0.10]}}`, want: `{spec: {clusterIP: 10.0.0.10, clusterIPs: [10.0.0.10]}}`},
		{
			name: "a Job's time to live and labels", kind: "batch/v1 Job",
			obj:  `{spec: {ttlSecondsAfterFinished: 5, template: {metadata: {labels: {job-name: a, batch.kubernetes.io/job-name: a}}}}}`,
			want: `{spec: {ttlSecondsAfterFinished: 5, template: {metadata: {labels: {job-name: a, batch.kubernetes.io/job-name: a}}}}}`,
		},
		{
			name: "a token", kind: "v1 Secret", obj: `{type: kubernetes.io/service-account-token, data: {token: eA==}, metadata: {name: a}}`,
			want: `{type: kubernetes.io/service-account-token, data: {token: eA==}, metadata: {name: a}}`,
		},
		{name: "secrets of a ServiceAccount", kind: "v1 ServiceAccount", obj: `{metadata: {name: sa}, secrets: [{name: sa-token-1}]}`, want: `{metadata: {name: sa}, secrets: [{name: sa-token-1}]}`},
		{
			name: "annotations", kind: "v1 PersistentVolumeClaim", obj: `{metadata: {annotations: {volume.kubernetes.io/selected-node: n1}}}`,
			want: `{metadata: {annotations: {volume.kubernetes.io/selected-node: n1}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := of(t, tt.kind, tt.obj)
			check := frozen(t, obj)
			got := interpret.Prune(obj)
			check()
			if diff := cmp.Diff(of(t, tt.kind, tt.want), got); diff != "" {
				t.Error(diff)
			}
			if gone := strings.Join(interpret.Pruned(obj), " "); gone != tt.gone {
				t.Errorf("gone is %q, want %q", gone, tt.gone)
			}
			if interpret.Exported(obj) {
				t.Error("it counts as exported")
			}
		})
	}
}

// TestLeftOut holds what is said of an object that was exported, and what to do where it is not delivered at all.
func TestLeftOut(t *testing.T) {
	for _, tt := range []struct{ name, obj, want, hint string }{
		{"what was written", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: ns}, spec: {clusterIP: 1.2.3.4}}", "", ""},
		{
			"what was exported", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: ns, uid: u}, spec: {clusterIP: 1.2.3.4}}",
			"a.yaml:1: notice: Service/ns/a was exported from a server; what that server set there is left out: spec.clusterIP [exported]", "to deliver it, remove uid",
		},
		{
			"what has the owner of a server", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, ownerReferences: [{name: b, uid: u}]}}",
			"a.yaml:1: notice: ConfigMap/ns/a was exported from a server; what that server set there is left out: metadata.ownerReferences [exported]", "",
		},
	} {
		got, hint := "", ""
		if d := interpret.LeftOut(object.Decode("a.yaml", []byte(tt.obj)).Objects[0]); d != nil {
			got, _, _ = strings.Cut(d.String(), "\n")
			hint = d.Hint
		}
		if got != tt.want || (hint == "") != (tt.hint == "") || !strings.HasPrefix(hint, tt.hint) {
			t.Errorf("%s: it says %s, hint %q\nwant %s", tt.name, got, hint, tt.want)
		}
	}
}
