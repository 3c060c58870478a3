package fleet_test

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

func list(pairs ...string) corev1.ResourceList {
	l := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		l[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// sized has 8 cpus, some of them taken, and no models.
func sized() karmada.Cluster {
	return karmada.Cluster{Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
		Allocatable: list("cpu", "8", "memory", "16131904Ki", "pods", "110"),
		Allocated:   list("cpu", "950m", "memory", "290Mi", "pods", "9"),
	}}}
}

// modelled has nodes of one grade of Karmada's default models.
func modelled(allocatable corev1.ResourceList, grade uint, nodes int) karmada.Cluster {
	c := karmada.Cluster{Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
		Allocatable:          allocatable,
		AllocatableModelings: []karmada.AllocatableModeling{{Grade: 0}, {Grade: grade, Count: nodes}},
	}}}
	if grade == 0 {
		c.Status.ResourceSummary.AllocatableModelings = []karmada.AllocatableModeling{{Grade: 0, Count: nodes}}
	}
	cpu := []string{"0", "1", "2", "4", "8", "16", "32", "64", "128"}
	memory := []string{"0", "4Gi", "16Gi", "32Gi", "64Gi", "128Gi", "256Gi", "512Gi", "1024Gi"}
	for g := range cpu {
		c.Spec.ResourceModels = append(c.Spec.ResourceModels, karmada.ResourceModel{Grade: uint(g), Ranges: []karmada.ResourceModelRange{
			{Name: corev1.ResourceCPU, Min: resource.MustParse(cpu[g])},
			{Name: corev1.ResourceMemory, Min: resource.MustParse(memory[g])},
		}})
	}
	return c
}

// summed is the same cluster without models.
func summed(c karmada.Cluster) karmada.Cluster {
	c.Spec.ResourceModels = nil
	return c
}

