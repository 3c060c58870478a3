package validate

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/render/diag"
)

// checkResourceModels holds for grades as they are in force, that is by ascending grade,
// the first from nothing and the last without bound, whatever is written there
// (section C.1): no gap, no overlap, the same resources in each.
func checkResourceModels(fs *findings, models []karmada.ResourceModel, at field) {
	order := make([]int, len(models))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(models[a].Grade, models[b].Grade) })
	for place, i := range order {
		for j, r := range models[i].Ranges {
			oneOf(fs, at.at(i, "ranges", j, "name"), r.Name, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage)
			least := r.Min
			if place == 0 {
				least.Set(0)
			}
			if place < len(order)-1 && r.Max.Cmp(least) <= 0 {
				fs.fail(at.at(i, "ranges", j, "max"), diag.InvalidValue, fmt.Sprintf("%s is not more than min %s", r.Max.String(), least.String()), "")
			}
		}
		if place > 0 {
			checkFollowsModel(fs, models[order[place-1]], models[i], at.at(i))
		}
	}
}

// checkFollowsModel reports where a grade does not begin at the end of the one before.
func checkFollowsModel(fs *findings, before, m karmada.ResourceModel, at field) {
	if before.Grade == m.Grade {
		fs.fail(at.at("grade"), diag.DuplicateValue, fmt.Sprintf("%d is there already", m.Grade), "number the grades 0, 1, 2 and so on")
		return
	}
	if len(before.Ranges) != len(m.Ranges) {
		fs.fail(at.at("ranges"), diag.InvalidValue, fmt.Sprintf("has %d resources, grade %d has %d", len(m.Ranges), before.Grade, len(before.Ranges)), "list the same resources in every grade")
		return
	}
	for j, r := range m.Ranges {
		at := at.at("ranges", j)
		end := before.Ranges[j]
		switch {
		case r.Name != end.Name:
			fs.fail(at.at("name"), diag.InvalidValue, fmt.Sprintf("%q stands where grade %d has %q", r.Name, before.Grade, end.Name), "list the same resources in every grade, in one order")
		case r.Min.Cmp(end.Max) != 0:
			fs.fail(at.at("min"), diag.InvalidValue, fmt.Sprintf("%s does not go on where grade %d ends, at %s", r.Min.String(), before.Grade, end.Max.String()), "write the max of the grade before")
		}
	}
}
