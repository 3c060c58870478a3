package imagepolicy_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func read(t *testing.T, s imagepolicy.Spec) *imagepolicy.Rule {
	t.Helper()
	r, err := imagepolicy.Read(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name    string
		spec    imagepolicy.Spec
		current string
		tags    string
		major   bool
		want    string
		unfit   int
	}{
		{"the newest in the range", imagepolicy.Spec{Range: "1.x"}, "1.2.0", "1.2.0 1.10.0 1.9.0 2.0.0", false, "1.10.0", 1},
		{"a leading v", imagepolicy.Spec{Range: ">=1.0.0"}, "v1.2.0", "v1.2.0 v1.3.0", false, "v1.3.0", 0},
		{"no prerelease unasked", imagepolicy.Spec{Range: ">=1.0.0"}, "1.0.0", "1.0.0 1.1.0-rc.1", false, "", 1},
		{"a prerelease that is asked for", imagepolicy.Spec{Range: ">=1.0.0-0"}, "1.0.0", "1.0.0 1.1.0-rc.1", false, "1.1.0-rc.1", 0},
		{"what is no full version is passed over", imagepolicy.Spec{Range: "*"}, "1.0.0", "1.0.0 1.1 2 latest 1.0.1", false, "1.0.1", 3},
		{"what is no full version, of charts", imagepolicy.Spec{Range: "*", Loose: true}, "1.5", "1.0.0 1.4 1.6 latest 1.5.0", false, "1.6", 1},
		{"no other major unasked", imagepolicy.Spec{Range: "*"}, "1.0.0", "1.0.0 1.1.0 2.0.0", false, "1.1.0", 0},
		{"another major", imagepolicy.Spec{Range: "*"}, "1.0.0", "1.0.0 1.1.0 2.0.0", true, "2.0.0", 0},
		{"never down: the list shrank", imagepolicy.Spec{Range: "*"}, "1.5.0", "1.0.0 1.1.0", true, "", 0},
		{"never down: the range did", imagepolicy.Spec{Range: "1.x"}, "2.0.0", "1.0.0 1.1.0 2.0.0", true, "", 1},
		{"never down: the list is empty", imagepolicy.Spec{Range: "*"}, "1.5.0", "", true, "", 0},
		{"from what has no order", imagepolicy.Spec{Range: "1.x"}, "latest", "latest 1.0.0", false, "1.0.0", 1},
		{"the same version by another name", imagepolicy.Spec{Range: "*"}, "1.0.0", "v1.0.0 1.0.0", false, "", 0},
		{"numbers", imagepolicy.Spec{Numerical: imagepolicy.Ascending}, "9", "9 10 8 x", false, "10", 1},
		{"numbers, the lowest is the newest", imagepolicy.Spec{Numerical: imagepolicy.Descending}, "9", "9 10 8", false, "8", 0},
		{"letters", imagepolicy.Spec{Alphabetical: imagepolicy.Ascending}, "2026-01-02", "2026-01-02 2026-01-10 2025-12-31", false, "2026-01-10", 0},
		{"letters, the first is the newest", imagepolicy.Spec{Alphabetical: imagepolicy.Descending}, "b", "a b c", false, "a", 0},
		{
			"a filter that extracts",
			imagepolicy.Spec{Numerical: imagepolicy.Ascending, Pattern: `^main-[a-f0-9]+-(?P<ts>[0-9]+)$`, Extract: "$ts"},
			"main-abc-100", "main-abc-100 main-def-99 main-fff-101 dev-aaa-900", false, "main-fff-101", 1,
		},
		{"a filter alone", imagepolicy.Spec{Range: "*", Pattern: `^1\.`}, "1.0.0", "1.0.0 1.1.0 2.0.0", true, "1.1.0", 1},
		{"what is excluded", imagepolicy.Spec{Alphabetical: imagepolicy.Ascending, Excluded: []string{`^.*\.sig$`}}, "a", "a b sha256-00.sig", false, "b", 1},
		{"no number has no order", imagepolicy.Spec{Numerical: imagepolicy.Ascending}, "1", "1 NaN", false, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := read(t, tt.spec).Choose(imagepolicy.Facts{Now: now, Current: tt.current, Tags: strings.Fields(tt.tags), Major: tt.major})
			if c.Tag != tt.want || c.Unfit != tt.unfit {
				t.Errorf("chosen is %q, and %d do not fit; want %q and %d", c.Tag, c.Unfit, tt.want, tt.unfit)
			}
		})
	}
}

