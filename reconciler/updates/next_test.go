package updates_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/policies/window"
	"github.com/waybill-dev/waybill/reconciler/updates"
)

// TestNext: registries are asked again when the first of their intervals is over, or, with a schedule, when one of its lines comes about.
func TestNext(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	image := func(interval time.Duration, why updates.Why) updates.Subscription {
		return updates.Subscription{Policy: &images.Policy{Repository: &images.Repository{Interval: interval}}, Why: why}
	}
	chart := updates.Subscription{Chart: &updates.Chart{}}
	for _, tt := range []struct {
		name     string
		schedule []string
		zone     string
		all      []updates.Subscription
		want     time.Time
	}{
		{"nothing is subscribed to", nil, "", nil, time.Time{}},
		{"the shorter interval", nil, "", []updates.Subscription{image(time.Hour, ""), image(5*time.Minute, "")}, now.Add(5 * time.Minute)},
		{"charts", nil, "", []updates.Subscription{chart}, now.Add(time.Hour)},
		{"what is suspended is not asked", nil, "", []updates.Subscription{image(time.Minute, updates.Suspended), chart}, now.Add(time.Hour)},
		{"a schedule", []string{"0 6 * * *"}, "", []updates.Subscription{image(time.Minute, "")}, time.Date(2026, 11, 25, 6, 0, 0, 0, time.UTC)},
		{"the sooner of two lines", []string{"0 6 * * *", "30 14 * * 2"}, "", nil, time.Date(2026, 11, 24, 14, 30, 0, 0, time.UTC)},
		{"a schedule of somewhere", []string{"0 14 * * *"}, "Europe/Berlin", nil, time.Date(2026, 11, 24, 13, 0, 0, 0, time.UTC)},
	} {
		var schedule []updates.Schedule
		for _, line := range tt.schedule {
			s, err := window.Parse(line, tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			schedule = append(schedule, s)
		}
		if len(schedule) > 0 {
			schedule = append(schedule, never{})
		}
		if got := updates.Next(now, schedule, tt.all); !got.Equal(tt.want) {
			t.Errorf("%s: the next time is %s, want %s", tt.name, got, tt.want)
		}
	}
}

// never is a schedule that does not come about.
type never struct{}

// Last implements updates.Schedule.
func (never) Last(now time.Time) (time.Time, bool) { return now, false }

// Next implements updates.Schedule.
func (never) Next(now time.Time) (time.Time, bool) { return now, false }

// TestDue: a schedule is due once each time that it comes about, however late somebody looks, and also where the clock changes.
func TestDue(t *testing.T) {
	for _, tt := range []struct {
		name, line, zone, last, now string
		want                        bool
	}{
		{"it came about", "0 6 * * *", "", "2026-11-24T05:59:00Z", "2026-11-24T06:00:00Z", true},
		{"it did not yet", "0 6 * * *", "", "2026-11-24T05:00:00Z", "2026-11-24T05:59:59Z", false},
		{"it was looked since", "0 6 * * *", "", "2026-11-24T06:00:00Z", "2026-11-24T06:01:00Z", false},
		{"nobody looked for days", "0 6 * * *", "", "2026-11-20T06:00:00Z", "2026-11-24T23:00:00Z", true},
		{"a time that a change of the clock skips", "30 2 29 3 *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T12:00:00Z", false},
		{"a clock that was ten years ahead", "0 6 * * *", "", "2036-11-24T06:00:00Z", "2026-11-24T06:00:00Z", true},
		{"a clock that goes back", "0 6 * * *", "", "2026-11-24T06:00:00Z", "2026-11-24T05:00:00Z", false},
	} {
		s, err := window.Parse(tt.line, tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		at := func(text string) time.Time {
			is, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			return is
		}
		if got := updates.Due([]updates.Schedule{s}, at(tt.last), at(tt.now)); got != tt.want {
			t.Errorf("%s: due is %t", tt.name, got)
		}
		if !updates.Due(nil, at(tt.last), at(tt.now)) || updates.Due([]updates.Schedule{never{}}, at(tt.last), at(tt.now)) {
			t.Errorf("%s: without a schedule it is not due, or by one that never comes about it is", tt.name)
		}
	}
}
