package place_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
)

func cluster(name, pods string) karmada.Cluster {
	return karmada.Cluster{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: karmada.ClusterStatus{ResourceSummary: &karmada.ResourceSummary{
			Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)},
		}},
	}
}

// Twelve replicas are divided by the room that clusters have.
func ExampleScheduler_Schedule() {
	f := fleet.New([]karmada.Cluster{cluster("paris", "18"), cluster("oslo", "12"), cluster("bern", "6")})
	s, err := place.Compile(&karmada.Placement{
		ClusterAffinity: &karmada.ClusterAffinity{ExcludeClusters: []string{"bern"}},
		ReplicaScheduling: &karmada.ReplicaScheduling{
			WeightPreference: &karmada.ClusterPreferences{DynamicWeight: karmada.DynamicWeightByAvailableReplicas},
		},
	}, f, place.SpreadKarmada)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := place.Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 12}
	for _, t := range s.Schedule(r).Targets {
		fmt.Println(t.Name, t.Replicas)
	}
	fmt.Println(s.Explain(r).Clusters[0].Rejected)
	// Output:
	// oslo 5
	// paris 7
	// name "bern" is excluded
}

// Ten completions are divided by the replicas that clusters have.
func ExampleDivide() {
	for _, s := range place.Divide(10, []place.Weight{{Name: "paris", Weight: 2}, {Name: "oslo", Weight: 1}}) {
		fmt.Println(s.Name, s.Seats)
	}
	// Output:
	// oslo 3
	// paris 7
}