// The newest that is too young, kept back or of another major does not keep the next one from being taken.
func TestTheNextOneIsTaken(t *testing.T) {
	hour := func(n int) time.Time { return now.Add(time.Duration(-n) * time.Hour) }
	c := read(t, imagepolicy.Spec{Range: "*"}).Choose(imagepolicy.Facts{
		Now: now, Current: "1.0.0", Tags: []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "2.0.0"}, MinimumAge: 72 * time.Hour,
		FirstSeen: map[string]time.Time{"1.1.0": hour(200), "1.2.0": hour(72), "1.3.0": hour(100), "1.4.0": hour(71), "2.0.0": hour(500)},
		KeptBack:  map[string]string{"1.3.0": "it was reverted"},
	})
	want := imagepolicy.Choice{Tag: "1.2.0", Fit: 6, Newer: []imagepolicy.Newer{
		{Tag: "2.0.0", Since: hour(500), Why: imagepolicy.Major},
		{Tag: "1.4.0", Since: hour(71), Why: imagepolicy.TooYoung, Until: now.Add(time.Hour)},
		{Tag: "1.3.0", Since: hour(100), Why: imagepolicy.KeptBack, Message: "it was reverted"},
		{Tag: "1.2.0", Since: hour(72)},
		{Tag: "1.1.0", Since: hour(200), Why: imagepolicy.KeptBack, Message: "it is older than 1.3.0, which is kept back"},
	}}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
	// Of two spellings that are kept back each has its own reason.
	for tag, why := range map[string]string{"1.1.0": "it was reverted", "v1.1.0": "it failed"} {
		kept := read(t, imagepolicy.Spec{Range: "*"}).Choose(imagepolicy.Facts{
			Now: now, Current: "1.0.0", Tags: []string{tag}, KeptBack: map[string]string{"1.1.0": "it was reverted", "v1.1.0": "it failed"},
		})
		if kept.Tag != "" || kept.Newer[0].Message != why {
			t.Errorf("of %s is said %+v, want %s", tag, kept, why)
		}
	}
	// What was never seen before is seen now.
	fresh := read(t, imagepolicy.Spec{Range: "*"}).Choose(imagepolicy.Facts{Now: now, Current: "1.0.0", Tags: []string{"1.1.0"}, MinimumAge: time.Second})
	if fresh.Tag != "" || len(fresh.Newer) != 1 || fresh.Newer[0].Why != imagepolicy.TooYoung {
		t.Errorf("of what nobody saw before is chosen %+v", fresh)
	}
}

