// Package window is arithmetic on schedules: when a cron line last came about, and
// when it does next. Time is an argument; nothing here waits.
//
// # Decisions
//
// The zone is a field of its own: the prefixes TZ= and CRON_TZ=, which the library
// takes and crashes on when they are malformed, are refused. Weekday 7 is Sunday,
// as 0 is; the library does not know it. A time that a change
// of the clock skips does not come about that day, one that it repeats comes about
// once.
package window

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// farBack is how far back Last looks: a schedule that came about in no year of the
// last eight, one of which is a leap year, never does.
const farBack = 8 * 366 * 24 * time.Hour

// Schedule is a cron line in a zone. The zero value is no schedule.
type Schedule struct {
	cron cron.Schedule
	zone *time.Location
}

// Parse reads a cron line of five fields, or one of @hourly, @daily and so on, in
// a zone of the IANA database; an empty zone is UTC.
func Parse(line, zone string) (Schedule, error) {
	if strings.Contains(line, "TZ=") {
		return Schedule{}, fmt.Errorf("schedule %q has a zone in it; write it as timeZone", line)
	}
	if strings.HasPrefix(strings.TrimSpace(line), "@every") {
		return Schedule{}, fmt.Errorf("schedule %q has no fixed times; write a cron line", line)
	}
	at, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return Schedule{}, fmt.Errorf("time zone %q is not in the IANA database", zone)
	}
	c, err := cron.ParseStandard(Sundays(line))
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q is no cron line of five fields: %w", line, err)
	}
	s := Schedule{cron: c, zone: at}
	if _, ok := s.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); !ok {
		return Schedule{}, errors.New("schedule " + line + " never comes about")
	}
	return s, nil
}

// Sundays returns the line with 0 for weekday 7, which the library does not know. A
// range that ends in 7 becomes a list. A line without one is returned as it is.
func Sundays(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 5 || !strings.Contains(fields[4], "7") {
		return line
	}
	var days []string
	for part := range strings.SplitSeq(fields[4], ",") {
		days = append(days, sunday(part)...)
	}
	fields[4] = strings.Join(days, ",")
	return strings.Join(fields, " ")
}

var daysToSunday = regexp.MustCompile(`^(?:([0-7])-)?7(?:/([1-9]))?$`)

// sunday spells out a part of a list of weekdays that ends in 7.
func sunday(part string) []string {
	m := daysToSunday.FindStringSubmatch(part)
	if m == nil {
		return []string{part}
	}
	first, step := 7, 1
	if m[1] != "" {
		first = int(m[1][0] - '0')
	}
	if m[2] != "" {
		step = int(m[2][0] - '0')
	}
	var days []string
	for day := first; day <= 7; day += step {
		days = append(days, strconv.Itoa(day%7))
	}
	return days
}

// Next returns the first time after now at which the schedule comes about.
func (s Schedule) Next(now time.Time) (time.Time, bool) {
	next := s.cron.Next(now.In(s.zone))
	return next.UTC(), !next.IsZero()
}

// Last returns the latest time, now included, at which the schedule came about.
func (s Schedule) Last(now time.Time) (time.Time, bool) {
	for back := time.Hour; ; back *= 8 {
		back = min(back, farBack)
		if last, ok := s.within(now, back); ok {
			return last, true
		}
		if back == farBack {
			return time.Time{}, false
		}
	}
}

// within returns the latest time of the span that ends with now. A span in which
// the schedule comes about often is halved until few times are left to walk.
func (s Schedule) within(now time.Time, span time.Duration) (time.Time, bool) {
	first := s.cron.Next(now.Add(-span).In(s.zone))
	if first.IsZero() || first.After(now) {
		return time.Time{}, false
	}
	for span > time.Hour {
		if next := s.cron.Next(now.Add(-span / 2).In(s.zone)); next.IsZero() || next.After(now) {
			break
		}
		span /= 2
	}
	last := first
	for next := s.cron.Next(now.Add(-span).In(s.zone)); !next.IsZero() && !next.After(now); next = s.cron.Next(next) {
		last = next
	}
	return last.UTC(), true
}
