package interpret_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret"
)

const twoContainers = `
containers:
- name: c
  resources: {limits: {cpu: 500m, memory: 1Gi}, requests: {cpu: 100m}}
- name: d
  resources: {requests: {cpu: 50m, ephemeral-storage: 1Gi, foo: 2, nvidia.com/gpu: 1}}
initContainers:
- name: i
  resources: {requests: {cpu: "1", memory: 10Mi}}
`

// The first rows are what Karmada's own functions answer.
func TestReplicas(t *testing.T) {
	for _, tt := range []struct {
		name, kind, obj string
		n               int32
		needs           string
		none            bool
		err             string
	}{
		{name: "absent replicas are 0", kind: "apps/v1 Deployment", obj: `{spec: {template: {spec: {containers: [{name: c}]}}}}`, needs: `null`},
		{
			name: "limits stand in, init containers run alone, unknown resources are dropped", kind: "v1 Pod", obj: "spec:" + indent(twoContainers), n: 1,
			needs: `{"resourceRequest":{"cpu":"1","ephemeral-storage":"1Gi","memory":"1Gi","nvidia.com/gpu":"1"}}`,
		},
		{
			name: "a node selector alone is a requirement", kind: "apps/v1 Deployment",
			obj: `{spec: {replicas: 3, template: {spec: {containers: [{name: c}], nodeSelector: {a: b}}}}}`, n: 3, needs: `{"nodeClaim":{"nodeSelector":{"a":"b"}}}`,
		},
		{
			name: "an empty node selector is none", kind: "apps/v1 Deployment",
			obj: `{spec: {replicas: 3, template: {spec: {containers: [{name: c}], nodeSelector: {}}}}}`, n: 3, needs: `null`,
		},
		{name: "an absent parallelism is 0", kind: "batch/v1 Job", obj: `{spec: {template: {spec: {containers: [{name: c}]}}}}`, needs: `null`},
		{name: "completions cap the parallelism", kind: "batch/v1 Job", obj: `{spec: {completions: 3, parallelism: 5}}`, n: 3, needs: `null`},
		{name: "more completions than parallelism do not count", kind: "batch/v1 Job", obj: `{spec: {completions: 10, parallelism: 2}}`, n: 2, needs: `null`},
		{name: "a Pod is one replica", kind: "v1 Pod", obj: `{spec: {containers: [{name: c}]}}`, n: 1, needs: `null`},
		{name: "a DaemonSet has none", kind: "apps/v1 DaemonSet", obj: `{spec: {template: {}}}`, needs: `null`, none: true},
		{name: "another group has none", kind: "extensions/v1beta1 Deployment", obj: `{spec: {replicas: 3}}`, needs: `null`, none: true},

		{name: "a CronJob has none", kind: "batch/v1 CronJob", obj: `{spec: {}}`, needs: `null`, none: true},
		{name: "a StatefulSet has replicas", kind: "apps/v1 StatefulSet", obj: `{spec: {replicas: 2}}`, n: 2, needs: `null`},
		{name: "a ReplicaSet has replicas", kind: "apps/v1 ReplicaSet", obj: `{spec: {replicas: 2}}`, n: 2, needs: `null`},
		{name: "null is absent", kind: "apps/v1 Deployment", obj: `{spec: {replicas: null}}`, needs: `null`},
		{name: "there may be as many as an int32 counts", kind: "apps/v1 Deployment", obj: `{spec: {replicas: 2147483647}}`, n: 2147483647, needs: `null`},
		{name: "without completions the parallelism counts", kind: "batch/v1 Job", obj: `{spec: {parallelism: 2}}`, n: 2, needs: `null`},
		{name: "completions of 0 run nothing", kind: "batch/v1 Job", obj: `{spec: {parallelism: 2, completions: 0}}`, needs: `null`},
		{
			name: "overhead is added to the larger of both", kind: "v1 Pod", n: 1,
			obj:   `{spec: {overhead: {cpu: 10m}, containers: [{resources: {requests: {cpu: 100m}}}, {resources: {requests: {cpu: 100m}}}], initContainers: [{resources: {requests: {cpu: 150m}}}]}}`,
			needs: `{"resourceRequest":{"cpu":"210m"}}`,
		},
		{
			name: "memory counts whole bytes, rounded up", kind: "v1 Pod", n: 1,
			obj: `{spec: {containers: [{resources: {requests: {memory: 1500m, cpu: 1u}}}]}}`, needs: `{"resourceRequest":{"cpu":"1m","memory":"2"}}`,
		},
		{
			name: "huge pages and volumes count, pods and quotas do not", kind: "v1 Pod", n: 1,
			obj:   `{spec: {containers: [{resources: {requests: {hugepages-2Mi: 4Mi, attachable-volumes-csi: 1, pods: 3, requests.example.com/x: 1, cpu: 0}}}]}}`,
			needs: `{"resourceRequest":{"attachable-volumes-csi":"1","hugepages-2Mi":"4Mi"}}`,
		},
		{
			name: "tolerations and required affinity are requirements, preferred affinity is none", kind: "v1 Pod", n: 1,
			obj: `{spec: {tolerations: [{key: k, operator: Exists}], affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [],
  requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [node1]}]}]}}}}}`,
			needs: `{"nodeClaim":{"hardNodeAffinity":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node1"]}]}]},"tolerations":[{"key":"k","operator":"Exists"}]}}`,
		},
		{name: "a string is no number", kind: "apps/v1 Deployment", obj: `{metadata: {name: web}, spec: {replicas: "3"}}`, err: `Deployment web: reading .spec.replicas: "3" is no integer`},
		{name: "a fraction is no number", kind: "batch/v1 Job", obj: `{spec: {parallelism: 1.5}}`, err: ".spec.parallelism: 1.5"},
		{name: "fewer than none is no number", kind: "apps/v1 Deployment", obj: `{spec: {replicas: -1}}`, err: "-1 is not between"},
		{name: "more than an int32 is no number", kind: "batch/v1 Job", obj: `{spec: {parallelism: 1, completions: 4294967297}}`, err: ".spec.completions: 4294967297"},
		{name: "a request that is no quantity is an error", kind: "v1 Pod", obj: `{spec: {containers: [{resources: {requests: {cpu: much}}}]}}`, err: "the pods of .spec need"},
		{name: "an error names the field", kind: "v1 Pod", obj: `{spec: {tolerations: [{key: 3}]}}`, err: "tolerations.key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, needs, ok, err := interpret.New().Replicas(of(t, tt.kind, tt.obj))
			wantError(t, err, tt.err)
			if tt.err != "" {
				if !ok {
					t.Error("a kind with replicas seems to have none")
				}
				return
			}
			if n != tt.n || ok == tt.none {
				t.Errorf("got %d replicas, %t, want %d, %t", n, ok, tt.n, !tt.none)
			}
			if diff := cmp.Diff(tt.needs, asJSON(t, needs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func indent(text string) string {
	var out []byte
	for _, b := range []byte(text) {
		if out = append(out, b); b == '\n' {
			out = append(out, ' ')
		}
	}
	return string(out)
}

// The first rows are what Karmada's own functions answer.
func TestRevise(t *testing.T) {
	for _, tt := range []struct{ name, kind, spec, want, err string }{
		{name: "an absent field stays absent", kind: "apps/v1 Deployment", spec: `{paused: false}`, want: `{"paused":false}`},
		{name: "replicas are set", kind: "apps/v1 Deployment", spec: `{replicas: 3}`, want: `{"replicas":7}`},
		{name: "a string is an error", kind: "apps/v1 Deployment", spec: `{replicas: "3"}`, err: `.spec.replicas: "3" is no integer`},
		{name: "a Job keeps its completions", kind: "batch/v1 Job", spec: `{completions: 10, parallelism: 2}`, want: `{"completions":10,"parallelism":7}`},
		{name: "an absent parallelism stays absent", kind: "batch/v1 Job", spec: `{completions: 10}`, want: `{"completions":10}`},
		{name: "a Pod cannot be revised", kind: "v1 Pod", spec: `{}`, err: "revising Pod x: the kind has no replicas"},

		{name: "null stays null", kind: "apps/v1 StatefulSet", spec: `{replicas: null}`, want: `{"replicas":null}`},
		{name: "the rest stays", kind: "apps/v1 ReplicaSet", spec: `{replicas: 1, selector: {}}`, want: `{"replicas":7,"selector":{}}`},
		{name: "a DaemonSet cannot be revised", kind: "apps/v1 DaemonSet", spec: `{replicas: 1}`, err: "no replicas"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, obj := interpret.New(), of(t, tt.kind, "{metadata: {name: x}, spec: "+tt.spec+"}")
			check := frozen(t, obj)
			got, err := in.Revise(obj, 7)
			check()
			wantError(t, err, tt.err)
			if err != nil {
				return
			}
			if !in.Revisable(obj) {
				t.Error("an object that can be revised is not Revisable")
			}
			if diff := cmp.Diff(tt.want, asJSON(t, got["spec"])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPodAndDaemonSetAreNotRevisable(t *testing.T) {
	for _, kind := range []string{"v1 Pod", "apps/v1 DaemonSet", "batch/v1 CronJob", "example.com/v1 Deployment"} {
		if interpret.New().Revisable(of(t, kind, `{spec: {replicas: 1}}`)) {
			t.Errorf("%s is Revisable", kind)
		}
	}
}

func TestCompletions(t *testing.T) {
	for _, tt := range []struct {
		name, kind, spec string
		n                int64
		ok               bool
		revised          string
	}{
		{name: "a Job with completions", kind: "batch/v1 Job", spec: `{completions: 10}`, n: 10, ok: true, revised: `{"completions":4}`},
		{name: "a Job with none", kind: "batch/v1 Job", spec: `{parallelism: 2}`, revised: `{"parallelism":2}`},
		{name: "a Job with null", kind: "batch/v1 Job", spec: `{completions: null}`, revised: `{"completions":null}`},
		{name: "a Job of another group", kind: "batch.volcano.sh/v1alpha1 Job", spec: `{completions: 10}`, revised: `{"completions":10}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj := of(t, tt.kind, "{spec: "+tt.spec+"}")
			check := frozen(t, obj)
			n, ok := interpret.Completions(obj)
			if n != tt.n || ok != tt.ok {
				t.Errorf("got %d, %t, want %d, %t", n, ok, tt.n, tt.ok)
			}
			if diff := cmp.Diff(tt.revised, asJSON(t, interpret.ReviseCompletions(obj, 4)["spec"])); diff != "" {
				t.Error(diff)
			}
			check()
		})
	}
}
