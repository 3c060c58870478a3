package window

import (
	"testing"
	"time"
)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLastAndNext(t *testing.T) {
	for _, tt := range []struct{ name, line, zone, now, last, next string }{
		{"a weekday morning, before it", "0 8 * * 1-5", "", "2026-11-20T07:59:59Z", "2026-11-19T08:00:00Z", "2026-11-20T08:00:00Z"},
		{"at the second itself", "0 8 * * 1-5", "", "2026-11-20T08:00:00Z", "2026-11-20T08:00:00Z", "2026-11-23T08:00:00Z"},
		{"every five minutes, at the second itself", "*/5 * * * *", "", "2026-11-20T08:05:00Z", "2026-11-20T08:05:00Z", "2026-11-20T08:10:00Z"},
		{"over the weekend", "0 8 * * 1-5", "", "2026-11-22T12:00:00Z", "2026-11-20T08:00:00Z", "2026-11-23T08:00:00Z"},
		{"in another zone", "0 8 * * *", "Asia/Tokyo", "2026-11-20T00:00:00Z", "2026-11-19T23:00:00Z", "2026-11-20T23:00:00Z"},
		{"once in four years", "0 0 29 2 *", "", "2027-06-01T00:00:00Z", "2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"once in eight years", "0 0 29 2 *", "", "2104-02-28T23:59:00Z", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z"},
		{"so late that nobody looks for the next time", "0 0 29 2 *", "", "2097-06-01T00:00:00Z", "2096-02-29T00:00:00Z", ""},
		{"weekday 7", "0 8 * * 7", "", "2026-11-20T12:00:00Z", "2026-11-15T08:00:00Z", "2026-11-22T08:00:00Z"},
		{"a range to weekday 7", "0 8 * * 6-7", "", "2026-11-21T12:00:00Z", "2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z"},
		{"a range to weekday 7 in steps", "0 8 * * 3-7/2", "", "2026-11-21T12:00:00Z", "2026-11-20T08:00:00Z", "2026-11-22T08:00:00Z"},
		{"weekday 7 in a list", "0 8 * * 1,7", "", "2026-11-22T12:00:00Z", "2026-11-22T08:00:00Z", "2026-11-23T08:00:00Z"},
		{"every minute", "* * * * *", "", "2026-11-20T07:59:59Z", "2026-11-20T07:59:00Z", "2026-11-20T08:00:00Z"},
		{"two o'clock on the day that has none", "0 2 * * *", "America/Los_Angeles", "2026-03-08T20:00:00Z", "2026-03-07T10:00:00Z", "2026-03-09T09:00:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Parse(tt.line, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			if last, ok := s.Last(at(t, tt.now)); !ok || !last.Equal(at(t, tt.last)) {
				t.Errorf("the last time is %v, want %s", last, tt.last)
			}
			switch next, ok := s.Next(at(t, tt.now)); {
			case ok != (tt.next != ""), ok && !next.Equal(at(t, tt.next)):
				t.Errorf("the next time is %v, want %s", next, tt.next)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range [][2]string{
		{"TZ=0", ""},
		{"TZ=", ""},
		{"CRON_TZ=UTC 0 8 * * *", ""},
		{"0 8 * *", ""},
		{"61 * * * *", ""},
		{"0 0 30 2 *", ""},
		{"@every 1h", ""},
		{"0 8 * * *", "Mars/Olympus"},
		{"0 8 * * *", "Local"},
		{"", ""},
	} {
		if _, err := Parse(tt[0], tt[1]); err == nil {
			t.Errorf("schedule %q in zone %q is taken", tt[0], tt[1])
		}
	}
}

// FuzzLast checks that no time lies between the last and now, and that it is one.
func FuzzLast(f *testing.F) {
	f.Add("*/7 3-5 * * 1", int64(1_700_000_000))
	f.Add("0 0 1 1 *", int64(1_800_000_000))
	f.Fuzz(func(t *testing.T, line string, unix int64) {
		s, err := Parse(line, "Europe/Berlin")
		if err != nil || unix < 0 || unix > 4e9 {
			t.Skip()
		}
		now := time.Unix(unix, 0)
		last, ok := s.Last(now)
		if !ok {
			return
		}
		if next, ok := s.Next(last); last.After(now) || ok && !next.After(now) {
			t.Errorf("%q: the last time before %v is %v, but %v follows it", line, now, last, next)
		}
		if again, ok := s.Next(last.Add(-time.Second)); !ok || !again.Equal(last) {
			t.Errorf("%q: %v is no time of the schedule", line, last)
		}
	})
}
