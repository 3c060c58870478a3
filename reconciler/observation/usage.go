package observation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// Amounts are resources by name: CPU in thousandths, everything else in whole units.
type Amounts map[corev1.ResourceName]int64

// Node is what counts of a node.
type Node struct {
	Ready       bool
	Allocatable Amounts
}

// NodeOf returns what counts of a node.
func NodeOf(n *corev1.Node) Node {
	ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return Node{Ready: ready, Allocatable: amountsOf(n.Status.Allocatable)}
}

// Pod is what counts of a pod.
type Pod struct {
	Node     string // empty: it waits for one
	Ended    bool
	Requests Amounts // shared among pods that request the same, and not changed
}

// PodOf returns what counts of a pod. Its containers run together, each init container alone.
func PodOf(p *corev1.Pod) Pod {
	total := Amounts{}
	for i := range p.Spec.Containers {
		total.add(amountsOf(p.Spec.Containers[i].Resources.Requests), 1)
	}
	for i := range p.Spec.InitContainers {
		for name, n := range amountsOf(p.Spec.InitContainers[i].Resources.Requests) {
			total[name] = max(total[name], n)
		}
	}
	total.add(amountsOf(p.Spec.Overhead), 1)
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	return Pod{Node: p.Spec.NodeName, Ended: ended, Requests: total}
}

func amountsOf(list corev1.ResourceList) Amounts {
	a := make(Amounts, len(list))
	for name, q := range list {
		if name == corev1.ResourceCPU {
			a[name] = q.MilliValue()
		} else {
			a[name] = q.Value()
		}
	}
	return a
}

// add adds so many times what b has.
func (a Amounts) add(b Amounts, times int64) {
	for name, n := range b {
		a[name] += times * n
	}
}

// list is the amounts as quantities; nil if there are none.
func (a Amounts) list() corev1.ResourceList {
	var list corev1.ResourceList
	for name, n := range a {
		if list == nil {
			list = make(corev1.ResourceList, len(a))
		}
		list[name] = quantity(name, n)
	}
	return list
}

func quantity(name corev1.ResourceName, n int64) resource.Quantity {
	switch {
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		return *resource.NewQuantity(n, resource.BinarySI)
	default:
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// Usage is the nodes of a cluster and what its pods request, by their names.
type Usage struct {
	Nodes map[string]Node
	Pods  map[string]Pod
}

// Room is what a cluster offers, and what pods take of it, as Karmada sums it up.
type Room struct {
	Nodes     karmada.NodeSummary
	Resources karmada.ResourceSummary
	// atMost are the grades of Resources by a more generous measure; see grades.
	atMost []karmada.AllocatableModeling
}

// Room sums up (Karmada section C.2). Every node counts, whether or not it takes pods.
func (u *Usage) Room(models []karmada.ResourceModel) Room {
	allocatable, allocated, allocating := Amounts{}, Amounts{}, Amounts{}
	var r Room
	for _, n := range u.Nodes {
		allocatable.add(n.Allocatable, 1)
		r.Nodes.TotalNum++
		if n.Ready {
			r.Nodes.ReadyNum++
		}
	}
	taken := make(map[string]Amounts, len(u.Nodes))
	one := Amounts{corev1.ResourcePods: 1}
	for _, p := range u.Pods {
		switch {
		case p.Node == "":
			allocating.add(p.Requests, 1)
			allocating.add(one, 1)
		case !p.Ended:
			if taken[p.Node] == nil {
				taken[p.Node] = Amounts{}
			}
			taken[p.Node].add(p.Requests, 1)
			taken[p.Node].add(one, 1)
		}
	}
	for _, t := range taken {
		allocated.add(t, 1)
	}
	r.Resources = karmada.ResourceSummary{Allocatable: allocatable.list(), Allocated: allocated.list(), Allocating: allocating.list()}
	if len(models) == 0 {
		return r
	}
	var free []Amounts
	for name, n := range u.Nodes {
		left := maps.Clone(n.Allocatable)
		left.add(taken[name], -1)
		if left[corev1.ResourcePods] > 0 || len(taken[name]) == 0 {
			free = append(free, left)
		}
	}
	r.Resources.AllocatableModelings, r.atMost = grades(models, free, 0), grades(models, free, lenience)
	return r
}
