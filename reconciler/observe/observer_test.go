package observe

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

// TestWhatIsButRoomWaits follows two clusters through the looks at them, minute by minute.
func TestWhatIsButRoomWaits(t *testing.T) {
	facts := func(version string, pods int64) *observation.Facts {
		u := observation.Usage{Nodes: map[string]observation.Node{"n": {Allocatable: observation.Amounts{"pods": pods}}}}
		room := u.Room(nil)
		return &observation.Facts{Health: observation.Healthy, Room: &room, Served: &observation.Served{Version: version, APIs: []karmada.APIEnablement{{GroupVersion: "v1"}}}}
	}
	w := watches{"eu": {tracker: &observation.Tracker{}}, "us": {tracker: &observation.Tracker{}}, "new": {tracker: &observation.Tracker{}}}
	recorded := map[string]*karmada.ClusterStatus{}
	last := time.Time{}
	for _, tt := range []struct {
		minute int
		eu, us *observation.Facts
		want   string
	}{
		{0, facts("v1.35.0", 100), facts("v1.35.0", 100), "eu: Ready is True (ClusterReady), version v1.35.0, what it serves (1 group versions), CompleteAPIEnablements is True (Complete), room\n" +
			"us: Ready is True (ClusterReady), version v1.35.0, what it serves (1 group versions), CompleteAPIEnablements is True (Complete), room"},
		{1, facts("v1.35.0", 101), facts("v1.35.0", 100), ""},
		{2, facts("v1.35.0", 50), facts("v1.35.0", 100), "eu: room"},
		{3, facts("v1.35.0", 50), facts("v1.35.0", 50), ""},
		{4, facts("v1.36.0", 50), facts("v1.35.0", 50), ""}, // it may be that of one of several servers
		{5, facts("v1.36.0", 50), facts("v1.35.0", 50), "eu: version v1.36.0"},
		{6, facts("v1.36.0", 20), facts("v1.35.0", 50), ""},
		{7, facts("v1.36.0", 20), facts("v1.35.0", 50), "eu: room\nus: room"},
	} {
		now := time.Unix(int64(60*tt.minute), 0)
		w["eu"].latest, w["us"].latest, w["eu"].at, w["us"].at = tt.eu, tt.us, now, now
		c := w.changes(recorded, now, last)
		if d := cmp.Diff(tt.want, c.why); d != "" {
			t.Errorf("minute %d: %s", tt.minute, d)
		}
		maps.Copy(recorded, c.statuses)
		if len(c.statuses) > 0 && !c.soon {
			last = now
		}
	}
	if some := w.of([]*karmada.Cluster{{}}); len(some) != 0 {
		t.Errorf("%v are registered", some)
	}
}

// TestWhatHappensToManyIsRecordedAtOnce has two clusters be lost, of which one is looked at some
// seconds later.
func TestWhatHappensToManyIsRecordedAtOnce(t *testing.T) {
	w, recorded := watches{}, map[string]*karmada.ClusterStatus{}
	look := func(second int, name string, is observation.Health) changes {
		one := w[name]
		one.latest, one.at = &observation.Facts{Health: is}, time.Unix(int64(second), 0)
		c := w.changes(recorded, one.at, time.Time{})
		maps.Copy(recorded, c.statuses)
		return c
	}
	for _, name := range []string{"eu", "us", "ap"} {
		w[name] = &watched{tracker: &observation.Tracker{}}
		look(0, name, observation.Healthy)
	}
	for second := 10; second < 48; second++ {
		if second%10 == 0 {
			if c := look(second, "eu", observation.Unreachable); len(c.statuses) > 0 {
				t.Errorf("after %d s %q is recorded of one alone", second, c.why)
			}
		}
		if second%10 == 8 {
			look(second, "ap", observation.Healthy)
			if c := look(second, "us", observation.Unreachable); len(c.statuses) > 0 {
				t.Errorf("after %d s %q is recorded", second, c.why)
			}
		}
	}
	if c := look(48, "us", observation.Unreachable); len(c.statuses) != 2 {
		t.Errorf("of both together %q is recorded", c.why)
	}
}
