package interpret_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/render/object"
)

func TestDependencies(t *testing.T) {
	const core = `
serviceAccountName: sa
imagePullSecrets: [{name: pull}]
containers:
- name: c
  env: [{name: A, valueFrom: {configMapKeyRef: {name: cm4, key: k, optional: true}}}, {name: B, value: b}, {name: C, valueFrom: {secretKeyRef: {name: s4, key: k}}}]
  envFrom: [{configMapRef: {name: cm1}}]
initContainers:
- name: i
  envFrom: [{secretRef: {name: s2}}]
ephemeralContainers:
- name: e
  envFrom: [{configMapRef: {name: cm0}}]
volumes:
- {name: a, configMap: {name: cm2}}
- {name: b, secret: {secretName: s1}}
- {name: c, persistentVolumeClaim: {claimName: pvc1}}
- {name: d, projected: {sources: [{secret: {name: s3}}, {configMap: {name: cm3}}, {serviceAccountToken: {path: t}}]}}
- {name: e, ephemeral: {volumeClaimTemplate: {metadata: {name: none}, spec: {}}}}
- {name: f, emptyDir: {}}
- {name: g, configMap: {name: cm2}}
`
	const coreWant = "ConfigMap cm0 cm1 cm2 cm3 cm4, PersistentVolumeClaim pvc1, Secret pull s1 s2 s3 s4, ServiceAccount sa"
	const drivers = `{containers: [], volumes: [
{name: a, azureFile: {secretName: azure, shareName: s}}, {name: b, cephfs: {secretRef: {name: ceph}}}, {name: c, cinder: {secretRef: {name: cinder}}},
{name: d, flexVolume: {secretRef: {name: flex}}}, {name: e, rbd: {secretRef: {name: rbd}}}, {name: f, scaleIO: {secretRef: {name: scale}}},
{name: g, iscsi: {secretRef: {name: iscsi}}}, {name: h, storageos: {secretRef: {name: storage}}}, {name: i, csi: {nodePublishSecretRef: {name: csi}}}, {name: j, csi: {driver: d}}]}`
	pods := func(spec string) string {
		return "spec:\n template:\n  spec:" + strings.ReplaceAll(spec, "\n", "\n   ")
	}
	for _, tt := range []struct{ name, kind, obj, want, err string }{
		{name: "a Deployment needs what its pods do", kind: "apps/v1 Deployment", obj: pods(core), want: coreWant},
		{name: "so does a ReplicaSet", kind: "apps/v1 ReplicaSet", obj: pods(core), want: coreWant},
		{name: "so does a DaemonSet", kind: "apps/v1 DaemonSet", obj: pods(core), want: coreWant},
		{name: "so does a StatefulSet", kind: "apps/v1 StatefulSet", obj: pods(core), want: coreWant},
		{name: "so does a Job", kind: "batch/v1 Job", obj: pods(core), want: coreWant},
		{name: "so does a CronJob", kind: "batch/v1 CronJob", obj: "spec:\n jobTemplate:\n  spec:\n   template:\n    spec:" + strings.ReplaceAll(core, "\n", "\n     "), want: coreWant},
		{name: "so does a Pod", kind: "v1 Pod", obj: "spec:" + indent(core), want: coreWant},
		{name: "volume drivers log in", kind: "v1 Pod", obj: "spec: " + drivers, want: "Secret azure ceph cinder csi flex iscsi rbd scale storage"},
		{name: "the default account is no dependency", kind: "v1 Pod", obj: `{spec: {serviceAccountName: default}}`},
		{name: "the older account name counts only once defaulted", kind: "v1 Pod", obj: `{spec: {serviceAccount: sa}}`},
		{name: "a reference without a name is none", kind: "v1 Pod", obj: `{spec: {imagePullSecrets: [{}], volumes: [{name: a, configMap: {}}]}}`},
		{
			name: "a StatefulSet makes its own claims", kind: "apps/v1 StatefulSet", want: "PersistentVolumeClaim other",
			obj: `{spec: {volumeClaimTemplates: [{metadata: {name: data}}], template: {spec: {volumes: [{name: a, persistentVolumeClaim: {claimName: data}}, {name: b, persistentVolumeClaim: {claimName: other}}]}}}}`,
		},
		{
			name: "and nothing else of their names", kind: "apps/v1 StatefulSet", want: "ConfigMap data, Secret data",
			obj: `{spec: {volumeClaimTemplates: [{metadata: {name: data}}], template: {spec: {volumes: [{name: a, secret: {secretName: data}}, {name: b, configMap: {name: data}}]}}}}`,
		},
		{name: "a StatefulSet that cannot be read is an error", kind: "apps/v1 StatefulSet", obj: `{metadata: {name: web}, spec: {template: {spec: {containers: 3}}}}`, err: "StatefulSet web: reading .spec.template.spec"},
		{
			name: "a Gateway needs the certificates of its namespace", kind: "gateway.networking.k8s.io/v1 Gateway", want: "Secret t u",
			obj: `{metadata: {namespace: ns}, spec: {listeners: [{name: plain}, {tls: {certificateRefs: [{kind: Secret, group: "", name: u}, {name: t, namespace: ns}, {name: far, namespace: b}, {group: example.com, kind: Secret, name: other}, {kind: ConfigMap, name: c}]}}, {tls: {certificateRefs: [{name: t}]}}]}}`,
		},
		{name: "so does an older one", kind: "gateway.networking.k8s.io/v1beta1 Gateway", obj: `{spec: {listeners: [{tls: {certificateRefs: [{name: t}]}}]}}`, want: "Secret t"},
		{name: "an Ingress needs its certificates", kind: "networking.k8s.io/v1 Ingress", obj: `{spec: {tls: [{secretName: u}, {secretName: t}, {secretName: t}], defaultBackend: {service: {name: s}}}}`, want: "Secret t u"},
		{name: "an Ingress without a secretName for TLS needs none there", kind: "networking.k8s.io/v1 Ingress", obj: `{spec: {tls: [{secretName: t}, {hosts: [h]}]}}`, want: "Secret t"},
		{name: "a Service needs nothing", kind: "v1 Service", obj: `{spec: {}}`},
		{name: "an autoscaler needs nothing", kind: "autoscaling/v2 HorizontalPodAutoscaler", obj: `{spec: {scaleTargetRef: {name: x}}}`},
		{name: "a custom resource needs nothing", kind: "example.com/v1 Deployment", obj: pods(core)},
		{name: "an empty object needs nothing", kind: "apps/v1 Deployment", obj: `{}`},
		{name: "a spec that cannot be read is an error", kind: "apps/v1 Deployment", obj: `{metadata: {name: web}, spec: {template: {spec: {containers: 3}}}}`, err: "Deployment web: reading .spec.template.spec"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := of(t, tt.kind, tt.obj)
			if obj["metadata"] == nil {
				obj["metadata"] = map[string]any{"name": "x", "namespace": "ns"}
			}
			deps, err := interpret.New().Dependencies(obj)
			wantError(t, err, tt.err)
			if diff := cmp.Diff(tt.want, inShort(t, deps)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// inShort lists core objects of the namespace ns as "Kind name name, Kind name".
func inShort(t *testing.T, deps []interpret.Dependency) string {
	t.Helper()
	var b strings.Builder
	for i, d := range deps {
		if d.APIVersion != "v1" || d.Namespace != "ns" || d.LabelSelector != nil {
			t.Errorf("%+v is not of v1 in ns", d)
		}
		if i == 0 || deps[i-1].Kind != d.Kind {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(d.Kind)
		}
		b.WriteString(" " + d.Name)
	}
	return b.String()
}

func TestServiceImportNeedsItsServiceAndEndpoints(t *testing.T) {
	got, err := interpret.New().Dependencies(of(t, "multicluster.x-k8s.io/v1alpha1 ServiceImport", `{metadata: {name: a, namespace: ns}}`))
	wantError(t, err, "")
	want := []interpret.Dependency{
		{
			APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice", Namespace: "ns",
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/service-name": "derived-a"}},
		},
		{APIVersion: "v1", Kind: "Service", Namespace: "ns", Name: "derived-a"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	named, err := interpret.New().Dependencies(of(t, "multicluster.x-k8s.io/v1beta1 ServiceImport", `{metadata: {name: a, namespace: ns, annotations: {waybill.dev/derived-service: b}}}`))
	wantError(t, err, "")
	if len(named) != 2 || named[1].Name != "b" || named[0].LabelSelector.MatchLabels["kubernetes.io/service-name"] != "b" {
		t.Errorf("one with a name of its own needs %v", named)
	}
}

// TestWhatADependencyRefersTo holds which objects are meant by a name, and by a selector where there is none.
func TestWhatADependencyRefersTo(t *testing.T) {
	named := interpret.Dependency{APIVersion: "v1", Kind: "Secret", Namespace: "ns", Name: "a"}
	selected := interpret.Dependency{APIVersion: "v1", Kind: "Secret", Namespace: "ns", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}}
	unreadable := interpret.Dependency{APIVersion: "v1", Kind: "Secret", Namespace: "ns", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}}
	for _, tt := range []struct {
		name                      string
		apiVersion, kind, at, app string
		named, selected           bool
	}{
		{"the one of the name", "v1", "Secret", "ns/a", "x", true, true},
		{"with other labels", "v1", "Secret", "ns/a", "y", true, false},
		{"another one", "v1", "Secret", "ns/b", "x", false, true},
		{"another one with other labels", "v1", "Secret", "ns/b", "y", false, false},
		{"in another namespace", "v1", "Secret", "other/a", "x", false, false},
		{"another kind", "v1", "ConfigMap", "ns/a", "x", false, false},
		{"another version", "v2", "Secret", "ns/a", "x", false, false},
	} {
		namespace, name, _ := strings.Cut(tt.at, "/")
		o := object.Decode("a.yaml", []byte("{apiVersion: "+tt.apiVersion+", kind: "+tt.kind+", metadata: {name: "+name+", namespace: "+namespace+"}}")).Objects[0]
		ls := labels.Set{"app": tt.app}
		if named.Finder()(o, ls) != tt.named || selected.Finder()(o, ls) != tt.selected || unreadable.Finder()(o, ls) {
			t.Errorf("%s is meant by the name: %v, by the selector: %v", tt.name, named.Finder()(o, ls), selected.Finder()(o, ls))
		}
	}
	if r, ok := named.Names(); !ok || r.String() != "Secret/ns/a" {
		t.Errorf("it names %s, %v", r, ok)
	}
	if _, ok := selected.Names(); ok {
		t.Error("one that selects names something")
	}
}
