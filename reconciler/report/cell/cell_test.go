package cell_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/report/cell"
)

func TestShortFitsAColumn(t *testing.T) {
	for _, tt := range []struct {
		names, want string
	}{{"", ""}, {"a b", "a,b"}, {"a b c", "a,b,+1"}, {"a b c d", "a,b,+2"}} {
		if got := cell.Short(strings.Fields(tt.names), 2); got != tt.want {
			t.Errorf("Short(%q) is %q, want %q", tt.names, got, tt.want)
		}
	}
}

// TestWhatStandsInAColumn: nothing is a dash, an id is as short as Git has it, an age is a unit or two, and a cluster has its replicas.
func TestWhatStandsInAColumn(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) string { at := now.Add(-d); return cell.Age(&at, now) }
	got := map[string]string{
		"nothing": cell.Dash(""), "something": cell.Dash("a"),
		"no commit": cell.Commit(""), "a short one": cell.Commit("0123456789a"), "a whole one": cell.Commit("0123456789abcdef"),
		"never": cell.Age(nil, now), "no time": cell.Age(&time.Time{}, now), "now": ago(0), "a while ago": ago(90 * time.Second), "long ago": ago(50 * time.Hour),
		"nowhere": strings.Join(cell.Targets(nil), ","),
		"clusters": strings.Join(cell.Targets([]schedule.Target{
			{Name: "eu", Replicas: 12}, {Name: "us"}, {Name: "ap", Replicas: 1},
		}), ","),
	}
	want := map[string]string{
		"nothing": "-", "something": "a",
		"no commit": "", "a short one": "0123456789a", "a whole one": "0123456789ab",
		"never": "-", "no time": "-", "now": "0s", "a while ago": "90s", "long ago": "2d2h",
		"nowhere": "", "clusters": "eu:12,us,ap:1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("it is (-want +got):\n%s", diff)
	}
}
