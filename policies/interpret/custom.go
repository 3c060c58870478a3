package interpret

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// ScriptError is what is wrong with one script of a customization.
type ScriptError struct {
	Customization string // its name
	Field         string // the field of spec.customizations, such as "retention"
	Line          int    // of the script, from 1; 0 if it is not known
	Message       string
	// Refused says that the script does not compile: Karmada would not take it, and who
	// knows an earlier version goes on with that.
	Refused bool
}

// maxScripts is how many bytes the scripts of all customizations may have together: over
// seven times those for all kinds that are shipped. Compiling them takes seconds at worst.
const maxScripts = 1 << 20

// maxSpent is how many steps the answers of customizations may take together, beyond
// what each may take by itself: some five seconds.
const maxSpent = 100_000_000

// Wrong lists what is wrong with scripts of the customizations: what does not compile,
// what does not define its function, and what is one too many. They are in the order of
// the customizations' names, and then of the operations.
func (in *Interpreter) Wrong() []ScriptError { return in.wrong }

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

// Private reports a kind that no customization is asked about, Secrets: what a script
// answers is seen by others than those who may read what it was told.
func Private(apiVersion, kind string) bool {
	return kind == "Secret" && !strings.Contains(apiVersion, "/")
}

// customized is the layer of the kinds that customizations teach, and what is wrong with
// their scripts.
func customized(custom []*karmada.ResourceInterpreterCustomization) (layer, []ScriptError) {
	if len(custom) == 0 {
		return layer{}, nil
	}
	c := compiler{budget: lua.NewBudget(maxSpent), left: maxScripts}
	byName := slices.SortedStableFunc(slices.Values(custom), func(a, b *karmada.ResourceInterpreterCustomization) int {
		return cmp.Compare(a.Name, b.Name)
	})
	of := map[kind]lessons{}
	for _, x := range byName {
		k := kind{x.Spec.Target.APIVersion, x.Spec.Target.Kind}
		if of[k] == nil {
			of[k] = lessons{}
		}
		c.teach(of[k], x)
	}
	l := layer{taught: make(map[kind]*scripted, len(of)), budget: c.budget}
	for k, ls := range of {
		if !Private(k.apiVersion, k.name) {
			l.taught[k] = &scripted{load: func() lessons { return ls }}
		}
	}
	return l, c.wrong
}

// compiler compiles the scripts of customizations.
type compiler struct {
	budget *lua.Budget
	left   int // bytes that more scripts may have
	wrong  []ScriptError
}

// teach adds the scripts of a customization to what is known of its kind: all of those for
// dependencies, and for each other operation the first.
func (c *compiler) teach(ls lessons, x *karmada.ResourceInterpreterCustomization) {
	for _, op := range operations {
		source := op.source(&x.Spec.Customizations)
		if source == "" {
			continue
		}
		s := c.compiled(source, op.function)
		if s.err != nil {
			c.wrong = append(c.wrong, ScriptError{Customization: x.Name, Field: op.field, Line: s.err.Line, Message: s.err.Message, Refused: s.refused})
		}
		if s.by = customization + x.Name; len(ls[op.name]) == 0 || op.name == karmada.InterpreterOperationInterpretDependency {
			ls[op.name] = append(ls[op.name], s)
		}
	}
}

// compiled compiles a source that is to define a function.
func (c *compiler) compiled(source, function string) script {
	s := script{function: function, budget: c.budget}
	if len(source) <= lua.MaxSource { // no longer one gets as far as the parser
		c.left -= len(source)
	}
	if c.left < 0 {
		s.err = &lua.Error{Message: fmt.Sprintf("the scripts up to this one have over %d bytes together", maxScripts)}
		return s
	}
	code, err := lua.Compile(source)
	switch e, wrong := errors.AsType[*lua.Error](err); {
	case wrong:
		s.err, s.refused = e, true
	case !code.Defines(function):
		s.err = &lua.Error{Message: "the script does not define the function " + function}
	default:
		s.code = code
	}
	return s
}
