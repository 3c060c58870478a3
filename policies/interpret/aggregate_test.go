package interpret_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// items are reports of the clusters m1, m2 and so on; nil is none.
func items(tb testing.TB, statuses ...any) []karmada.AggregatedStatusItem {
	tb.Helper()
	out := make([]karmada.AggregatedStatusItem, len(statuses))
	for i, status := range statuses {
		out[i].ClusterName = fmt.Sprintf("m%d", i+1)
		if status != nil {
			out[i].Status = &runtime.RawExtension{Raw: []byte(asJSON(tb, status))}
		}
	}
	return out
}

func TestAggregate(t *testing.T) {
	const template = `{metadata: {name: x, generation: 5}, status: {observedGeneration: 4, replicas: 9, conditions: [{type: Old}]}}`
	const current = `{generation: 3, observedGeneration: 3, resourceTemplateGeneration: 5, replicas: 2, readyReplicas: 1, updatedReplicas: 1}`
	const none = ``
	for _, tt := range []struct {
		name, kind, obj string
		reports         []string
		want, err       string
	}{
		{name: "counters are summed and all observed", kind: "apps/v1 Deployment", obj: template, reports: []string{current, current}, want: `{conditions: [{type: Old}], observedGeneration: 5, replicas: 4, readyReplicas: 2, updatedReplicas: 2}`},
		{name: "a missing report is an observation that is missing", kind: "apps/v1 Deployment", obj: template, reports: []string{current, none}, want: `{conditions: [{type: Old}], observedGeneration: 4, replicas: 2, readyReplicas: 1, updatedReplicas: 1}`},
		{name: "so it is of a template that has no generation", kind: "apps/v1 Deployment", obj: `{status: {observedGeneration: 4}}`, reports: []string{`{replicas: 2}`, none}, want: `{observedGeneration: 4, replicas: 2}`},
		{name: "a cluster behind its own object has not observed", kind: "apps/v1 ReplicaSet", obj: template, reports: []string{current, `{generation: 3, observedGeneration: 2, resourceTemplateGeneration: 5, availableReplicas: 1}`}, want: `{conditions: [{type: Old}], observedGeneration: 4, replicas: 2, readyReplicas: 1, availableReplicas: 1}`},
		{name: "a cluster with an old template has not observed", kind: "apps/v1 DaemonSet", obj: `{metadata: {generation: 5}}`, reports: []string{`{generation: 3, observedGeneration: 3, resourceTemplateGeneration: 4, numberReady: 2}`, `{numberReady: 1}`}, want: `{numberReady: 3}`},
		{name: "a StatefulSet advances, too", kind: "apps/v1 StatefulSet", obj: template, reports: []string{`{generation: 3, observedGeneration: 3, resourceTemplateGeneration: 5, currentReplicas: 2}`}, want: `{conditions: [{type: Old}], observedGeneration: 5, currentReplicas: 2}`},
		{name: "no cluster has nothing to observe", kind: "apps/v1 Deployment", obj: template, want: `{conditions: [{type: Old}], observedGeneration: 5}`},
		{name: "a counter that is no number is an error", kind: "apps/v1 Deployment", obj: template, reports: []string{`{replicas: few}`}, err: `Deployment x: cluster m1: reading .replicas: "few"`},
		{name: "a generation that is no number is an error", kind: "apps/v1 Deployment", obj: template, reports: []string{`{generation: new}`}, err: `cluster m1: reading .generation`},
		{name: "a report that is no map is an error", kind: "apps/v1 Deployment", obj: template, reports: []string{`3`}, err: `decoding the status in cluster m1`},

		{name: "addresses are united and sorted", kind: "v1 Service", obj: `{spec: {type: LoadBalancer}}`, reports: []string{`{loadBalancer: {ingress: [{ip: 2.2.2.2}, {ip: 1.1.1.1}]}}`, none, `{loadBalancer: {ingress: [{hostname: h}, {ip: 1.1.1.1}]}}`}, want: `{loadBalancer: {ingress: [{hostname: h}, {ip: 1.1.1.1}, {ip: 2.2.2.2}]}}`},
		{name: "addresses with other ports are others", kind: "networking.k8s.io/v1 Ingress", obj: `{}`, reports: []string{`{loadBalancer: {ingress: [{ip: 1.1.1.1, ports: [{port: 2}]}, {ip: 1.1.1.1, ports: [{port: 1}]}]}}`}, want: `{loadBalancer: {ingress: [{ip: 1.1.1.1, ports: [{port: 1}]}, {ip: 1.1.1.1, ports: [{port: 2}]}]}}`},
		{name: "addresses may go", kind: "networking.k8s.io/v1 Ingress", obj: `{status: {loadBalancer: {ingress: [{ip: 1.1.1.1}]}}}`, reports: []string{`{loadBalancer: {}}`}, want: `{loadBalancer: {}}`},
		{name: "a Service within the cluster has no addresses", kind: "v1 Service", obj: `{status: {a: 1}}`, reports: []string{`{loadBalancer: {ingress: [{ip: 2.2.2.2}]}}`}, want: `{a: 1}`},

		{name: "phases running and succeeded are running", kind: "v1 Pod", obj: `{}`, reports: []string{`{phase: Running}`, `{phase: Succeeded}`}, want: `{phase: Running}`},
		{name: "a missing phase is pending", kind: "v1 Pod", obj: `{}`, reports: []string{`{phase: Running}`, none}, want: `{phase: Pending}`},
		{name: "one failed Pod fails", kind: "v1 Pod", obj: `{}`, reports: []string{`{phase: Failed}`, `{phase: Running}`, none}, want: `{phase: Failed}`},
		{name: "all Pods succeeded", kind: "v1 Pod", obj: `{}`, reports: []string{`{phase: Succeeded}`, `{phase: Succeeded}`}, want: `{phase: Succeeded}`},
		{name: "a pending Pod is pending", kind: "v1 Pod", obj: `{}`, reports: []string{`{phase: Pending}`, `{phase: Running}`}, want: `{phase: Pending}`},
		{
			name: "containers are joined and cut down", kind: "v1 Pod", obj: `{status: {initContainerStatuses: [{ready: true}]}}`,
			reports: []string{`{phase: Running, containerStatuses: [{name: a, ready: true, state: {running: {}}, image: i}]}`, `{phase: Running, containerStatuses: [{name: a, ready: false}]}`},
			want:    `{phase: Running, containerStatuses: [{ready: true, state: {running: {}}}, {ready: false}]}`,
		},
		{name: "a volume is as bad as its worst", kind: "v1 PersistentVolume", obj: `{}`, reports: []string{`{phase: Released}`, `{phase: Bound}`, `{phase: Available}`}, want: `{phase: Available}`},
		{name: "a volume without a report is pending", kind: "v1 PersistentVolume", obj: `{}`, reports: []string{none, `{phase: Available}`}, want: `{phase: Pending}`},
		{name: "a volume that failed", kind: "v1 PersistentVolume", obj: `{}`, reports: []string{none, `{phase: Failed}`}, want: `{phase: Failed}`},
		{name: "claims that are bound", kind: "v1 PersistentVolumeClaim", obj: `{}`, reports: []string{`{phase: Bound}`, none}, want: `{phase: Bound}`},
		{name: "a claim takes the last phase that is not bound", kind: "v1 PersistentVolumeClaim", obj: `{}`, reports: []string{`{phase: Pending}`, `{phase: Other}`, `{phase: Bound}`}, want: `{phase: Other}`},
		{name: "a lost claim is lost", kind: "v1 PersistentVolumeClaim", obj: `{}`, reports: []string{`{phase: Lost}`, `{phase: Pending}`}, want: `{phase: Lost}`},
		{
			name: "a budget is summed", kind: "policy/v1 PodDisruptionBudget", obj: `{status: {disruptedPods: {old: t}}}`,
			reports: []string{`{disruptionsAllowed: 1, expectedPods: 2, desiredHealthy: 3, currentHealthy: 4, disruptedPods: {p: t1}}`, `{disruptionsAllowed: 1, expectedPods: 2, desiredHealthy: 3, currentHealthy: 4, disruptedPods: {p: t2}}`},
			want:    `{disruptionsAllowed: 2, expectedPods: 4, desiredHealthy: 6, currentHealthy: 8, disruptedPods: {m1/p: t1, m2/p: t2}}`,
		},
		{name: "disrupted pods may go", kind: "policy/v1 PodDisruptionBudget", obj: `{status: {disruptedPods: {old: t}}}`, reports: []string{`{expectedPods: 2}`}, want: `{expectedPods: 2}`},
		{name: "an autoscaler is summed", kind: "autoscaling/v2 HorizontalPodAutoscaler", obj: `{}`, reports: []string{`{currentReplicas: 1, desiredReplicas: 2}`, `{currentReplicas: 3, desiredReplicas: 4}`}, want: `{currentReplicas: 4, desiredReplicas: 6}`},
		{name: "an autoscaler whose counter is no number is an error", kind: "autoscaling/v2 HorizontalPodAutoscaler", obj: `{}`, reports: []string{`{currentReplicas: x}`}, err: ".currentReplicas"},
		{name: "any other kind keeps its status", kind: "example.com/v1 Thing", obj: `{status: {a: 1}}`, reports: []string{`{a: 2}`}, want: `{a: 1}`},

		{
			name: "active lists of a CronJob are joined, its times are the latest", kind: "batch/v1 CronJob", obj: `{status: {active: [{name: old}], lastScheduleTime: "2026-01-01T00:00:00Z"}}`,
			reports: []string{`{active: [{name: a}], lastScheduleTime: "2026-03-01T00:00:00Z"}`, `{active: [{name: b}], lastScheduleTime: "2026-03-01T01:00:00+02:00", lastSuccessfulTime: "2026-02-01T00:00:00Z"}`, none},
			want:    `{active: [{name: a}, {name: b}], lastScheduleTime: "2026-03-01T00:00:00Z", lastSuccessfulTime: "2026-02-01T00:00:00Z"}`,
		},
		{name: "a time that is none is an error", kind: "batch/v1 CronJob", obj: `{}`, reports: []string{`{lastScheduleTime: noon}`}, err: "cluster m1: reading .lastScheduleTime"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkAggregate(t, of(t, tt.kind, tt.obj), tt.reports, tt.want, tt.err) })
	}
}