// TestWhatIsOlderThanWhatWasSentBack: who sent 1.3.0 back gets no version that there was when it came; a fix of an older line is news.
func TestWhatIsOlderThanWhatWasSentBack(t *testing.T) {
	hour := func(n int) time.Time { return now.Add(time.Duration(-n) * time.Hour) }
	for _, tt := range []struct {
		name string
		kept string
		seen map[string]time.Time
		want string
	}{
		{"it was there before", "1.3.0", map[string]time.Time{"1.2.0": hour(9), "1.3.0": hour(5)}, ""},
		{"they came together", "1.3.0", map[string]time.Time{"1.2.0": hour(5), "1.3.0": hour(5)}, ""},
		{"it came later", "1.3.0", map[string]time.Time{"1.2.0": hour(4), "1.3.0": hour(5)}, "1.2.0"},
		{"nobody knows when that came", "1.3.0", map[string]time.Time{"1.2.0": hour(4)}, ""},
		{"an older one was sent back", "1.1.0", map[string]time.Time{"1.2.0": hour(9), "1.1.0": hour(5)}, "1.2.0"},
		{"what a tag stood for was sent back", "1.3.0@sha256:00", map[string]time.Time{"1.2.0": hour(9), "1.3.0": hour(5)}, "1.2.0"},
		{"what was sent back is no version", "latest", map[string]time.Time{"1.2.0": hour(9), "latest": hour(5)}, "1.2.0"},
	} {
		c := read(t, imagepolicy.Spec{Range: "*"}).Choose(imagepolicy.Facts{
			Now: now, Current: "1.0.0", Tags: []string{"1.0.0", "1.2.0"}, FirstSeen: tt.seen, KeptBack: map[string]string{tt.kept: "it was reverted"},
		})
		if c.Tag != tt.want {
			t.Errorf("%s: chosen is %q, want %q", tt.name, c.Tag, tt.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct {
		spec  imagepolicy.Spec
		field string
	}{
		{imagepolicy.Spec{Range: "one"}, "Range"},
		{imagepolicy.Spec{Numerical: "up"}, "Numerical"},
		{imagepolicy.Spec{Alphabetical: "up"}, "Alphabetical"},
		{imagepolicy.Spec{Range: "*", Pattern: "("}, "Pattern"},
		{imagepolicy.Spec{Range: "*", Pattern: "(?!x)"}, "Pattern"}, // not in RE2
		{imagepolicy.Spec{Range: "*", Excluded: []string{"x", "["}}, "Excluded"},
	} {
		_, err := imagepolicy.Read(tt.spec)
		if wrong, ok := errors.AsType[*imagepolicy.FieldError](err); !ok || wrong.Field != tt.field || wrong.Problem == "" {
			t.Errorf("%+v: the error is %v, want one of %s", tt.spec, err, tt.field)
		}
	}
}

func TestFitsOne(t *testing.T) {
	for pattern, want := range map[string]bool{"": false, "^latest$": true, "latest": false, "latest$": false, "^latest": false, "^v1.2$": false, `^v1\.2$`: true, "^(a|b)$": false, "^1": false} {
		if got := read(t, imagepolicy.Spec{Alphabetical: imagepolicy.Ascending, Pattern: pattern}).FitsOne(); got != want {
			t.Errorf("the pattern %q fits one tag: %v, want %v", pattern, got, want)
		}
	}
}

// FuzzChoose holds what is chosen to its laws: it is one of the tags, newer than what is in use, old enough, not kept
// back, and the same whatever order the tags are in; and there is none above it that might have been taken.
func FuzzChoose(f *testing.F) {
	f.Add("1.0.0", "1.0.0 1.1.0 v1.1.0 2.0.0 x", uint8(0), uint64(5))
	f.Add("9", "9 10 8", uint8(1), uint64(0))
	f.Add("b", "a b c", uint8(2), uint64(7))
	f.Fuzz(func(t *testing.T, current, list string, order uint8, bits uint64) {
		spec := []imagepolicy.Spec{{Range: "*-0"}, {Numerical: imagepolicy.Ascending}, {Alphabetical: imagepolicy.Descending}, {Range: ">=1"}}[order%4]
		r := read(t, spec)
		tags := strings.Fields(list)
		facts := imagepolicy.Facts{Now: now, Current: current, Tags: tags, MinimumAge: time.Hour, FirstSeen: map[string]time.Time{}, KeptBack: map[string]string{}, Major: bits&1 == 0}
		for i, tag := range tags {
			switch bits >> (i % 32 * 2) & 3 {
			case 0, 1:
				facts.FirstSeen[tag] = now.Add(-time.Hour)
			case 2:
				facts.FirstSeen[tag] = now.Add(-time.Minute)
			default:
				facts.KeptBack[tag] = "why"
			}
		}
		c := r.Choose(facts)
		facts.Tags = slices.Clone(tags)
		slices.Reverse(facts.Tags)
		if again := r.Choose(facts); again.Tag != c.Tag {
			t.Fatalf("chosen is %q, and in another order %q", c.Tag, again.Tag)
		}
		if c.Tag == "" {
			return
		}
		if _, kept := facts.KeptBack[c.Tag]; kept || !slices.Contains(tags, c.Tag) || !facts.FirstSeen[c.Tag].Equal(now.Add(-time.Hour)) {
			t.Fatalf("%q is chosen", c.Tag)
		}
		if n, known := r.Compare(c.Tag, current); known && n <= 0 {
			t.Fatalf("%q is chosen, which is not newer than %q", c.Tag, current)
		}
		for _, n := range c.Newer {
			if above, _ := r.Compare(n.Tag, c.Tag); above > 0 && n.Why == "" {
				t.Fatalf("%q is chosen, and %q above it might be", c.Tag, n.Tag)
			}
		}
	})
}

// What a tag stood for when it was kept back says nothing of other tags, in whatever order these are.
func TestWhatATagStoodForIsKeptBack(t *testing.T) {
	c := read(t, imagepolicy.Spec{Alphabetical: imagepolicy.Ascending}).Choose(imagepolicy.Facts{
		Now: now, Current: "a", Tags: []string{"a", "b"}, KeptBack: map[string]string{"c@sha256:00": "it was reverted"},
	})
	if c.Tag != "b" {
		t.Errorf("chosen is %+v", c)
	}
}

func TestCompare(t *testing.T) {
	r := read(t, imagepolicy.Spec{Range: "1.x"})
	for _, tt := range []struct {
		a, b  string
		newer int
		known bool
	}{{"2.0.0", "1.0.0", 1, true}, {"1.0.0", "1.0.1", -1, true}, {"v1.0.0", "1.0.0", 0, true}, {"latest", "1.0.0", 0, false}, {"1.0.0", "latest", 0, false}} {
		if newer, known := r.Compare(tt.a, tt.b); newer != tt.newer || known != tt.known {
			t.Errorf("%s beside %s is %d, %v", tt.a, tt.b, newer, known)
		}
	}
}

// A version that is kept back is so in every spelling of it.
func TestKeptBackInAnotherSpelling(t *testing.T) {
	r := read(t, imagepolicy.Spec{Range: "*"})
	c := r.Choose(imagepolicy.Facts{Now: now, Current: "1.0.0", Tags: []string{"1.0.0", "v1.1.0"}, KeptBack: map[string]string{"1.1.0": "it was reverted"}})
	if c.Tag != "" || len(c.Newer) != 1 || c.Newer[0].Message != "it was reverted" {
		t.Errorf("chosen is %+v", c)
	}
}
