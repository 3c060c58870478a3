package services_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
)

func TestWhatBooksHave(t *testing.T) {
	of := func(names ...string) map[types.NamespacedName]bool {
		all := map[types.NamespacedName]bool{}
		for _, name := range names {
			all[types.NamespacedName{Namespace: "shop", Name: name}] = true
		}
		return all
	}
	got := services.BookedBy([]services.Booked{
		{Clusters: []string{"eu-1", "us-1"}, Services: []string{"shop/api"}}, {Clusters: []string{"us-2"}, Services: []string{"shop/api", "shop/web"}},
	})
	want := map[string]map[types.NamespacedName]bool{"eu-1": of("api"), "us-1": of("api"), "us-2": of("api", "web")}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("they are %v", got)
	}
	if got := services.BookedBy(nil); got != nil {
		t.Errorf("where nobody says they are %v", got)
	}
}
