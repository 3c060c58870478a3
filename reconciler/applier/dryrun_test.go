package applier_test

import (
	"slices"
	"testing"
)

// TestADryRunWritesNothing, be it that something is to be applied, or that the cluster is suspended.
func TestADryRunWritesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	in, eu := s.publish("", "settings")
	if res := s.applier.Apply(t.Context(), in, eu); res.Err != nil || res.Failed() {
		t.Fatalf("%v, %+v", res.Err, res.Report)
	}
	for _, annotations := range []string{"", "waybill.dev/suspended: because"} {
		in, eu = s.publish(annotations, "settings", "extra")
		in.State = in.Head
		written := s.server.Writes()
		s.applier.DryRun = true
		res := s.applier.Apply(t.Context(), in, eu)
		if res.Err != nil || res.Report.Plan.Requests() != 1 || !slices.Equal(s.server.Writes(), written) {
			t.Errorf("with %q it comes to %v, %d requests, and %v", annotations, res.Err, res.Report.Plan.Requests(), s.server.Writes()[len(written):])
		}
	}
}
