package whatif

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// child returns the map under a key, which is made if there is none.
func child(of map[string]any, key string) map[string]any {
	m, ok := of[key].(map[string]any)
	if !ok {
		m = map[string]any{}
		of[key] = m
	}
	return m
}

func (l Label) set(content map[string]any) error {
	labels := child(child(content, "metadata"), "labels")
	if l.Remove {
		delete(labels, l.Key)
	} else {
		labels[l.Key] = l.Value
	}
	return nil
}

// set adds the taint as kubectl does: one of the same key and effect gives way.
func (t Taint) set(content map[string]any) error {
	spec := child(content, "spec")
	taints, _ := spec["taints"].([]any)
	taints = slices.DeleteFunc(slices.Clone(taints), func(v any) bool {
		m, _ := v.(map[string]any)
		sameEffect := m["effect"] == string(t.Taint.Effect) || t.Remove && t.Taint.Effect == ""
		return m["key"] == t.Taint.Key && sameEffect
	})
	if !t.Remove {
		taint := map[string]any{"key": t.Taint.Key, "effect": string(t.Taint.Effect)}
		if t.Taint.Value != "" {
			taint["value"] = t.Taint.Value
		}
		taints = append(taints, taint)
	}
	spec["taints"] = taints
	return nil
}

// set writes down what the cluster has, which counts before what was observed: what of it is
// used stays. Counts of nodes by grade would contradict it, and go.
func (c Capacity) set(content map[string]any, observed *karmada.ClusterStatus) error {
	var status karmada.ClusterStatus
	data, err := json.Marshal(content["status"])
	if err == nil {
		err = json.Unmarshal(data, &status)
	}
	if err != nil {
		return fmt.Errorf("its status cannot be read: %w", err)
	}
	summary := karmada.ResourceSummary{}
	switch {
	case status.ResourceSummary != nil:
		summary = *status.ResourceSummary
	case observed != nil && observed.ResourceSummary != nil:
		summary = *observed.ResourceSummary
	}
	summary.AllocatableModelings = nil
	allocatable := corev1.ResourceList{}
	maps.Copy(allocatable, summary.Allocatable)
	maps.Copy(allocatable, c.Allocatable)
	summary.Allocatable = allocatable
	var written map[string]any
	if data, err = json.Marshal(summary); err == nil {
		err = utiljson.Unmarshal(data, &written)
	}
	if err != nil {
		return fmt.Errorf("its capacity cannot be written: %w", err)
	}
	child(content, "status")["resourceSummary"] = written
	return nil
}
