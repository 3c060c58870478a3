package bench

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/render/object"
)

// BenchmarkScheduleAndOverride places 1,000 templates over 1,000 clusters with
// spread constraints and dynamic weights, and overrides each in ten regions: one
// operation is all of them, on one core.
func BenchmarkScheduleAndOverride(b *testing.B) {
	clusters := make([]karmada.Cluster, 1000)
	for i := range clusters {
		c := &clusters[i]
		c.Name, c.Spec.Region = fmt.Sprintf("c%04d", i), fmt.Sprintf("r%d", i%10)
		c.Status.ResourceSummary = &karmada.ResourceSummary{Allocatable: corev1.ResourceList{
			"cpu": *resource.NewQuantity(int64(8+i%64), resource.DecimalSI), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110"),
		}}
	}
	placement := &karmada.Placement{
		SpreadConstraints: []karmada.SpreadConstraint{
			{SpreadByField: karmada.SpreadByFieldRegion, MinGroups: 2, MaxGroups: 4}, {SpreadByField: karmada.SpreadByFieldCluster, MinGroups: 10, MaxGroups: 400},
		},
		ReplicaScheduling: &karmada.ReplicaScheduling{
			ReplicaSchedulingType: karmada.ReplicaSchedulingTypeDivided, ReplicaDivisionPreference: karmada.ReplicaDivisionPreferenceWeighted,
			WeightPreference: &karmada.ClusterPreferences{DynamicWeight: karmada.DynamicWeightByAvailableReplicas},
		},
	}
	regional := &karmada.Overriders{
		ImageOverrider:  []karmada.ImageOverrider{{Component: karmada.ImageRegistry, Operator: karmada.OverriderOpReplace, Value: "r.example.com"}},
		LabelsOverrider: []karmada.LabelAnnotationOverrider{{Operator: karmada.OverriderOpAdd, Value: map[string]string{"region": "r"}}},
	}
	web := object.Decode("a.yaml", []byte(template(0, "shop", "plain"))).Objects[0].Content()
	needs := &karmada.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")}}
	f := fleet.New(clusters)
	b.ReportAllocs()
	for b.Loop() {
		s, err := place.Compile(placement, f, place.SpreadKarmada)
		if err != nil {
			b.Fatal(err)
		}
		for i := range 1000 {
			d := s.Schedule(place.Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: int32(100 + i), Requirements: needs})
			if d.Reason != place.Success {
				b.Fatal(d.Message)
			}
			for range 10 {
				if _, _, err := override.Apply(web, regional); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
