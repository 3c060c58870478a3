package notify

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
)

// TestWhatIsNotKnownIsNotUnhealthy tells of a cluster that does not answer, and of one that does.
func TestWhatIsNotKnownIsNotUnhealthy(t *testing.T) {
	for want, counts := range map[string]status.Counts{
		"Unreachable: of 12 objects 0 are not applied and 0 are not healthy; how 12 are is not known": {Objects: 12, Applied: 12, Unknown: 12},
		"Unhealthy: of 12 objects 0 are not applied and 1 are not healthy":                            {Objects: 12, Applied: 12, Healthy: 11, Unhealthy: 1},
	} {
		m := &reports.Cluster{}
		m.State, m.Report = status.Unreachable, &status.Report{}
		if counts.Unknown == 0 {
			m.State = status.Unhealthy
		}
		m.Report.Counts = counts
		if got := why(m); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	m := &reports.Cluster{}
	if m.State = status.Failing; why(m) != "Failing." {
		t.Errorf("of what nobody says more it says %q", why(m))
	}
}
