package interpret

import (
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// What Karmada notes on a delivered object: the labels and annotations that are Karmada's,
// each joined by commas.
const (
	managedLabelsAnnotation      = "resourcetemplate.karmada.io/managed-labels"
	managedAnnotationsAnnotation = "resourcetemplate.karmada.io/managed-annotations"
)

// Retain returns desired with what the cluster owns of the object that it has,
// observed: what to write when desired replaces it (Karmada section D.5). Labels
// and annotations that someone else set stay; those that Karmada set and no longer
// wants go.
func (in *Interpreter) Retain(desired, observed map[string]any) (map[string]any, error) {
	for _, key := range []string{"resourceVersion", "finalizers", "ownerReferences"} {
		desired = copied(desired, observed, "metadata", key)
	}
	desired = merged(desired, observed, "labels", managedLabelsAnnotation)
	desired = merged(desired, observed, "annotations", managedAnnotationsAnnotation)
	h, ok := hook(in, desired, func(l layer) map[kind]retainHook { return l.retain })
	if !ok {
		return desired, nil
	}
	retained, err := h(desired, observed)
	if err != nil {
		return nil, in.located("retaining what a cluster owns of", desired, err)
	}
	return retained, nil
}

var nativeRetain = map[kind]retainHook{
	deployment:     retainReplicas,
	pod:            retainPod,
	service:        retainPaths([]string{"spec", "clusterIP"}, []string{"spec", "healthCheckNodePort"}),
	volumeClaim:    retainPaths([]string{"spec", "volumeName"}),
	volume:         retainPaths([]string{"spec", "claimRef"}),
	job:            retainPaths([]string{"spec", "selector", "matchLabels"}, []string{"spec", "template", "metadata", "labels"}),
	serviceAccount: retainServiceAccount,
	secret:         retainSecret,
}

// Owned returns obj without what its cluster owns, for those who apply it without a look
// at the cluster: the replicas of a Deployment whose label leaves them to an autoscaler
// (Karmada section D.5). Server-side apply then takes no field of others.
func Owned(obj map[string]any) map[string]any {
	if kindOf(obj) != deployment || stringAt(obj, "metadata", "labels", karmada.RetainReplicasLabel) != "true" {
		return obj
	}
	return without(obj, []string{"spec"}, "replicas")
}

// copied returns desired with what observed has at path, unless that is nothing.
func copied(desired, observed map[string]any, path ...string) map[string]any {
	v := at(observed, path...)
	if isZero(v) {
		return desired
	}
	return with(desired, v, path...)
}

// merged keeps the observed labels, or annotations, that are not among those an
// annotation lists as managed.
func merged(desired, observed map[string]any, field, managed string) map[string]any {
	ours := strings.Split(stringAt(observed, "metadata", "annotations", managed), ",")
	wanted := mapAt(desired, "metadata", field)
	for key, v := range mapAt(observed, "metadata", field) {
		if _, ok := wanted[key]; !ok && !slices.Contains(ours, key) {
			desired = with(desired, v, "metadata", field, key)
		}
	}
	return desired
}

// retainPaths makes a hook that keeps what is observed at some paths.
func retainPaths(paths ...[]string) retainHook {
	return func(desired, observed map[string]any) (map[string]any, error) {
		for _, path := range paths {
			desired = copied(desired, observed, path...)
		}
		return desired, nil
	}
}

// retainReplicas leaves the replicas to the autoscaler of the cluster, where the
// template says so.
func retainReplicas(desired, observed map[string]any) (map[string]any, error) {
	if stringAt(desired, "metadata", "labels", karmada.RetainReplicasLabel) != "true" {
		return desired, nil
	}
	if _, ok, err := intAt(observed, "spec", "replicas"); !ok || err != nil {
		return desired, err
	}
	return with(desired, at(observed, "spec", "replicas"), "spec", "replicas"), nil
}

func retainSecret(desired, observed map[string]any) (map[string]any, error) {
	if stringAt(desired, "type") != serviceAccountToken {
		return desired, nil
	}
	return copied(desired, observed, "data"), nil
}

// retainServiceAccount keeps the secrets that the cluster has added.
func retainServiceAccount(desired, observed map[string]any) (map[string]any, error) {
	for _, field := range []string{"secrets", "imagePullSecrets"} {
		list := slices.Clone(listAt(desired, field))
		for _, item := range listAt(observed, field) {
			if !slices.ContainsFunc(list, func(have any) bool { return equal(have, item) }) {
				list = append(list, item)
			}
		}
		if len(list) > 0 {
			desired = with(desired, list, field)
		}
	}
	return desired, nil
}

// retainPod keeps what the admission and the scheduler of the cluster have set.
func retainPod(desired, observed map[string]any) (map[string]any, error) {
	for _, field := range []string{"nodeName", "serviceAccountName", "volumes"} {
		desired = copied(desired, observed, "spec", field)
	}
	for _, field := range []string{"containers", "initContainers"} {
		list := slices.Clone(listAt(desired, "spec", field))
		for i, item := range list {
			container, _ := item.(map[string]any)
			if other := named(listAt(observed, "spec", field), container["name"]); other != nil {
				list[i] = copied(container, other, "volumeMounts")
			}
		}
		if list != nil {
			desired = with(desired, list, "spec", field)
		}
	}
	return desired, nil
}

// named returns the item of a list that has a name; nil if there is none.
func named(list []any, name any) map[string]any {
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && name != nil && m["name"] == name {
			return m
		}
	}
	return nil
}
