package kubefleet_test

import (
	"testing"

	"github.com/waybill-dev/waybill/policies/kubefleet"
	"github.com/waybill-dev/waybill/render/object"
)

func TestIsStrategy(t *testing.T) {
	for ref, want := range map[object.Ref]bool{
		{Group: kubefleet.Group, Kind: "ClusterStagedUpdateStrategy", Name: "a"}:          true,
		{Group: kubefleet.Group, Kind: "StagedUpdateStrategy", Namespace: "b", Name: "a"}: true,
		{Group: kubefleet.Group, Kind: "ClusterStagedUpdateRun", Name: "a"}:               false,
		{Group: "example.com", Kind: "StagedUpdateStrategy", Namespace: "b", Name: "a"}:   false,
	} {
		if got := kubefleet.IsStrategy(ref); got != want {
			t.Errorf("%v is a strategy: %t", ref, got)
		}
	}
}
