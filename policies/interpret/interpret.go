package interpret

import (
	"fmt"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Interpreter answers what kinds mean. It is immutable and safe for concurrent
// use; New makes one.
type Interpreter struct {
	layers []layer
}

// New returns an interpreter of the built-in kinds.
func New() *Interpreter { return &Interpreter{layers: []layer{native()}} }

// The hooks: what a layer has to know of a kind, one operation each.
type (
	replicasHook     func(obj map[string]any) (int32, *karmada.ReplicaRequirements, error)
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
	revise       map[kind]reviseHook
	dependencies map[kind]dependenciesHook
	health       map[kind]healthHook
	reflect      map[kind]reflectHook
	aggregate    map[kind]aggregateHook
	retain       map[kind]retainHook
}

// native is the layer of the built-in kinds.
func native() layer {
	return layer{
		replicas: nativeReplicas, revise: nativeRevise, dependencies: nativeDependencies,
		health: nativeHealth, reflect: nativeReflect, aggregate: nativeAggregate, retain: nativeRetain,
	}
}

// hook returns the first hook that a layer has for an operation on the kind of obj.
func hook[H any](in *Interpreter, obj map[string]any, operation func(layer) map[kind]H) (h H, found bool) {
	k := kindOf(obj)
	for _, l := range in.layers {
		if h, found = operation(l)[k]; found {
			return h, true
		}
	}
	return h, false
}

// located says which object an error is about.
func located(doing string, obj map[string]any, err error) error {
	return fmt.Errorf("%s %s %s: %w", doing, stringAt(obj, "kind"), stringAt(obj, "metadata", "name"), err)
}
