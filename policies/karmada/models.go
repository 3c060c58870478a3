package karmada

import (
	"cmp"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultResourceModels returns the grades that Karmada's API server gives a cluster
// without models (Karmada section A.13): nine, of CPU and memory. Default does not
// add them, because models count only beside a count of nodes in each grade. The
// caller owns the result.
func DefaultResourceModels() []ResourceModel {
	const gi = 1 << 30
	cpu := [...]int64{0, 1, 2, 4, 8, 16, 32, 64, 128, math.MaxInt64}
	memory := [...]int64{0, 4 * gi, 16 * gi, 32 * gi, 64 * gi, 128 * gi, 256 * gi, 512 * gi, 1024 * gi, math.MaxInt64}
	models := make([]ResourceModel, len(cpu)-1)
	for i := range models {
		models[i] = ResourceModel{Grade: uint(i), Ranges: []ResourceModelRange{
			{
				Name: corev1.ResourceCPU,
				Min:  *resource.NewQuantity(cpu[i], resource.DecimalSI),
				Max:  *resource.NewQuantity(cpu[i+1], resource.DecimalSI),
			},
			{
				Name: corev1.ResourceMemory,
				Min:  *resource.NewQuantity(memory[i], resource.BinarySI),
				Max:  *resource.NewQuantity(memory[i+1], resource.BinarySI),
			},
		}}
	}
	return models
}

func byGrade(a, b ResourceModel) int { return cmp.Compare(a.Grade, b.Grade) }
