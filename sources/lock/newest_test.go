package lock

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNewest(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	old := func(versions ...string) (all []Offer) {
		for _, v := range versions {
			all = append(all, Offer{v, ago(100 * day)})
		}
		return all
	}
	for _, tt := range []struct {
		name       string
		constraint string
		offers     []Offer
		locked     string
		take       string
		passed     []Passed
	}{
		{"the newest of the range", "^1.2", old("1.2.0", "1.10.0", "1.9.0"), "1.2.0", "1.10.0", nil},
		{"an empty constraint is any release", "", old("1.2.0", "3.0.0"), "1.2.0", "3.0.0", nil},
		{
			"the newest that is old enough", "1.x",
			[]Offer{{"1.4.0", ago(time.Hour)}, {"1.3.0", ago(3 * day)}, {"1.2.0", ago(9 * day)}},
			"1.2.0",
			"1.3.0",
			[]Passed{{"1.4.0", TooYoung, now.Add(71 * time.Hour)}},
		},
		{
			"the newest again and again younger does not starve", "1.x",
			[]Offer{{"1.9.0", now}, {"1.8.0", ago(day)}, {"1.7.0", ago(4 * day)}},
			"1.2.0",
			"1.7.0",
			[]Passed{{"1.9.0", TooYoung, now.Add(3 * day)}, {"1.8.0", TooYoung, now.Add(2 * day)}},
		},
		{"at the moment it is old enough", "1.x", []Offer{{"1.4.0", ago(3 * day)}}, "1.2.0", "1.4.0", nil},
		{"a clock that went back", "1.x", []Offer{{"1.4.0", now.Add(day)}}, "1.2.0", "", []Passed{{"1.4.0", TooYoung, now.Add(4 * day)}}},
		{"a major", "^1.2", old("2.0.0", "1.3.0"), "1.2.0", "1.3.0", []Passed{{"2.0.0", OutOfRange, time.Time{}}}},
		{
			"a pre-release", "^1.2", old("1.4.0-rc.1", "2.0.0-rc.1"), "1.2.0", "",
			[]Passed{{"2.0.0-rc.1", OutOfRange, time.Time{}}, {"1.4.0-rc.1", Prerelease, time.Time{}}},
		},
		{"a range that names pre-releases", ">=1.2-0", old("1.4.0-rc.1"), "1.2.0", "1.4.0-rc.1", nil},
		{"a release after its pre-release", ">=1.2-0", old("1.4.0-rc.1", "1.4.0"), "1.4.0-rc.1", "1.4.0", nil},
		{"never down: a list that shrank", "1.x", old("1.1.0", "1.0.0"), "1.2.0", "", nil},
		{"never down: an empty list", "1.x", nil, "1.2.0", "", nil},
		{"never down: a range below what is locked", "~1.1", old("1.1.9", "1.3.0"), "1.2.0", "", []Passed{{"1.3.0", OutOfRange, time.Time{}}}},
		{"nothing is locked", "1.x", old("1.1.0"), "", "1.1.0", nil},
		{"the same with other metadata is not newer", "*", old("1.2.0+b"), "1.2.0", "", nil},
		{"of two spellings the last", "*", old("1.3.0", "v1.3.0"), "1.2.0", "v1.3.0", nil},
		{"what is no full version", "*", old("1.4", "latest", "2", "1.3.0.1"), "1.2.0", "", nil},
		{"a version in full", "1.2.0", old("1.3.0"), "1.2.0", "", []Passed{{"1.3.0", OutOfRange, time.Time{}}}},
		{"a tag that moves", "latest", old("1.3.0"), "1.2.0", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			take, passed := Newest(tt.constraint, tt.offers, tt.locked, now, 3*day)
			if d := cmp.Diff(tt.passed, passed); take != tt.take || d != "" {
				t.Errorf("takes %q, want %q; passed (-want +got):\n%s", take, tt.take, d)
			}
		})
	}
	many := old()
	for i := range 50 {
		many = append(many, Offer{"2.0." + string(rune('0'+i%10)) + string(rune('0'+i/10)), now})
	}
	if _, passed := Newest("^1", many, "1.0.0", now, 0); len(passed) > 10 {
		t.Errorf("%d versions are told", len(passed))
	}
}

// FuzzNewest holds that it never goes down, and takes nothing that the constraint leaves out or that is too young.
func FuzzNewest(f *testing.F) {
	f.Add("^1.2", "1.3.0", "2.0.0", "1.2.0", int64(5))
	f.Add(">=1-0", "1.3.0-rc.1", "1.3.0", "v1.2.0", int64(0))
	f.Fuzz(func(t *testing.T, constraint, one, two, locked string, hours int64) {
		now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
		hours %= 1000
		offers := []Offer{{one, now.Add(-time.Duration(hours) * time.Hour)}, {two, now}}
		take, passed := Newest(constraint, offers, locked, now, 2*time.Hour)
		if take == "" {
			return
		}
		if take == two && take != one || hours < 2 {
			t.Errorf("%q is too young", take)
		}
		if len(newer([]Offer{{Version: take}}, locked)) == 0 {
			t.Errorf("%q is not newer than %q", take, locked)
		}
		if best, err := Pick([]string{take}, constraint); err != nil || best != take {
			t.Errorf("%q leaves %q out: %v", constraint, take, err)
		}
		for _, p := range passed {
			if len(newer([]Offer{{Version: p.Version}}, take)) == 0 && p.Version != take {
				t.Errorf("%q is not newer than %q", p.Version, take)
			}
		}
	})
}
