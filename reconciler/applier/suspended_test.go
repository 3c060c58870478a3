package applier_test

import (
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/suspend"
)

// TestASuspendedClusterRemembersTheLastState: to go back to a state before it ends no suspension, and is not remembered in its place.
func TestASuspendedClusterRemembersTheLastState(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	publish := func(annotations string, names ...string) (*published.Desired, *karmada.Cluster) {
		in, eu := s.publish(annotations, names...)
		in.State = in.Head // as for who asks for signatures
		return in, eu
	}
	before, eu := publish("", "settings")
	if res := s.applier.Apply(t.Context(), before, eu); res.Err != nil || res.Failed() {
		t.Fatalf("%v, %+v", res.Err, res.Report)
	}
	first, eu := publish(suspend.Suspended+": first", "settings", "more")
	if res := s.applier.Apply(t.Context(), first, eu); res.Err != nil || res.Suspension.Why == "" {
		t.Fatalf("%v, %+v", res.Err, res.Suspension)
	}
	second, eu := publish(suspend.Suspended+": second", "settings", "more")
	if res := s.applier.Apply(t.Context(), second, eu); res.Err != nil || res.Suspension.Why == "" {
		t.Fatalf("%v, %+v", res.Err, res.Suspension)
	}
	var refused *ancestry.RefusedError
	for range 2 {
		if res := s.applier.Apply(t.Context(), first, first.Clusters[0]); !errors.As(res.Err, &refused) || refused.Applied != second.State {
			t.Errorf("by a suspension of before: %v", res.Err)
		}
		if res := s.applier.Apply(t.Context(), before, before.Clusters[0]); !errors.As(res.Err, &refused) || refused.Applied != second.State {
			t.Errorf("by what was said before the suspension: %v", res.Err)
		}
	}
	if s.server.Get(configMap("more")) != nil {
		t.Error("it is applied to")
	}
}
