package interpret

import (
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Answered says who answers an operation on the kind of obj: "customization " and
// its name (several names, joined by ", ", where dependencies are united); for the kinds of
// other projects the source of the rule and the kind, as "karmada v1.16.0
// apps.kruise.io/CloneSet"; "native"; or "" if nobody does, and what stands for no rule holds.
func (in *Interpreter) Answered(obj map[string]any, operation karmada.InterpreterOperation) string {
	k := kindOf(obj)
	for _, l := range in.layers {
		l = l.of(k)
		switch {
		case !l.answers(k, operation):
		case l.by == nil:
			return Native
		default:
			return l.by[operation]
		}
	}
	return ""
}

// Native is what Answered says of the built-in kinds.
const Native = "native"

// Customized reports that who answers, as Answered says it, is a customization of the source.
func Customized(by string) bool { return strings.HasPrefix(by, customization) }

// answers reports whether a layer has a hook for an operation on a kind.
func (l layer) answers(k kind, operation karmada.InterpreterOperation) (found bool) {
	switch operation {
	case karmada.InterpreterOperationInterpretReplica:
		_, found = l.replicas[k]
	case karmada.InterpreterOperationInterpretComponent:
		_, found = l.components[k]
	case karmada.InterpreterOperationReviseReplica:
		_, found = l.revise[k]
	case karmada.InterpreterOperationInterpretDependency:
		_, found = l.dependencies[k]
	case karmada.InterpreterOperationInterpretHealth:
		_, found = l.health[k]
	case karmada.InterpreterOperationInterpretStatus:
		_, found = l.reflect[k]
	case karmada.InterpreterOperationAggregateStatus:
		_, found = l.aggregate[k]
	case karmada.InterpreterOperationRetain:
		_, found = l.retain[k]
	default:
	}
	return found
}

// Answer is who answers an operation on an object.
type Answer struct {
	Operation karmada.InterpreterOperation `json:"operation"`
	By        string                       `json:"by"`
}

// Answers lists who answers the operations that a plan asks for: a customization, the
// scripts for kinds of other projects, or the built-in kinds.
func (in *Interpreter) Answers(obj map[string]any) (all []Answer) {
	for _, op := range []karmada.InterpreterOperation{
		karmada.InterpreterOperationInterpretReplica, karmada.InterpreterOperationInterpretComponent,
		karmada.InterpreterOperationReviseReplica, karmada.InterpreterOperationInterpretDependency,
	} {
		if by := in.Answered(obj, op); by != "" {
			all = append(all, Answer{op, by})
		}
	}
	return all
}
