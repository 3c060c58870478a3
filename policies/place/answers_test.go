package place

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
)

// TestAnswersAreThoseOfTheScheduler asks each question twice: the answers are those of the
// scheduler, and share a list only where nothing of a template decides.
func TestAnswersAreThoseOfTheScheduler(t *testing.T) {
	s, err := Compile(placement(t, "{replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}"), fleet.New(clusters(t, "a=10 b=10")), SpreadKarmada)
	if err != nil {
		t.Fatal(err)
	}
	requirements := &karmada.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	answers := Answers{}
	for i, tt := range []struct {
		r      Request
		shares bool
	}{
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 4}, true},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 5}, true},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 4, Requirements: requirements}, true},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 1}, true},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 1, Most: 9}, true},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 1, Components: 2}, true},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 4, AlsoServed: func(string) bool { return false }}, false},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 4, Evicting: []string{"a"}}, false},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 4, Previous: targets(t, "a:4")}, false},
		{Request{APIVersion: "apps/v1", Kind: "Deployment", Replicas: 4, Only: func(name string) bool { return name == "b" }}, false},
	} {
		first, again, want := answers.Schedule(s, tt.r), answers.Schedule(s, tt.r), s.Schedule(tt.r)
		if !reflect.DeepEqual(first, want) || !reflect.DeepEqual(again, want) || len(want.Targets) == 0 {
			t.Errorf("question %d: %+v, then %+v, want %+v", i, first, again, want)
		}
		if shares := &first.Targets[0] == &again.Targets[0]; shares != tt.shares {
			t.Errorf("question %d: the answers share a list: %t", i, shares)
		}
	}
}
