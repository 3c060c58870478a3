package interpret

import (
	"errors"
	"fmt"
	"math"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Replicas returns how many replicas obj asks for and what each of them needs; nil
// requirements ask for nothing (Karmada section D.6). It reports false for a kind
// that has no replicas of its own, such as a DaemonSet, or that has Components. An
// error names the field that cannot be read.
//
//nolint:revive // the fourth result tells "no replicas" from "0 replicas"
func (in *Interpreter) Replicas(obj map[string]any) (n int32, needs *karmada.ReplicaRequirements, ok bool, err error) {
	h, ok := hook(in, obj, func(l layer) map[kind]replicasHook { return l.replicas })
	_, several := hook(in, obj, func(l layer) map[kind]componentsHook { return l.components })
	if !ok || several {
		return 0, nil, false, nil
	}
	if n, needs, err = h(obj); err != nil {
		return 0, nil, true, in.located("counting the replicas of", obj, err)
	}
	return n, needs, true, nil
}

// Revisable reports whether Revise can change obj. A Pod has one replica but
// cannot be revised.
func (in *Interpreter) Revisable(obj map[string]any) bool {
	_, ok := hook(in, obj, func(l layer) map[kind]reviseHook { return l.revise })
	return ok
}

// Revise returns obj with another number of replicas (Karmada section D.6). It
// changes a field that is there, and adds none: objects should come defaulted. It
// is an error to revise a kind that is not Revisable, or a number that is none.
func (in *Interpreter) Revise(obj map[string]any, replicas int32) (map[string]any, error) {
	h, ok := hook(in, obj, func(l layer) map[kind]reviseHook { return l.revise })
	if !ok {
		return nil, in.located("revising", obj, errors.New("the kind has no replicas to set"))
	}
	revised, err := h(obj, replicas)
	if err != nil {
		return nil, in.located("revising", obj, err)
	}
	return revised, nil
}

// Completions returns the completions of a Job, which are divided like its
// replicas (Karmada section A.12). It reports false for a Job that has none and
// for every other kind.
func Completions(obj map[string]any) (int64, bool) {
	if kindOf(obj) != job {
		return 0, false
	}
	n, ok := at(obj, "spec", "completions").(int64)
	return n, ok
}

// ReviseCompletions returns a Job that has completions with n of them, and
// anything else as it is.
func ReviseCompletions(obj map[string]any, n int64) map[string]any {
	if _, ok := Completions(obj); !ok {
		return obj
	}
	return with(obj, n, "spec", "completions")
}

var nativeReplicas = map[kind]replicasHook{
	deployment:  templateReplicas,
	replicaSet:  templateReplicas,
	statefulSet: templateReplicas,
	job:         jobReplicas,
	pod: func(obj map[string]any) (int32, *karmada.ReplicaRequirements, error) {
		needs, err := requirements(obj, "spec")
		return 1, needs, err
	},
}

var nativeRevise = map[kind]reviseHook{
	deployment:  setNumber("spec", "replicas"),
	replicaSet:  setNumber("spec", "replicas"),
	statefulSet: setNumber("spec", "replicas"),
	job:         setNumber("spec", "parallelism"),
}

func templateReplicas(obj map[string]any) (int32, *karmada.ReplicaRequirements, error) {
	n, err := countAt(obj, "spec", "replicas")
	if err != nil {
		return 0, nil, err
	}
	needs, err := requirements(obj, "spec", "template", "spec")
	return n, needs, err
}

// jobReplicas counts the pods of a Job that run beside each other: no more than
// there are completions.
func jobReplicas(obj map[string]any) (int32, *karmada.ReplicaRequirements, error) {
	n, err := countAt(obj, "spec", "parallelism")
	if err != nil {
		return 0, nil, err
	}
	if at(obj, "spec", "completions") != nil {
		completions, err := countAt(obj, "spec", "completions")
		if err != nil {
			return 0, nil, err
		}
		n = min(n, completions)
	}
	needs, err := requirements(obj, "spec", "template", "spec")
	return n, needs, err
}

// countAt reads a number of replicas; 0 where there is none.
func countAt(obj map[string]any, path ...string) (int32, error) {
	n, _, err := intAt(obj, path...)
	if err != nil {
		return 0, err
	}
	if n < 0 || n > math.MaxInt32 {
		return 0, fmt.Errorf("reading %s: %d is not between 0 and %d", dotted(path), n, math.MaxInt32)
	}
	return int32(n), nil
}

// setNumber makes a hook that sets the integer at path, if there is one.
func setNumber(path ...string) reviseHook {
	return func(obj map[string]any, n int32) (map[string]any, error) {
		if _, ok, err := intAt(obj, path...); !ok || err != nil {
			return obj, err
		}
		return with(obj, int64(n), path...), nil
	}
}
