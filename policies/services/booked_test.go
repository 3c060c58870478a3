package services_test

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
)

// TestWhatABookHas of a cluster that is named more than once, or never.
func TestWhatABookHas(t *testing.T) {
	all := []services.Booked{
		{Clusters: []string{"eu-1", "us-1"}, Services: []string{"shop/api"}}, {Clusters: []string{"us-1"}, Services: []string{"shop/web"}},
	}
	for cluster, want := range map[string][]string{"eu-1": {"api"}, "us-1": {"api", "web"}, "us-2": nil} {
		of := map[types.NamespacedName]bool{}
		for _, name := range want {
			of[types.NamespacedName{Namespace: "shop", Name: name}] = true
		}
		if got := services.BookedOf(all, cluster); got == nil || !maps.Equal(got, of) {
			t.Errorf("of %s it is %v", cluster, got)
		}
	}
	if got := services.BookedOf(nil, "eu-1"); got != nil {
		t.Errorf("where nobody says it is %v", got)
	}
}
