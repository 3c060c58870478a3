package reconciler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
)

func TestHeldClustersAreTold(t *testing.T) {
	sync := reconciler.Sync{Result: reconciler.Result{Plan: plan.Plan{Clusters: []plan.Cluster{
		{Name: "eu"}, {Name: "us", Held: &guard.Hold{Reason: "it would lose all"}},
	}}}}
	want := []events.Event{{Cluster: "us", Warning: true, Reason: "Held", Message: "it would lose all; it would lose 0 objects, and nothing is published for it"}}
	if d := cmp.Diff(want, sync.Events()); d != "" {
		t.Error(d)
	}
}
