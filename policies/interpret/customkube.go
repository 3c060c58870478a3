package interpret

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/waybill-dev/waybill/policies/interpret/lua"
)

// kube answers scripts what the built-in kinds know of pods.
func kube() lua.Kube {
	return lua.Kube{Requirements: podRequirements, Dependencies: podDependencies}
}

// podRequirements are what a pod of a template needs, as a decoded value.
func podRequirements(template map[string]any) (map[string]any, error) {
	needs, err := requirements(template, "spec")
	if needs == nil || err != nil {
		return nil, err
	}
	data, err := json.Marshal(needs)
	if err != nil {
		return nil, err
	}
	var decoded map[string]any
	err = utiljson.Unmarshal(data, &decoded)
	return decoded, err
}

// podDependencies are what a pod of a template refers to, as decoded values, sorted.
func podDependencies(template map[string]any, namespace string) ([]any, error) {
	var spec corev1.PodSpec
	if err := typed(mapAt(template, "spec"), &spec); err != nil {
		return nil, fmt.Errorf("reading the pod template: %w", err)
	}
	refs := references{namespace: namespace, seen: map[Dependency]bool{}}
	refs.pod(&spec)
	slices.SortFunc(refs.found, compareDependencies)
	list := make([]any, len(refs.found))
	for i, d := range refs.found {
		list[i] = map[string]any{"apiVersion": d.APIVersion, "kind": d.Kind, "namespace": d.Namespace, "name": d.Name}
	}
	return list, nil
}
