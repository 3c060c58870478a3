package interpret_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/interpret"
)

func TestReflect(t *testing.T) {
	const meta = `metadata: {name: x, generation: 3, annotations: {resourcetemplate.karmada.io/generation: "5"}}`
	for _, tt := range []struct{ name, kind, obj, want, err string }{
		{
			name: "a Deployment", kind: "apps/v1 Deployment",
			obj:  `{` + meta + `, status: {observedGeneration: 3, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, unavailableReplicas: 0, collisionCount: 1, conditions: []}}`,
			want: `{"availableReplicas":2,"generation":3,"observedGeneration":3,"readyReplicas":2,"replicas":2,"resourceTemplateGeneration":5,"updatedReplicas":2}`,
		},
		{
			name: "a StatefulSet, with its observed generation", kind: "apps/v1 StatefulSet",
			obj:  `{` + meta + `, status: {observedGeneration: 3, replicas: 2, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 2, currentRevision: r}}`,
			want: `{"availableReplicas":2,"currentReplicas":2,"generation":3,"observedGeneration":3,"readyReplicas":2,"replicas":2,"resourceTemplateGeneration":5,"updatedReplicas":2}`,
		},
		{
			name: "a ReplicaSet", kind: "apps/v1 ReplicaSet", obj: `{` + meta + `, status: {observedGeneration: 2, replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 1, availableReplicas: 1}}`,
			want: `{"availableReplicas":1,"fullyLabeledReplicas":2,"generation":3,"observedGeneration":2,"readyReplicas":1,"replicas":2,"resourceTemplateGeneration":5}`,
		},
		{
			name: "a DaemonSet", kind: "apps/v1 DaemonSet",
			obj:  `{` + meta + `, status: {observedGeneration: 3, currentNumberScheduled: 7, numberMisscheduled: 6, desiredNumberScheduled: 5, numberReady: 4, updatedNumberScheduled: 3, numberAvailable: 2, numberUnavailable: 1}}`,
			want: `{"currentNumberScheduled":7,"desiredNumberScheduled":5,"generation":3,"numberAvailable":2,"numberMisscheduled":6,"numberReady":4,"numberUnavailable":1,"observedGeneration":3,"resourceTemplateGeneration":5,"updatedNumberScheduled":3}`,
		},
		{
			name: "a Deployment that names no generation of its template", kind: "apps/v1 Deployment",
			obj: `{metadata: {name: x, generation: 3}, status: {observedGeneration: 3, replicas: 2}}`, want: `{"generation":3,"observedGeneration":3,"replicas":2}`,
		},
		{
			name: "a Deployment whose template's generation is no number", kind: "apps/v1 Deployment",
			obj: `{metadata: {name: x, annotations: {resourcetemplate.karmada.io/generation: new}}, status: {}}`,
			err: "Deployment x: reading the annotation resourcetemplate.karmada.io/generation",
		},
		{name: "a Deployment whose counter is no number", kind: "apps/v1 Deployment", obj: `{` + meta + `, status: {replicas: "2"}}`, err: `.status.replicas: "2"`},
		{name: "a Deployment without a status", kind: "apps/v1 Deployment", obj: `{metadata: {name: x}}`, want: `null`},
		{name: "a load balancer", kind: "v1 Service", obj: `{spec: {type: LoadBalancer}, status: {conditions: [], loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}`, want: `{"loadBalancer":{"ingress":[{"ip":"1.1.1.1"}]}}`},
		{name: "any other Service", kind: "v1 Service", obj: `{spec: {type: NodePort}, status: {loadBalancer: {}}}`, want: `null`},
		{name: "an Ingress", kind: "networking.k8s.io/v1 Ingress", obj: `{status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}`, want: `{"loadBalancer":{"ingress":[{"ip":"1.1.1.1"}]}}`},
		{
			name: "a Job", kind: "batch/v1 Job", obj: `{status: {active: 1, succeeded: 2, failed: 3, ready: 1, startTime: s, completionTime: c, conditions: [{type: Failed}]}}`,
			want: `{"active":1,"completionTime":"c","conditions":[{"type":"Failed"}],"failed":3,"startTime":"s","succeeded":2}`,
		},
		{
			name: "a budget", kind: "policy/v1 PodDisruptionBudget", obj: `{status: {disruptionsAllowed: 0, expectedPods: 3, desiredHealthy: 2, currentHealthy: 2, disruptedPods: {p: t}, observedGeneration: 1}}`,
			want: `{"currentHealthy":2,"desiredHealthy":2,"disruptedPods":{"p":"t"},"disruptionsAllowed":0,"expectedPods":3}`,
		},
		{name: "an autoscaler", kind: "autoscaling/v2 HorizontalPodAutoscaler", obj: `{status: {currentReplicas: 1, desiredReplicas: 2, currentMetrics: []}}`, want: `{"currentReplicas":1,"desiredReplicas":2}`},
		{name: "any other kind", kind: "example.com/v1 Thing", obj: `{status: {a: 1}}`, want: `{"a":1}`},
		{name: "any other kind without a status", kind: "example.com/v1 Thing", obj: `{}`, want: `null`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := interpret.New().Reflect(of(t, tt.kind, tt.obj))
			wantError(t, err, tt.err)
			if err != nil {
				return
			}
			if diff := cmp.Diff(tt.want, asJSON(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A script that says nothing of a status is none's, and no error; what an answer took that is remembered counts as if it were given.
func TestAScriptThatReflectsNothing(t *testing.T) {
	in := interpret.New(teach(t, "c", things, "statusReflection", "function ReflectStatus(obj) return nil end"))
	if status, err := in.Reflect(of(t, things, "metadata: {name: t}\nstatus: {ready: 1}")); status != nil || err != nil {
		t.Errorf("its status is %v: %v", status, err)
	}
	spent := in.Spent()
	if !in.Respend(7) || in.Spent() != spent+7 {
		t.Errorf("after %d steps and 7 more %d are spent", spent, in.Spent())
	}
}
