package interpret_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret"
)

func TestUndefaultIsExact(t *testing.T) {
	for _, obj := range shop(t) {
		defaulted, added := interpret.Default(obj)
		if diff := cmp.Diff(obj, interpret.Undefault(defaulted, added)); diff != "" {
			t.Errorf("%v %v:\n%s", obj["kind"], obj["metadata"], diff)
		}
	}
}

// dig returns the map that keys and indices lead to.
func dig(t *testing.T, obj map[string]any, path ...any) map[string]any {
	t.Helper()
	var v any = obj
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(map[string]any)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v.(map[string]any)
}

func TestUndefaultAfterAChange(t *testing.T) {
	for _, tt := range []struct {
		name, kind, spec string
		change           func(spec map[string]any)
		want             string
	}{
		{
			name: "replicas that were set stay", kind: "apps/v1 Deployment", spec: `{}`,
			change: func(spec map[string]any) { spec["replicas"] = int64(3) }, want: `{replicas: 3}`,
		},
		{
			name: "a default that was made null stays null", kind: "apps/v1 Deployment", spec: `{}`,
			change: func(spec map[string]any) { spec["replicas"] = nil }, want: `{replicas: null}`,
		},
		{
			name: "a default that was removed stays away", kind: "apps/v1 Deployment", spec: `{}`,
			change: func(spec map[string]any) { delete(spec, "replicas") }, want: `{}`,
		},
		{
			name: "half of an added map stays", kind: "apps/v1 Deployment", spec: `{}`,
			change: func(spec map[string]any) {
				spec["strategy"].(map[string]any)["rollingUpdate"].(map[string]any)["maxSurge"] = "50%"
			},
			want: `{strategy: {rollingUpdate: {maxSurge: 50%}}}`,
		},
		{
			name: "an added map may be replaced", kind: "apps/v1 Deployment", spec: `{strategy: null}`,
			change: func(spec map[string]any) { spec["strategy"] = map[string]any{"type": "Recreate"} }, want: `{strategy: {type: Recreate}}`,
		},
		{
			name: "completions stay with a parallelism that was set", kind: "batch/v1 Job", spec: `{}`,
			change: func(spec map[string]any) { spec["parallelism"] = int64(3) }, want: `{parallelism: 3, completions: 1}`,
		},
		{
			name: "a parallelism goes with completions that were set", kind: "batch/v1 Job", spec: `{}`,
			change: func(spec map[string]any) { spec["completions"] = int64(3) }, want: `{completions: 3}`,
		},
		{
			name: "everything stays where a default would come back that was removed", kind: "batch/v1 Job", spec: `{}`,
			change: func(spec map[string]any) { delete(spec, "completions") },
			want:   `{parallelism: 1, backoffLimit: 6, completionMode: NonIndexed, suspend: false, podReplacementPolicy: TerminatingOrFailed}`,
		},
		{
			name: "a target port stays with a port that was set", kind: "v1 Service", spec: `{ports: [{port: 80}]}`,
			change: func(spec map[string]any) { spec["ports"].([]any)[0].(map[string]any)["port"] = int64(81) },
			want:   `{ports: [{port: 81, targetPort: 80}]}`,
		},
		{
			name: "a type that was set makes other defaults", kind: "v1 Service", spec: `{ports: [{port: 80}]}`,
			change: func(spec map[string]any) { spec["type"] = "LoadBalancer" }, want: `{type: LoadBalancer, ports: [{port: 80}]}`,
		},
		{
			name: "policy types stay with rules that were added", kind: "networking.k8s.io/v1 NetworkPolicy", spec: `{}`,
			change: func(spec map[string]any) { spec["egress"] = []any{map[string]any{}} }, want: `{policyTypes: [Ingress], egress: [{}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, added := interpret.Default(of(t, tt.kind, "{spec: "+tt.spec+"}"))
			tt.change(dig(t, obj, "spec"))
			check := frozen(t, obj)
			got := interpret.Undefault(obj, added)
			check()
			if diff := cmp.Diff(of(t, tt.kind, "{spec: "+tt.want+"}"), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUndefaultOfAChangedPod(t *testing.T) {
	const two = `{serviceAccountName: a, containers: [{name: a, image: "a:1", ports: [{containerPort: 1}]}, {name: b, image: b, env: [{name: X, value: x}]}]}`
	for _, tt := range []struct {
		name, want string
		change     func(spec map[string]any, containers []any)
	}{
		{
			// The policy was chosen when the image was still a:1.
			name:   "an image that came to be latest keeps the pull policy of before",
			want:   `{serviceAccountName: a, containers: [{name: a, image: "a:latest", imagePullPolicy: IfNotPresent, ports: [{containerPort: 1}]}, {name: b, image: b, env: [{name: X, value: x}]}]}`,
			change: func(_ map[string]any, containers []any) { containers[0].(map[string]any)["image"] = "a:latest" },
		},
		{
			name:   "an image that ceased to be latest keeps the pull policy of before",
			want:   `{serviceAccountName: a, containers: [{name: a, image: "a:1", ports: [{containerPort: 1}]}, {name: b, image: "b:2", imagePullPolicy: Always, env: [{name: X, value: x}]}]}`,
			change: func(_ map[string]any, containers []any) { containers[1].(map[string]any)["image"] = "b:2" },
		},
		{
			name: "an image from another registry has the same policy",
			want: `{serviceAccountName: a, containers: [{name: a, image: "eu.example.com/a:1", ports: [{containerPort: 1}]}, {name: b, image: b, env: [{name: X, value: x}]}]}`,
			change: func(_ map[string]any, containers []any) {
				containers[0].(map[string]any)["image"] = "eu.example.com/a:1"
			},
		},
		{
			name: "a container in front is kept as it was written",
			want: `{serviceAccountName: a, containers: [{name: c, image: "c:1", imagePullPolicy: IfNotPresent, resources: {}}, {name: a, image: "a:1", ports: [{containerPort: 1}]}, {name: b, image: b, env: [{name: X, value: x}]}]}`,
			change: func(spec map[string]any, containers []any) {
				c := map[string]any{"name": "c", "image": "c:1", "imagePullPolicy": "IfNotPresent", "resources": map[string]any{}}
				spec["containers"] = append([]any{c}, containers...)
			},
		},
		{
			name:   "containers change places",
			want:   `{serviceAccountName: a, containers: [{name: b, image: b, env: [{name: X, value: x}]}, {name: a, image: "a:1", ports: [{containerPort: 1}]}]}`,
			change: func(_ map[string]any, containers []any) { containers[0], containers[1] = containers[1], containers[0] },
		},
		{
			name:   "a container goes",
			want:   `{serviceAccountName: a, containers: [{name: b, image: b, env: [{name: X, value: x}]}]}`,
			change: func(spec map[string]any, containers []any) { spec["containers"] = containers[1:] },
		},
		{
			name: "a container and a port are renamed",
			want: `{serviceAccountName: a, containers: [{name: z, image: "a:1", ports: [{containerPort: 9}]}, {name: b, image: b, env: [{name: X, value: x}]}]}`,
			change: func(_ map[string]any, containers []any) {
				a := containers[0].(map[string]any)
				a["name"] = "z"
				a["ports"].([]any)[0].(map[string]any)["containerPort"] = int64(9)
			},
		},
		{
			name:   "another account takes its older name along",
			want:   `{serviceAccountName: z, containers: [{name: a, image: "a:1", ports: [{containerPort: 1}]}, {name: b, image: b, env: [{name: X, value: x}]}]}`,
			change: func(spec map[string]any, _ []any) { spec["serviceAccountName"] = "z" },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			obj, added := interpret.Default(of(t, "v1 Pod", "{spec: "+two+"}"))
			spec := dig(t, obj, "spec")
			tt.change(spec, spec["containers"].([]any))
			check := frozen(t, obj)
			got := interpret.Undefault(obj, added)
			check()
			if diff := cmp.Diff(of(t, "v1 Pod", "{spec: "+tt.want+"}"), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What one item of a list lacked, and was given, another may have been written with.
func TestUndefaultKeepsWhatAnotherItemWasWrittenWith(t *testing.T) {
	const written = `{name: b, image: "b:1", imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log, resources: {}}`
	for _, tt := range []struct {
		name, containers string // without a, which is written with nothing, in its place
		at               int    // where a stands
	}{
		{name: "the first goes", containers: written, at: 0},
		{name: "one in the middle goes", containers: `{name: z, image: "z:1"}, ` + written, at: 1},
		{name: "the first of three goes", containers: written + `, {name: z, image: "z:1"}`, at: 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := of(t, "v1 Pod", "{spec: {containers: ["+tt.containers+"]}}")
			with := of(t, "v1 Pod", "{spec: {containers: ["+tt.containers+"]}}")
			spec := dig(t, with, "spec")
			a := map[string]any{"name": "a", "image": "a:1"}
			spec["containers"] = slices.Insert(spec["containers"].([]any), tt.at, any(a))
			obj, added := interpret.Default(with)
			spec = dig(t, obj, "spec")
			spec["containers"] = slices.Delete(spec["containers"].([]any), tt.at, tt.at+1)
			if diff := cmp.Diff(want, interpret.Undefault(obj, added)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