// checkAggregate compares the status that reports, in YAML, make of template.
func checkAggregate(t *testing.T, template map[string]any, reports []string, want, wantErr string) {
	t.Helper()
	statuses := make([]any, len(reports))
	for i, text := range reports {
		if text != "" {
			statuses[i] = manifest(t, "s: "+text)["s"]
		}
	}
	check := frozen(t, template)
	got, err := interpret.New().Aggregate(template, items(t, statuses...))
	check()
	wantError(t, err, wantErr)
	if err != nil {
		return
	}
	if diff := cmp.Diff(manifest(t, "s: "+want)["s"], got["status"]); diff != "" {
		t.Error(diff)
	}
}

func TestAggregateJob(t *testing.T) {
	const (
		complete = `{succeeded: 2, startTime: "2026-03-01T10:00:00Z", completionTime: "2026-03-01T11:00:00Z", conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}]}`
		later    = `{succeeded: 1, startTime: "2026-03-01T09:00:00Z", completionTime: "2026-03-01T12:00:00Z", conditions: [{type: Complete, status: "True"}]}`
		failed   = `{failed: 1, active: 1, startTime: "2026-03-01T09:00:00Z", conditions: [{type: Failed, status: "True"}]}`
		times    = `startTime: "2026-03-01T09:00:00Z", completionTime: "2026-03-01T12:00:00Z"`
		done     = `{type: Complete, status: "True", reason: Completed, message: the Job is complete in every cluster}`
		met      = `{type: SuccessCriteriaMet, status: "True", reason: Completed, message: the Job met its criteria in every cluster}`
	)
	for _, tt := range []struct {
		name, obj string
		reports   []string
		want, err string
	}{
		{name: "complete everywhere is complete", obj: `{}`, reports: []string{complete, later}, want: `{succeeded: 3, ` + times + `, conditions: [` + done + `]}`},
		{
			name: "criteria met everywhere are met", obj: `{}`, reports: []string{complete, complete},
			want: `{succeeded: 4, startTime: "2026-03-01T10:00:00Z", completionTime: "2026-03-01T11:00:00Z", conditions: [` + met + `, ` + done + `]}`,
		},
		{name: "a missing report is not complete and has no times", obj: `{}`, reports: []string{complete, ""}, want: `{succeeded: 2}`},
		{name: "one failure fails, and names its clusters", obj: `{}`, reports: []string{failed, complete, failed}, want: `{active: 2, succeeded: 2, failed: 2, startTime: "2026-03-01T09:00:00Z", conditions: [{type: Failed, status: "True", reason: JobFailed, message: "the Job failed in m1, m3"}]}`},
		{name: "a start that is known is kept", obj: `{status: {startTime: "2026-01-01T00:00:00Z"}}`, reports: []string{complete}, want: `{succeeded: 2, startTime: "2026-01-01T00:00:00Z", completionTime: "2026-03-01T11:00:00Z", conditions: [` + met + `, ` + done + `]}`},
		{name: "no cluster is not complete", obj: `{}`, want: `{}`},
		{name: "a Job that is complete stays as it is", obj: `{status: {succeeded: 9, conditions: [{type: Complete, status: "True"}]}}`, reports: []string{failed}, want: `{succeeded: 9, conditions: [{type: Complete, status: "True"}]}`},
		{name: "a Job that failed stays as it is", obj: `{status: {failed: 9, conditions: [{type: Failed, status: "True"}]}}`, reports: []string{complete}, want: `{failed: 9, conditions: [{type: Failed, status: "True"}]}`},
		{name: "a failure that is not true is none", obj: `{}`, reports: []string{`{active: 1, conditions: [{type: Failed, status: "False"}]}`}, want: `{active: 1}`},
		{name: "a start that is no time is an error", obj: `{}`, reports: []string{`{startTime: early}`}, err: "reading .startTime"},
		{name: "a completion that is no time is an error", obj: `{}`, reports: []string{`{completionTime: late}`}, err: "reading .completionTime"},
		{name: "a counter that is no number is an error", obj: `{}`, reports: []string{`{active: all}`}, err: "reading .active"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkAggregate(t, of(t, "batch/v1 Job", tt.obj), tt.reports, tt.want, tt.err) })
	}
}