// TestRoom holds what Karmada's own estimator answers.
func TestRoom(t *testing.T) {
	pending := sized()
	pending.Status.ResourceSummary.Allocating = list("cpu", "2", "pods", "4")
	podless := sized()
	podless.Status.ResourceSummary.Allocatable = maps.Clone(podless.Status.ResourceSummary.Allocatable)
	delete(podless.Status.ResourceSummary.Allocatable, "pods")
	large := modelled(list("cpu", "8", "memory", "32Gi", "pods", "110"), 3, 1)
	medium := modelled(list("cpu", "7900m", "memory", "31Gi", "pods", "110"), 2, 1)
	three := modelled(list("cpu", "12", "memory", "48Gi", "pods", "330"), 2, 3)
	small := modelled(list("cpu", "900m", "memory", "3Gi", "pods", "110"), 0, 1)
	uncounted := modelled(list("cpu", "8", "memory", "32Gi", "pods", "110"), 3, 1)
	uncounted.Status.ResourceSummary.AllocatableModelings = nil
	none, half := list(), list("cpu", "500m")
	one, three3 := list("cpu", "1", "memory", "4Gi"), list("cpu", "3", "memory", "4Gi")
	disk := list("ephemeral-storage", "1Gi")

	tests := []struct {
		name    string
		cluster karmada.Cluster
		request corev1.ResourceList // nil: no requirements
		want    int32
	}{
		{"a cluster without a summary has no room", karmada.Cluster{}, nil, 0},
		{"without requirements free pods count", sized(), nil, 101},
		{"an empty request is the same", sized(), none, 101},
		{"cpu counts in thousandths", sized(), list("cpu", "100m"), 70},
		{"the scarcer of two resources counts", sized(), list("cpu", "500m", "memory", "1Gi"), 14},
		{"pending pods are taken off", pending, list("cpu", "500m", "memory", "1Gi"), 10},
		{"a resource the cluster does not have", sized(), list("nvidia.com/gpu", "1"), 0},
		{"a cluster without pods has no room", podless, nil, 0},
		{"requests for nothing are passed over", sized(), list("cpu", "0", "nvidia.com/gpu", "0"), 101},
		{"8c/32Gi modelled, half a cpu", large, half, 8},
		{"8c/32Gi modelled, 1c/4Gi", large, one, 4},
		{"8c/32Gi modelled, 3c/4Gi", large, three3, 1},
		{"8c/32Gi modelled, empty request", large, none, 110},
		{"8c/32Gi modelled, no requirements", large, nil, 110},
		{"8c/32Gi modelled, a resource outside the models", large, disk, 0},
		{"8c/32Gi summed, half a cpu", summed(large), half, 16},
		{"8c/32Gi summed, 3c/4Gi", summed(large), three3, 2},
		{"7.9c/31Gi modelled, half a cpu", medium, half, 4},
		{"7.9c/31Gi modelled, 1c/4Gi", medium, one, 2},
		{"7.9c/31Gi modelled, 3c/4Gi", medium, three3, 0},
		{"7.9c/31Gi modelled, empty request", medium, none, 110},
		{"7.9c/31Gi modelled, no requirements", medium, nil, 110},
		{"7.9c/31Gi modelled, a resource outside the models", medium, disk, 0},
		{"7.9c/31Gi summed, half a cpu", summed(medium), half, 15},
		{"7.9c/31Gi summed, 3c/4Gi", summed(medium), three3, 2},
		{"three nodes of 4c/16Gi modelled, half a cpu", three, half, 12},
		{"three nodes of 4c/16Gi modelled, 1c/4Gi", three, one, 6},
		{"three nodes of 4c/16Gi modelled, 3c/4Gi", three, three3, 0},
		{"three nodes of 4c/16Gi modelled, empty request", three, none, 330},
		{"three nodes of 4c/16Gi modelled, no requirements", three, nil, 330},
		{"three nodes of 4c/16Gi modelled, a resource outside the models", three, disk, 0},
		{"three nodes of 4c/16Gi summed, half a cpu", summed(three), half, 24},
		{"three nodes of 4c/16Gi summed, 3c/4Gi", summed(three), three3, 4},
		{"0.9c/3Gi modelled, half a cpu", small, half, 0},
		{"0.9c/3Gi modelled, 1c/4Gi", small, one, 0},
		{"0.9c/3Gi modelled, 3c/4Gi", small, three3, 0},
		{"0.9c/3Gi modelled, empty request", small, none, 110},
		{"0.9c/3Gi modelled, no requirements", small, nil, 110},
		{"0.9c/3Gi modelled, a resource outside the models", small, disk, 0},
		{"0.9c/3Gi summed, half a cpu", summed(small), half, 1},
		{"0.9c/3Gi summed, 3c/4Gi", summed(small), three3, 0},
		{"models are not asked without requirements", modelled(list("pods", "500"), 3, 2), nil, 500},
		{"models without numbers of nodes do not count, so that the sum does", uncounted, three3, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r *karmada.ReplicaRequirements
			if tt.request != nil {
				r = &karmada.ReplicaRequirements{ResourceRequest: tt.request}
			}
			c := fleet.New([]karmada.Cluster{tt.cluster}).Clusters()[0]
			if got := c.Room(fleet.NewDemand(r)); got != tt.want {
				t.Errorf("Room(%v) = %d, want %d", tt.request, got, tt.want)
			}
		})
	}
}

func TestRoomIsBounded(t *testing.T) {
	taken := karmada.Cluster{Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
		Allocatable: list("cpu", "1", "pods", "10"),
		Allocated:   list("cpu", "2", "pods", "3"),
	}}}
	vast := karmada.Cluster{Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
		Allocatable: list("pods", "1T"),
	}}}
	foreign := modelled(list("cpu", "8", "pods", "50"), 12, 2)
	negative := modelled(list("cpu", "8", "pods", "50"), 3, -2)
	few := modelled(list("cpu", "80", "memory", "320Gi", "pods", "5"), 3, 10)
	tests := []struct {
		name    string
		cluster karmada.Cluster
		request corev1.ResourceList
		want    int32
	}{
		{"more is taken than there is", taken, list("cpu", "1m"), 0},
		{"more room than replicas can be", vast, nil, 1<<31 - 1},
		{"a virtual node holds 110 pods at most", modelled(list("pods", "500"), 3, 2), list("cpu", "1m"), 220},
		{"free pods bound what models say", few, list("cpu", "1m"), 5},
		{"counted grades that the models lack have no node", foreign, list("cpu", "1"), 0},
		{"negative counts count for nothing, so that the sum does", negative, list("cpu", "1"), 8},
		{"models are asked about a pod that claims a node and requests nothing", modelled(list("pods", "500"), 3, 2), nil, 220},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := fleet.New([]karmada.Cluster{tt.cluster}).Clusters()[0]
			if got := c.Room(fleet.NewDemand(&karmada.ReplicaRequirements{ResourceRequest: tt.request})); got != tt.want {
				t.Errorf("Room(%v) = %d, want %d", tt.request, got, tt.want)
			}
		})
	}
}
