package fleet

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// nodePods is how many pods a virtual node of a resource model holds, whatever
// its grade (Karmada section A.13).
const nodePods = 110

// Demand is what one replica asks of a cluster, prepared once so that a thousand
// clusters can be asked about it. The zero value asks for nothing but a pod.
type Demand struct {
	asks  bool // it has requirements, if only for a node: resource models are then asked
	needs []need
}

// need is one resource of a demand. The amount is positive: in thousandths for
// cpu, in whole units for everything else.
type need struct {
	name   corev1.ResourceName
	amount int64
}

// NewDemand prepares the requirements of a replica. Nil, and resources of which
// none is requested, ask for nothing. The node claim plays no part: resource
// models and sums know no nodes (section A.13).
func NewDemand(r *karmada.ReplicaRequirements) Demand {
	if r == nil {
		return Demand{}
	}
	d := Demand{asks: true}
	for name, q := range r.ResourceRequest {
		if n := units(name, q); n > 0 {
			d.needs = append(d.needs, need{name, n})
		}
	}
	return d
}

// units is a quantity as the estimator counts it, rounded up.
func units(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// capacity is what a cluster has left, in the units of need. The zero value has
// room for nothing.
type capacity struct {
	pods     int64
	free     map[corev1.ResourceName]int64 // by resource that the cluster has at all
	modelled bool                          // judge by grades, not by free
	grades   []grade
}

// grade is so many virtual nodes that have just the minimum of their grade.
type grade struct {
	nodes int64
	least map[corev1.ResourceName]int64
}

func newCapacity(c *karmada.Cluster) capacity {
	summary := c.Status.ResourceSummary
	if summary == nil {
		return capacity{}
	}
	free := Free(summary)
	return capacity{
		pods: free[corev1.ResourcePods], free: free, grades: newGrades(c),
		modelled: isModelled(c),
	}
}

// Free is what a summary says is free, of each resource that the cluster has at all: in
// thousandths for cpu, in whole units for everything else. It is negative where more is asked for
// than there is.
func Free(s *karmada.ResourceSummary) map[corev1.ResourceName]int64 {
	free := make(map[corev1.ResourceName]int64, len(s.Allocatable))
	for name, q := range s.Allocatable {
		left := q.DeepCopy()
		left.Sub(s.Allocated[name])
		left.Sub(s.Allocating[name])
		free[name] = units(name, left)
	}
	return free
}

// isModelled reports whether models count: they are there, and so are numbers of nodes,
// none of them negative.
func isModelled(c *karmada.Cluster) bool {
	counted := c.Status.ResourceSummary.AllocatableModelings
	return len(c.Spec.ResourceModels) > 0 && len(counted) > 0 &&
		!slices.ContainsFunc(counted, func(m karmada.AllocatableModeling) bool { return m.Count < 0 })
}

// newGrades joins the counted grades with what a node of each has at least. A grade
// that the models do not have has no node.
func newGrades(c *karmada.Cluster) []grade {
	var grades []grade
	for _, counted := range c.Status.ResourceSummary.AllocatableModelings {
		for _, model := range c.Spec.ResourceModels {
			if model.Grade != counted.Grade {
				continue
			}
			least := make(map[corev1.ResourceName]int64, len(model.Ranges))
			for _, r := range model.Ranges {
				least[r.Name] = units(r.Name, r.Min)
			}
			grades = append(grades, grade{nodes: int64(counted.Count), least: least})
		}
	}
	return grades
}

// Room returns how many more replicas of d the cluster has room for, at most
// math.MaxInt32, as Karmada's general estimator does (section A.13): bounded by
// free pods, and by resource models where the cluster has them or else by the
// sum of what is free. A cluster without a resource summary has no room.
func (c *Cluster) Room(d Demand) int32 {
	room := c.capacity.pods
	if d.asks && room > 0 {
		if c.capacity.modelled {
			room = min(room, c.capacity.inGrades(d))
		} else {
			room = min(room, fitting(d, c.capacity.free))
		}
	}
	return int32(min(max(room, 0), math.MaxInt32))
}

// inGrades places single replicas on virtual nodes, first fit.
func (c capacity) inGrades(d Demand) int64 {
	var room int64
	for _, g := range c.grades {
		room += g.nodes * min(nodePods, fitting(d, g.least))
	}
	return room
}

// fitting is how many times d fits into have; a resource that is not there fits
// no time.
func fitting(d Demand, have map[corev1.ResourceName]int64) int64 {
	times := int64(math.MaxInt64)
	for _, n := range d.needs {
		times = min(times, max(have[n.name], 0)/n.amount)
	}
	return times
}
