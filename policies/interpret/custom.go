package interpret

import (
	"cmp"
	"errors"
	"slices"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// ScriptError is what is wrong with one script of a customization.
type ScriptError struct {
	Customization string // its name
	Field         string // the field of spec.customizations, such as "retention"
	Line          int    // of the script, from 1; 0 if it is not known
	Message       string
}

// Check compiles every script of a customization. It returns, in the order of the
// operations, what does not compile and what does not define its function.
func Check(c *karmada.ResourceInterpreterCustomization) []ScriptError {
	var wrong []ScriptError
	for _, op := range operations {
		source := op.source(&c.Spec.Customizations)
		if source == "" {
			continue
		}
		s := compiled(source, op.function)
		if e, ok := errors.AsType[*lua.Error](s.err); ok {
			wrong = append(wrong, ScriptError{Customization: c.Name, Field: op.field, Line: e.Line, Message: e.Message})
		}
	}
	return wrong
}

// operation is one thing that scripts teach.
type operation struct {
	name            karmada.InterpreterOperation
	field, function string
	script          func(*karmada.CustomizationRules) *karmada.LuaScript
}

// source is the text of the script of an operation; "" if there is none.
func (op *operation) source(rules *karmada.CustomizationRules) string {
	if s := op.script(rules); s != nil {
		return s.LuaScript
	}
	return ""
}

// operations are all that scripts teach (section E.9).
var operations = []operation{
	{
		karmada.InterpreterOperationRetain, "retention", "Retain",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.Retention },
	},
	{
		karmada.InterpreterOperationInterpretReplica, "replicaResource", "GetReplicas",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.ReplicaResource },
	},
	{
		karmada.InterpreterOperationInterpretComponent, "componentResource", "GetComponents",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.ComponentResource },
	},
	{
		karmada.InterpreterOperationReviseReplica, "replicaRevision", "ReviseReplica",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.ReplicaRevision },
	},
	{
		karmada.InterpreterOperationInterpretStatus, "statusReflection", "ReflectStatus",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.StatusReflection },
	},
	{
		karmada.InterpreterOperationAggregateStatus, "statusAggregation", "AggregateStatus",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.StatusAggregation },
	},
	{
		karmada.InterpreterOperationInterpretHealth, "healthInterpretation", "InterpretHealth",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.HealthInterpretation },
	},
	{
		karmada.InterpreterOperationInterpretDependency, "dependencyInterpretation", "GetDependencies",
		func(r *karmada.CustomizationRules) *karmada.LuaScript { return r.DependencyInterpretation },
	},
}

// customized is the layer of the kinds that customizations teach.
func customized(custom []*karmada.ResourceInterpreterCustomization) layer {
	if len(custom) == 0 {
		return layer{}
	}
	byName := slices.SortedStableFunc(slices.Values(custom), func(a, b *karmada.ResourceInterpreterCustomization) int {
		return cmp.Compare(a.Name, b.Name)
	})
	of := map[kind][]*karmada.ResourceInterpreterCustomization{}
	for _, c := range byName {
		k := kind{c.Spec.Target.APIVersion, c.Spec.Target.Kind}
		of[k] = append(of[k], c)
	}
	l := layer{taught: make(map[kind]*taught, len(of))}
	for k, cs := range of {
		l.taught[k] = &taught{load: func() lessons { return chosen(cs) }}
	}
	return l
}

// chosen takes, of customizations sorted by name, the first script of each
// operation, and all scripts for dependencies.
func chosen(custom []*karmada.ResourceInterpreterCustomization) lessons {
	ls := lessons{}
	for _, op := range operations {
		for _, c := range custom {
			source := op.source(&c.Spec.Customizations)
			if source == "" {
				continue
			}
			s := compiled(source, op.function)
			s.by = "customization " + c.Name
			ls[op.name] = append(ls[op.name], s)
			if op.name != karmada.InterpreterOperationInterpretDependency {
				break
			}
		}
	}
	return ls
}
