package recheck_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
)

func TestRecheck(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) recheck.Recheck { return recheck.Recheck{}.By(now.Add(d), now) }
	for _, tt := range []struct {
		name string
		got  recheck.Recheck
		want recheck.Recheck
	}{
		{"what is now has happened", in(0), recheck.Recheck{Timed: true}},
		{"what has been, too", in(-time.Hour), recheck.Recheck{Timed: true}},
		{"parts of a second are rounded up", in(1500 * time.Millisecond), recheck.Recheck{Timed: true, At: now.Add(2 * time.Second)}},
		{"the earlier counts", in(time.Hour).By(now.Add(time.Minute), now), recheck.Recheck{Timed: true, At: now.Add(time.Minute)}},
		{"the later does not", in(time.Minute).By(now.Add(time.Hour), now), recheck.Recheck{Timed: true, At: now.Add(time.Minute)}},
		{"of two, the earlier", in(time.Hour).And(in(time.Minute)), recheck.Recheck{Timed: true, At: now.Add(time.Minute)}},
		{"never asks for nothing", recheck.Recheck{Awaits: true}.And(in(time.Minute)), recheck.Recheck{Timed: true, Awaits: true, At: now.Add(time.Minute)}},
		{"of two, the earlier, whichever comes first", in(time.Minute).And(in(time.Hour)), recheck.Recheck{Timed: true, At: now.Add(time.Minute)}},
		{"what clusters say may matter to either", recheck.Recheck{}.And(recheck.Recheck{Awaits: true}), recheck.Recheck{Awaits: true}},
		{"what nothing asks for", recheck.Recheck{}.And(recheck.Recheck{}), recheck.Recheck{}},
		{"and stays never", in(time.Minute).And(recheck.Recheck{}), recheck.Recheck{Timed: true, At: now.Add(time.Minute)}},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
}
