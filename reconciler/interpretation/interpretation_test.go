package interpretation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/interpretation"
	"github.com/waybill-dev/waybill/render/object"
)

func content(t *testing.T, text string) map[string]any {
	t.Helper()
	d := object.Decode("all.yaml", []byte(text))
	if len(d.Objects) != 1 {
		t.Fatal(d)
	}
	return d.Objects[0].Content()
}

func TestOperationOf(t *testing.T) {
	for name, want := range map[string]karmada.InterpreterOperation{
		"health": karmada.InterpreterOperationInterpretHealth, "Health": karmada.InterpreterOperationInterpretHealth,
		"interpretHealth": karmada.InterpreterOperationInterpretHealth, "RETAIN": karmada.InterpreterOperationRetain,
		"components": karmada.InterpreterOperationInterpretComponent, "aggregatestatus": karmada.InterpreterOperationAggregateStatus,
	} {
		if is, err := interpretation.OperationOf(name); is != want || err != nil {
			t.Errorf("%s is %q (%v), want %q", name, is, err, want)
		}
	}
	for _, name := range []string{"", "heal"} {
		if is, err := interpretation.OperationOf(name); is != "" || err == nil || !strings.Contains(err.Error(), "want one of aggregate, components, dependencies, health, replicas, retain, revise, status") {
			t.Errorf("%q is %q (%v)", name, is, err)
		}
	}
}

// What is asked of a live object is asked of the observed one where both are given, and what is asked of a template of the desired one.
func TestAsk(t *testing.T) {
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, "
	desired := content(t, deployment+"spec: {replicas: 3, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}], volumes: [{name: v, configMap: {name: settings}}]}}}}")
	observed := content(t, deployment+"spec: {replicas: 1, template: {spec: {containers: [{name: c}]}}}, status: {readyReplicas: 1, conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded}]}}")
	paused := content(t, "{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, metadata: {name: c, generation: 1}, spec: {replicas: 1, updateStrategy: {paused: true}}, "+
		"status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1, updatedReadyReplicas: 1, updatedAvailableReplicas: 1}}")
	thing := content(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: t}}")
	for name, test := range map[string]struct {
		operation string
		q         interpretation.Question
		want      string // the rule and the result, or the end of an error
	}{
		"replicas":     {"replicas", interpretation.Question{Desired: desired, Observed: observed}, `built-in {"replicas":3,"requires":{"resourceRequest":{"cpu":"100m"}}}`},
		"status":       {"status", interpretation.Question{Desired: desired, Observed: observed}, `built-in {"readyReplicas":1}`},
		"of one alone": {"replicas", interpretation.Question{Observed: observed}, `built-in {"replicas":1}`},
		"revise":       {"revise", interpretation.Question{Desired: observed, Replicas: 5}, `"replicas":5`},
		"dependencies": {"dependencies", interpretation.Question{Desired: desired}, `built-in [{"apiVersion":"v1","kind":"ConfigMap","name":"settings"}]`},
		"aggregate": {"aggregate", interpretation.Question{Desired: desired, Reports: []karmada.AggregatedStatusItem{
			{ClusterName: "eu", Applied: true, Status: &runtime.RawExtension{Raw: []byte(`{"readyReplicas": 2}`)}}, {ClusterName: "us", Applied: true, Status: &runtime.RawExtension{Raw: []byte(`{"readyReplicas": 1}`)}},
		}}, `"readyReplicas":3`},
		"retain takes both":                        {"retain", interpretation.Question{Desired: desired}, "needs --desired-file and --observed-file"},
		"retain takes both, of which one is there": {"retain", interpretation.Question{Observed: observed}, "needs --desired-file and --observed-file"},
		"no object":         {"health", interpretation.Question{}, "needs an object: --desired-file, or --observed-file"},
		"nobody has a rule": {"replicas", interpretation.Question{Desired: thing}, "no rule answers InterpretReplica for example.com/v1 Thing"},
		"failed":            {"health", interpretation.Question{Desired: desired, Observed: observed}, `{"status":"Degraded","message":"Progress deadline exceeded"}`},
		"in progress":       {"health", interpretation.Question{Observed: desired}, `{"status":"Progressing",`},
		"healthy":           {"health", interpretation.Question{Observed: thing}, `kstatus {"status":"Healthy"}`},
		"being deleted":     {"health", interpretation.Question{Observed: content(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, deletionTimestamp: '2026-01-01T00:00:00Z'}}")}, `{"status":"Progressing"`},
		"suspended":         {"health", interpretation.Question{Observed: paused}, `{"status":"Suspended","message":"Cloneset is paused"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if test.q.Operation, err = interpretation.OperationOf(test.operation); err != nil {
				t.Fatal(err)
			}
			a, err := interpretation.Ask(&health.Judge{Kinds: interpret.New()}, test.q)
			data, _ := json.Marshal(a.Result) // it was decoded
			is := a.Rule + " " + string(data)
			if err != nil {
				is = err.Error()
			}
			if !strings.Contains(is, test.want) || a.Operation != test.q.Operation {
				t.Errorf("of %s it says %s, want %s", a.Operation, is, test.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	web := content(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3, template: {spec: {containers: [{name: c}]}}}}")
	asks := func(name string, of map[string]any, want any) interpretation.Case {
		return interpretation.Case{Name: name, Question: interpretation.Question{Operation: karmada.InterpreterOperationInterpretReplica, Desired: of}, Want: want}
	}
	is := interpretation.Check(&health.Judge{Kinds: interpret.New()}, []interpretation.Case{
		asks("any will do", web, nil),
		asks("the same", web, map[string]any{"replicas": 3}),
		asks("another number", web, map[string]any{"replicas": 4.0}),
		asks("nobody answers", map[string]any{"apiVersion": "v1", "kind": "Thing"}, nil),
	})
	if len(is) != 2 || !strings.HasPrefix(is[0], `another number: InterpretReplica by built-in is {"replicas":3}, want {"replicas":4}`) ||
		!strings.HasPrefix(is[1], "nobody answers: InterpretReplica: no rule answers") {
		t.Errorf("it says %q", is)
	}
}
