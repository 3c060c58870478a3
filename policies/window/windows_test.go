package window

import (
	"testing"
	"time"
)

// TestWindowsAcrossAChangeOfTheClock holds that a window opens by the clock, and lasts by elapsed time: on
// 2026-03-29 Berlin goes from UTC+1 to UTC+2 at 01:00 UTC, and back on 2026-10-25.
func TestWindowsAcrossAChangeOfTheClock(t *testing.T) {
	for _, c := range []struct{ name, open, shut string }{
		{"a short night", "2026-03-28T21:00:00Z", "2026-03-29T05:00:00Z"},
		{"a long night", "2026-10-24T20:00:00Z", "2026-10-25T04:00:00Z"},
	} {
		s, err := Parse("0 22 * * 6", "Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		w := Window{Deny: true, Schedule: s, Duration: 8 * time.Hour}
		open, shut := at(t, c.open), at(t, c.shut)
		for now, want := range map[time.Time]bool{
			open.Add(-time.Second): false, open: true, shut.Add(-time.Second): true, shut: false,
		} {
			by, closed := Windows{w}.Closed(now)
			if w.IsOpen(now) != want || closed != want || closed && by != 0 {
				t.Errorf("%s at %s: open is %v, closed %v by %d", c.name, now, w.IsOpen(now), closed, by)
			}
		}
		if next := (Windows{w}).Opens(open); !next.Equal(shut) {
			t.Errorf("%s: it may happen again at %s", c.name, next)
		}
		if next := (Windows{w}).Next(open.Add(-time.Hour)); !next.Equal(open) {
			t.Errorf("%s: next at %s", c.name, next)
		}
	}
}

func TestWindowsTogether(t *testing.T) {
	of := func(deny bool, line string, hours int) Window {
		s, err := Parse(line, "")
		if err != nil {
			t.Fatal(err)
		}
		return Window{Deny: deny, Schedule: s, Duration: time.Duration(hours) * time.Hour}
	}
	night, lunch, early := of(false, "0 22 * * *", 8), of(true, "0 12 * * *", 1), of(true, "0 5 * * *", 2)
	for _, c := range []struct {
		name   string
		all    Windows
		now    string
		by     int
		closed bool
		opens  string
	}{
		{"none", nil, "12:00", -1, false, ""},
		{"none denies", Windows{lunch}, "11:00", -1, false, ""},
		{"one denies", Windows{lunch}, "12:00", 0, true, "2026-01-05T13:00:00Z"},
		{"none allows yet", Windows{night}, "12:00", -1, true, "2026-01-05T22:00:00Z"},
		{"one allows", Windows{lunch, night}, "23:00", -1, false, ""},
		{"the first of two allows", Windows{night, of(false, "0 12 * * *", 1)}, "23:00", -1, false, ""},
		{"denied, and then not allowed", Windows{night, early}, "05:30", 1, true, "2026-01-05T22:00:00Z"},
		{"neither allowed nor not denied", Windows{night, lunch}, "12:30", 1, true, "2026-01-05T22:00:00Z"},
	} {
		now := at(t, "2026-01-05T"+c.now+":00Z")
		by, closed := c.all.Closed(now)
		if by != c.by || closed != c.closed {
			t.Errorf("%s: closed is %v, by %d", c.name, closed, by)
		}
		if closed && !c.all.Opens(now).Equal(at(t, c.opens)) {
			t.Errorf("%s: opens at %s", c.name, c.all.Opens(now))
		}
	}
	if never := (Windows{of(true, "* * * * *", 1)}).Opens(at(t, "2026-01-05T00:00:00Z")); !never.IsZero() {
		t.Errorf("what is always denied happens at %s", never)
	}
}

// TestWhenAWindowChangesNext holds that the first of what opens or closes counts, whatever the order, and that what comes about no more,
// as a day that is none in 2100, changes nothing.
func TestWhenAWindowChangesNext(t *testing.T) {
	of := func(deny bool, line string) Window {
		s, err := Parse(line, "")
		if err != nil {
			t.Fatal(err)
		}
		return Window{Deny: deny, Schedule: s, Duration: 2 * time.Hour}
	}
	morning, noon, leap := of(true, "0 8 * * *"), of(true, "0 12 * * *"), of(false, "0 0 29 2 *")
	for _, c := range []struct {
		name        string
		all         Windows
		now         string
		next, opens string // empty for never
	}{
		{"one opens", Windows{noon}, "2026-01-05T11:00:00Z", "2026-01-05T12:00:00Z", ""},
		{"one closes before it opens again", Windows{noon}, "2026-01-05T13:00:00Z", "2026-01-05T14:00:00Z", "2026-01-05T14:00:00Z"},
		{"the first opens", Windows{morning, noon}, "2026-01-05T07:00:00Z", "2026-01-05T08:00:00Z", ""},
		{"the second opens", Windows{morning, noon}, "2026-01-05T11:00:00Z", "2026-01-05T12:00:00Z", ""},
		{"one opens at last", Windows{leap}, "2096-02-28T23:00:00Z", "2096-02-29T00:00:00Z", "2096-02-29T00:00:00Z"},
		{"one closes for good", Windows{leap}, "2096-02-29T01:00:00Z", "2096-02-29T02:00:00Z", ""},
		{"one is closed for good", Windows{leap}, "2096-02-29T02:00:00Z", "", ""},
		{"none allows for good", Windows{leap, noon}, "2096-02-29T12:30:00Z", "2096-02-29T14:00:00Z", ""},
		{"one is closed for good, and another opens", Windows{noon, leap}, "2096-02-29T02:00:00Z", "2096-02-29T12:00:00Z", ""},
	} {
		said := func(at time.Time) string {
			if at.IsZero() {
				return ""
			}
			return at.Format(time.RFC3339)
		}
		now := at(t, c.now)
		if got := said(c.all.Next(now)); got != c.next {
			t.Errorf("%s: next at %s, want %s", c.name, got, c.next)
		}
		if _, closed := c.all.Closed(now); closed {
			if got := said(c.all.Opens(now)); got != c.opens {
				t.Errorf("%s: opens at %s, want %s", c.name, got, c.opens)
			}
		}
	}
}

// TestAWindowThatComesAboutNoMore holds that it is closed, and not open ever since.
func TestAWindowThatComesAboutNoMore(t *testing.T) {
	s, err := Parse("0 0 29 2 *", "")
	if err != nil {
		t.Fatal(err)
	}
	for now, want := range map[string]bool{"2096-02-29T01:00:00Z": true, "2096-02-29T02:00:00Z": false, "2097-01-01T00:00:00Z": false} {
		w := Window{Deny: true, Schedule: s, Duration: 2 * time.Hour}
		if _, closed := (Windows{w}).Closed(at(t, now)); w.IsOpen(at(t, now)) != want || closed != want {
			t.Errorf("at %s it is open: %t, and denies: %t", now, w.IsOpen(at(t, now)), closed)
		}
	}
}

// TestSundays holds that a line without weekday 7 is returned as it is.
func TestSundays(t *testing.T) {
	for line, want := range map[string]string{
		"0  8 * * 1": "0  8 * * 1", "7 7 7 7 1": "7 7 7 7 1", "0 8 * *": "0 8 * *",
		"0 8 * * 7": "0 8 * * 0", "0 8 * * 5-7": "0 8 * * 5,6,0", "0 8 * * 1,5-7/2": "0 8 * * 1,5,0", "0 8 * * 7-1": "0 8 * * 7-1",
	} {
		if got := Sundays(line); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}
