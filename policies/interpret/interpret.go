package interpret

import (
	"errors"
	"fmt"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// Interpreter answers what kinds mean. It is safe for concurrent use; New makes one. Its
// answers never change, until customizations have spent what they may: see Spent.
type Interpreter struct {
	layers []layer
	wrong  []ScriptError
	hushed bool // errors do not say why
}

// New returns an interpreter of what customizations teach, of the kinds of other
// projects and of the built-in kinds: the first of them that answers, does
// (section E.9). A script that does not compile answers its operation with that error;
// Wrong lists them. The customizations must not be modified afterwards.
func New(custom ...*karmada.ResourceInterpreterCustomization) *Interpreter {
	taught, wrong := customized(custom)
	return &Interpreter{layers: append(append([]layer{taught}, shipped()...), native()), wrong: wrong}
}

// Uncustomized returns the interpreter as it is without customizations.
func (in *Interpreter) Uncustomized() *Interpreter {
	u := *in
	u.layers = append([]layer{{}}, in.layers[1:]...)
	return &u
}

// Renew gives customizations back what they have spent: each plan begins with all of it.
func (in *Interpreter) Renew() {
	if b := in.layers[0].budget; b != nil {
		b.Renew()
	}
}

// Hushed returns the interpreter for objects that may hold values of Secrets: its errors
// say what failed and who was asked, and not what that one said.
func (in *Interpreter) Hushed() *Interpreter {
	h := *in
	h.hushed = true
	return &h
}

// Spent returns how many steps customizations have drawn from those that they may take
// together (see lua.Budget). When none are left, answers that take many are errors.
func (in *Interpreter) Spent() int {
	if b := in.layers[0].budget; b != nil {
		return b.Spent()
	}
	return 0
}

// Respend draws what an answer took that somebody remembers, so that it makes no difference
// whether it is remembered; false if fewer steps are left, and it has to be asked for.
func (in *Interpreter) Respend(steps int) bool {
	return steps == 0 || in.layers[0].budget != nil && in.layers[0].budget.Draw(steps)
}

// The hooks: what a layer has to know of a kind, one operation each.
type (
	replicasHook     func(obj map[string]any) (int32, *karmada.ReplicaRequirements, error)
	componentsHook   func(obj map[string]any) ([]karmada.Component, error)
	reviseHook       func(obj map[string]any, replicas int32) (map[string]any, error)
	dependenciesHook func(obj map[string]any) ([]Dependency, error)
	healthHook       func(observed map[string]any) (healthy bool, err error)
	reflectHook      func(observed map[string]any) (status any, err error)
	aggregateHook    func(template map[string]any, reports []report) (map[string]any, error)
	retainHook       func(desired, observed map[string]any) (map[string]any, error)
)

// A layer is one source of hooks: for each operation, the kinds it answers for.
type layer struct {
	replicas     map[kind]replicasHook
	components   map[kind]componentsHook
	revise       map[kind]reviseHook
	dependencies map[kind]dependenciesHook
	health       map[kind]healthHook
	reflect      map[kind]reflectHook
	aggregate    map[kind]aggregateHook
	retain       map[kind]retainHook

	// taught are kinds whose hooks are not above, but found when they are needed.
	taught map[kind]*scripted
	budget *lua.Budget // that those of taught draw on; nil for none
	// by says whose hooks these are, if that is not the same for all operations.
	by map[karmada.InterpreterOperation]string
}

// native is the layer of the built-in kinds.
func native() layer {
	return layer{
		replicas: nativeReplicas, revise: nativeRevise, dependencies: nativeDependencies,
		health: nativeHealth, reflect: nativeReflect, aggregate: nativeAggregate, retain: nativeRetain,
	}
}

// of is the layer as far as one kind needs it.
func (l layer) of(k kind) layer {
	if t := l.taught[k]; t != nil {
		return t.layer(k)
	}
	return l
}

// hook returns the first hook that a layer has for an operation on the kind of obj.
func hook[H any](in *Interpreter, obj map[string]any, operation func(layer) map[kind]H) (h H, found bool) {
	k := kindOf(obj)
	for _, l := range in.layers {
		if h, found = operation(l.of(k))[k]; found {
			return h, true
		}
	}
	return h, false
}

// located says which object an error is about.
func (in *Interpreter) located(doing string, obj map[string]any, err error) error {
	if in.hushed {
		err = hushed(err)
	}
	return fmt.Errorf("%s %s %s: %w", doing, stringAt(obj, "kind"), stringAt(obj, "metadata", "name"), err)
}

// hushed returns an error that says whose err is, and no more.
func hushed(err error) error {
	const why = "why is not said, for the object may hold values of Secrets"
	if f, ok := errors.AsType[*failure](err); ok {
		return fmt.Errorf("%s: %s: %s", f.by, f.function, why)
	}
	return errors.New(why)
}
