package observation

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// steps is how many values there are from one power of two to the next.
const steps = 8

// rounded is an amount that is free, as it is recorded: rounded down to one of the values, which
// are dense where amounts are small: up to 16 all of them.
func rounded(free int64) int64 {
	width := bits.Len64(uint64(max(free, 0))) - bits.Len(steps)
	if width <= 0 {
		return max(free, 0)
	}
	return free >> width << width
}

// holds reports whether a recorded amount still stands for what is free: at least that is free,
// and at most a quarter more. What was rounded a moment ago is far from either bound.
func holds(recorded, free int64) bool {
	recorded, free = max(recorded, 0), max(free, 0)
	return recorded <= free && free-recorded <= recorded/4
}

// isRecorded reports whether a recorded summary, which may be nil, still stands for the room.
func (r *Room) isRecorded(recorded *karmada.ResourceSummary) bool {
	if recorded == nil || !graded(recorded.AllocatableModelings, r.Resources.AllocatableModelings, r.atMost) {
		return false
	}
	was, is := fleet.Free(recorded), fleet.Free(&r.Resources)
	for name, free := range is {
		if before, known := was[name]; !known || !holds(before, free) {
			return false
		}
	}
	return len(was) == len(is)
}

// rounded is the summary that is recorded: allocatable, allocating and the grades are as they
// are, and allocated is such that what is free is rounded.
func (r *Room) rounded() *karmada.ResourceSummary {
	out := &karmada.ResourceSummary{
		Allocatable: r.Resources.Allocatable, Allocated: corev1.ResourceList{}, Allocating: corev1.ResourceList{},
		AllocatableModelings: r.Resources.AllocatableModelings,
	}
	for name, free := range fleet.Free(&r.Resources) {
		offered := amountsOf(r.Resources.Allocatable)[name]
		waiting := amountsOf(r.Resources.Allocating)[name]
		taken := offered - waiting - free
		if free > 0 {
			taken = offered - waiting - rounded(free)
		}
		if taken != 0 {
			out.Allocated[name] = quantity(name, taken)
		}
		if waiting != 0 {
			out.Allocating[name] = quantity(name, waiting)
		}
	}
	return out
}
