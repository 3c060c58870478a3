// Package quota is what a FederatedResourceQuota says (Karmada section E.7): what of the
// demand of its namespace is over its limits, and what it assigns to single clusters. Who
// exceeds it, and what follows from that, is decided by who asks.
package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/interpret"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// Demand is what a workload asks for.
type Demand struct {
	Replica     corev1.ResourceList // what each replica requests
	Before, Now int64               // replicas over all clusters
}

// of is what so many replicas request.
func (d *Demand) of(replicas int64) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for name, q := range d.Replica {
		sum[name] = *resource.NewMilliQuantity(q.MilliValue()*replicas, q.Format)
	}
	return sum
}

// grows is 1 for a demand that is more than before, else 0.
func (d *Demand) grows() int {
	if d.Now > d.Before {
		return 1
	}
	return 0
}

// Exceeding says of each demand which limit it is over; empty if it is over none. Demands
// that do not grow are counted first, so that what runs is not displaced by what is new;
// then their order decides. What is over a limit is counted with what it was before.
func Exceeding(overall corev1.ResourceList, demands []Demand) []string {
	order := make([]int, len(demands))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(demands[i].grows(), demands[j].grows()) })
	over, used := make([]string, len(demands)), corev1.ResourceList{}
	for _, i := range order {
		d := &demands[i]
		wants := d.of(d.Now)
		if over[i] = exceeded(overall, used, wants); over[i] != "" {
			wants = d.of(d.Before)
		}
		for name, q := range wants {
			have := used[name]
			have.Add(q)
			used[name] = have
		}
	}
	return over
}

// exceeded says which limit used and more are over; empty if none. The limits cpu and
// requests.cpu are one.
func exceeded(overall, used, more corev1.ResourceList) string {
	for _, name := range slices.Sorted(maps.Keys(more)) {
		limit, ok := overall[name]
		if !ok {
			limit, ok = overall["requests."+name]
		}
		have, want := used[name], more[name]
		sum := have.DeepCopy()
		sum.Add(want)
		if ok && sum.Cmp(limit) > 0 {
			return fmt.Sprintf("requested %s=%s, used %s=%s, limited %s=%s", name, want.String(), name, have.String(), name, limit.String())
		}
	}
	return ""
}

// Assignment is what a cluster is assigned.
type Assignment struct {
	Cluster string
	Content map[string]any // a ResourceQuota of the name of the FederatedResourceQuota
}

// Assignments lists what clusters are assigned. Of two for one cluster the last counts, as
// in Karmada.
func Assignments(q *karmada.FederatedResourceQuota) (all []Assignment) {
	for _, a := range slices.Backward(q.Spec.StaticAssignments) {
		if slices.ContainsFunc(all, func(have Assignment) bool { return have.Cluster == a.ClusterName }) {
			continue
		}
		hard := map[string]any{}
		for name, quantity := range a.Hard {
			hard[string(name)] = quantity.String()
		}
		all = append(all, Assignment{a.ClusterName, map[string]any{
			"apiVersion": "v1", "kind": "ResourceQuota",
			"metadata": map[string]any{"name": q.Name, "namespace": q.Namespace, "labels": map[string]any{interpret.ManagedLabel: "true"}},
			"spec":     map[string]any{"hard": hard},
		}})
	}
	return all
}
