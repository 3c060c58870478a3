// Package interpretation answers `waybill interpret`: what the rule for a kind says of objects that
// are given, and which rule that is. Values go in and come out.
package interpretation

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/health"
)

// Question asks for an operation on objects. Which of them are needed depends on the operation.
type Question struct {
	Operation         karmada.InterpreterOperation
	Desired, Observed map[string]any // a template, and a live object; nil for none
	// Reports are what clusters say of the object.
	Reports []karmada.AggregatedStatusItem
	// Replicas are those that are wanted.
	Replicas int32
}

// Answer is what a rule says.
type Answer struct {
	Operation karmada.InterpreterOperation `json:"operation"`
	// Rule is the one that answers, with its source.
	Rule string `json:"rule"`
	// Result is what the operation gives; of health it is a Verdict.
	Result any `json:"result"`
}

// Verdict is the health of an object in Argo CD's words.
type Verdict struct {
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
}

// operations are the names of operations: karmadactl's, which are Karmada's, and short ones.
var operations = map[string]karmada.InterpreterOperation{
	"retain": karmada.InterpreterOperationRetain, "replicas": karmada.InterpreterOperationInterpretReplica,
	"revise": karmada.InterpreterOperationReviseReplica, "components": karmada.InterpreterOperationInterpretComponent,
	"status": karmada.InterpreterOperationInterpretStatus, "aggregate": karmada.InterpreterOperationAggregateStatus,
	"health": karmada.InterpreterOperationInterpretHealth, "dependencies": karmada.InterpreterOperationInterpretDependency,
}

// OperationOf finds an operation by its name, in any case.
func OperationOf(name string) (karmada.InterpreterOperation, error) {
	var short []string
	for n, op := range operations {
		if strings.EqualFold(n, name) || strings.EqualFold(string(op), name) {
			return op, nil
		}
		short = append(short, n)
	}
	slices.Sort(short)
	return "", fmt.Errorf("there is no operation %q; want one of %s, or karmadactl's name of it", name, strings.Join(short, ", "))
}

// Ask asks the rule that would act.
func Ask(judge *health.Judge, q Question) (Answer, error) {
	a := Answer{Operation: q.Operation}
	obj, err := q.object()
	if err != nil {
		return a, err
	}
	if q.Operation == karmada.InterpreterOperationInterpretHealth {
		a.Rule, a.Result = judged(judge, obj)
		return a, nil
	}
	if a.Rule = judge.Kinds.Answered(obj, q.Operation); a.Rule == "" {
		return a, fmt.Errorf("no rule answers %s for %v %v", q.Operation, obj["apiVersion"], obj["kind"])
	}
	if a.Rule == interpret.Native {
		a.Rule = "built-in"
	}
	a.Result, err = q.asked(judge.Kinds, obj)
	return a, err
}

// object is the one that the operation is on.
func (q *Question) object() (map[string]any, error) {
	first, second := q.Desired, q.Observed
	if q.Operation == karmada.InterpreterOperationInterpretHealth || q.Operation == karmada.InterpreterOperationInterpretStatus {
		first, second = second, first
	}
	switch {
	case q.Operation == karmada.InterpreterOperationRetain && (q.Desired == nil || q.Observed == nil):
		return nil, fmt.Errorf("%s needs --desired-file and --observed-file", q.Operation)
	case first != nil:
		return first, nil
	case second != nil:
		return second, nil
	}
	return nil, fmt.Errorf("%s needs an object: --desired-file, or --observed-file", q.Operation)
}

// asked asks for any operation but health.
func (q *Question) asked(kinds *interpret.Interpreter, obj map[string]any) (any, error) {
	switch q.Operation {
	case karmada.InterpreterOperationInterpretReplica:
		n, needs, _, err := kinds.Replicas(obj)
		return struct {
			Replicas     int32                        `json:"replicas"`
			Requirements *karmada.ReplicaRequirements `json:"requires,omitempty"`
		}{n, needs}, err
	case karmada.InterpreterOperationInterpretComponent:
		components, _, err := kinds.Components(obj)
		return components, err
	case karmada.InterpreterOperationReviseReplica:
		return kinds.Revise(obj, q.Replicas)
	case karmada.InterpreterOperationInterpretDependency:
		found, err := kinds.Dependencies(obj)
		all := make([]dependency, len(found))
		for i, d := range found {
			all[i] = dependency(d)
		}
		return all, err
	case karmada.InterpreterOperationInterpretStatus:
		return kinds.Reflect(obj)
	case karmada.InterpreterOperationAggregateStatus:
		return kinds.Aggregate(obj, q.Reports)
	case karmada.InterpreterOperationRetain:
		return kinds.Retain(q.Desired, q.Observed)
	default:
		return nil, fmt.Errorf("nobody answers %s", q.Operation)
	}
}

// dependency is an interpret.Dependency as Karmada writes it.
type dependency struct {
	APIVersion    string                `json:"apiVersion"`
	Kind          string                `json:"kind"`
	Namespace     string                `json:"namespace,omitempty"`
	Name          string                `json:"name,omitempty"`
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// words are Argo CD's for the reasons of an object that is not healthy.
var words = map[string]string{
	"": "Healthy", health.InProgress: "Progressing", health.Terminating: "Progressing", health.Failed: "Degraded",
	health.Suspended: "Suspended", health.NotFound: "Missing", health.Unknown: "Unknown",
}

func judged(judge *health.Judge, obj map[string]any) (rule string, v Verdict) {
	h := judge.Of(obj, health.Moment{})
	return h.By, Verdict{words[h.Reason], h.Message}
}
