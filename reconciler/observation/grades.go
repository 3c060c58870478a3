package observation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/karmada"
)

// lenience is the part of a lower bound, one in so many, that a node may lack to be of a grade
// by the generous measure. A node that hovers at the bound of its grade is always of the higher
// one by that measure, and so changes nothing that is recorded.
const lenience = 8

// modelled are the resources that Karmada knows when it grades nodes. A node has none of any
// other.
var modelled = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage}

// grades counts nodes by grade, by what is free on each: a node is of the last grade whose lower
// bounds it has all of, less one in so many; zero is none less.
func grades(models []karmada.ResourceModel, free []Amounts, less int64) []karmada.AllocatableModeling {
	counts := make([]karmada.AllocatableModeling, len(models))
	bounds := make([]Amounts, len(models))
	for i := range models {
		counts[i].Grade = models[i].Grade
		bounds[i] = Amounts{}
		for _, r := range models[i].Ranges {
			bounds[i].add(amountsOf(map[corev1.ResourceName]resource.Quantity{r.Name: r.Min}), 1)
		}
	}
	for _, have := range free {
		grade := 0
		for i := range bounds {
			if has(have, bounds[i], less) {
				grade = i
			}
		}
		counts[grade].Count++
	}
	return counts
}

func has(have, bound Amounts, less int64) bool {
	for name, n := range bound {
		if less > 0 {
			n -= n / less
		}
		h := have[name]
		if !slices.Contains(modelled, name) {
			h = 0
		}
		if n > 0 && h < n {
			return false
		}
	}
	return true
}

// graded reports whether a recorded count of nodes still stands for what there is: as many nodes
// are of a grade or a higher one as by the strict measure at least, and by the generous one at
// most, give or take one in eight.
func graded(recorded, atLeast, atMost []karmada.AllocatableModeling) bool {
	same := func(a, b karmada.AllocatableModeling) bool { return a.Grade == b.Grade }
	if !slices.EqualFunc(recorded, atLeast, same) {
		return false
	}
	var r, least, most int
	for i := range slices.Backward(recorded) {
		r, least, most = r+recorded[i].Count, least+atLeast[i].Count, most+atMost[i].Count
		if r < least-least/8 || r > most+most/8 {
			return false
		}
	}
	return true
}
