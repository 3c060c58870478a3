package updates_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/planner"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/registry"
)

const repository = "ghcr.io/acme/web"

var (
	judged = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	shop   = images.Name{Namespace: "shop", Name: "web"}
)

// subscribed is an image policy of any version from 1.0.0 on, with a value that says the tag, or whatever an edit makes of it.
func subscribed(t *testing.T, edit func(*updates.Subscription)) *updates.Subscription {
	t.Helper()
	rule, err := imagepolicy.Read(imagepolicy.Spec{Range: ">=1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	s := &updates.Subscription{
		Policy: &images.Policy{Name: shop, Pinning: images.PinNever, Rule: rule}, Repository: repository, Rule: rule,
		Current: marker.Image{Name: repository, Tag: "1.0.0"}, Markers: []marker.Marker{{Pos: diag.Pos{File: "a.yaml", Line: 1}, Part: marker.Whole}},
	}
	if edit != nil {
		edit(s)
	}
	return s
}

// known are facts in which the repository has tags, each seen a day ago.
func known(tags ...string) updates.Facts {
	m := updates.NewMemory()
	m.See(repository, registry.Known{Tags: tags}, judged.Add(-24*time.Hour))
	return updates.Facts{Now: judged, Memory: m, Failed: map[string]error{}}
}

// TestJudge: what comes next of an image by what is known of it, and why nothing does; which digest is asked for, and how it is called.
func TestJudge(t *testing.T) {
	signed := func(f *updates.Facts) {
		f.Settings.Verify = []subscribe.Verify{{Images: []string{"ghcr.io/acme/*"}, Keys: []string{"cosign.pub"}}}
	}
	pinned := func(p images.Pinning) func(*updates.Subscription) {
		return func(s *updates.Subscription) { s.Policy.Pinning = p }
	}
	for name, tt := range map[string]struct {
		edit  func(*updates.Subscription)
		facts func(*updates.Facts)
		tags  string
		next  string // as it is written; empty: nothing
		asks  string
		why   updates.Why
		says  string
	}{
		"a newer one":                      {tags: "1.0.0 1.1.0", next: repository + ":1.1.0"},
		"nothing newer":                    {tags: "0.9.0 1.0.0", why: updates.UpToDate},
		"none that fits":                   {tags: "0.9.0 latest", edit: func(s *updates.Subscription) { s.Current = marker.Image{} }, why: updates.NothingFits, says: "none of 2 tags"},
		"a registry that is away":          {tags: "1.0.0 1.1.0", facts: func(f *updates.Facts) { f.Failed[repository] = errors.New("503") }, why: updates.NotAnswered, says: "503"},
		"another registry that is away":    {tags: "1.0.0 1.1.0", facts: func(f *updates.Facts) { f.Failed["ghcr.io/acme/api"] = errors.New("503") }, next: repository + ":1.1.0"},
		"a policy that is suspended":       {tags: "1.0.0 1.1.0", edit: func(s *updates.Subscription) { s.Why = updates.Suspended }, facts: func(f *updates.Facts) { f.Failed[repository] = errors.New("503") }, why: updates.Suspended},
		"one that is kept back":            {tags: "1.0.0 1.1.0", facts: func(f *updates.Facts) { f.Memory.KeepBack(shop, "1.1.0", "it was closed") }, why: updates.UpToDate},
		"one that another one keeps back":  {tags: "1.0.0 1.1.0", facts: func(f *updates.Facts) { f.Memory.KeepBack(images.Name{Namespace: "shop", Name: "api"}, "1.1.0", "why") }, next: repository + ":1.1.0"},
		"one that is too young":            {tags: "1.0.0 1.1.0", facts: func(f *updates.Facts) { f.Settings.MinimumAge = metav1.Duration{Duration: 25 * time.Hour} }, why: updates.UpToDate},
		"one that is just old enough":      {tags: "1.0.0 1.1.0", facts: func(f *updates.Facts) { f.Settings.MinimumAge = metav1.Duration{Duration: 24 * time.Hour} }, next: repository + ":1.1.0"},
		"another major":                    {tags: "1.0.0 2.0.0", why: updates.UpToDate},
		"another major that is wanted":     {tags: "1.0.0 2.0.0", facts: func(f *updates.Facts) { f.Settings.Major = true }, next: repository + ":2.0.0"},
		"a digest is written where one is": {tags: "1.0.0 1.1.0", edit: func(s *updates.Subscription) { s.Current.Digest = "sha256:a" }, next: repository + ":1.1.0", asks: repository + ":1.1.0"},
		"a digest of its own": {tags: "1.0.0 1.1.0", edit: func(s *updates.Subscription) {
			s.Markers = append(s.Markers, marker.Marker{Pos: diag.Pos{File: "a.yaml"}, Part: marker.Digest})
		}, next: repository + ":1.1.0", asks: repository + ":1.1.0"},
		"a digest that is always written": {tags: "1.0.0 1.1.0", edit: pinned(images.PinAlways), next: repository + ":1.1.0", asks: repository + ":1.1.0"},
		"a digest that follows its tag":   {tags: "1.0.0", edit: pinned(images.PinAlways), next: repository + ":1.0.0 moved", asks: repository + ":1.0.0"},
		"a digest that is not there yet":  {tags: "1.0.0", edit: pinned(images.PinIfNotPresent), next: repository + ":1.0.0 moved", asks: repository + ":1.0.0"},
		"a digest that is there":          {tags: "1.0.0", edit: func(s *updates.Subscription) { s.Policy.Pinning, s.Current.Digest = images.PinIfNotPresent, "sha256:a" }, why: updates.UpToDate},
		"a digest that is followed by another name": {
			tags: "1.0.0", next: "mirror.example/web:1.0.0 moved", asks: repository + ":1.0.0",
			edit: func(s *updates.Subscription) {
				s.Policy.Pinning, s.Current.Name = images.PinAlways, "mirror.example/web"
			},
		},
		"a tag that is gone":               {tags: "0.9.0", edit: pinned(images.PinAlways), why: updates.NothingFits, says: "none of 1 tags"},
		"one that has to be signed":        {tags: "1.0.0 1.1.0", facts: signed, next: repository + ":1.1.0", asks: repository + ":1.1.0"},
		"a tag alone, which is not signed": {tags: "1.0.0 1.1.0", facts: signed, edit: func(s *updates.Subscription) { s.Markers[0].Part = marker.Tag }, why: updates.Unverified, says: "a.yaml says a tag"},
		"a tag alone, which nobody has to sign": {
			tags: "1.0.0 1.1.0", edit: func(s *updates.Subscription) { s.Markers[0].Part = marker.Tag }, next: repository + ":1.1.0",
		},
		"a tag and a digest of one file": {tags: "1.0.0 1.1.0", facts: signed, edit: func(s *updates.Subscription) {
			s.Markers = []marker.Marker{{Pos: diag.Pos{File: "a.yaml"}, Part: marker.Tag}, {Pos: diag.Pos{File: "a.yaml"}, Part: marker.Digest}}
		}, next: repository + ":1.1.0", asks: repository + ":1.1.0"},
		"a tag and a digest of two files": {tags: "1.0.0 1.1.0", facts: signed, edit: func(s *updates.Subscription) {
			s.Markers = []marker.Marker{{Pos: diag.Pos{File: "a.yaml"}, Part: marker.Digest}, {Pos: diag.Pos{File: "b.yaml"}, Part: marker.Tag}}
		}, why: updates.Unverified, says: "b.yaml says a tag"},
		"a digest of the next file": {tags: "1.0.0 1.1.0", facts: signed, edit: func(s *updates.Subscription) {
			s.Markers = []marker.Marker{{Pos: diag.Pos{File: "a.yaml"}, Part: marker.Tag}, {Pos: diag.Pos{File: "b.yaml"}, Part: marker.Digest}}
		}, why: updates.Unverified, says: "a.yaml says a tag"},
		"a tag alone, and nothing is newer": {tags: "1.0.0", facts: signed, edit: func(s *updates.Subscription) { s.Markers[0].Part = marker.Tag }, why: updates.UpToDate},
		"a digest alone": {
			tags: "1.0.0 1.1.0 1.2.0", next: repository + ":1.2.0", asks: repository + ":1.2.0",
			edit: func(s *updates.Subscription) { s.Current = marker.Image{Name: repository, Digest: "sha256:b"} },
			facts: func(f *updates.Facts) {
				f.Memory.SeeDigest(repository, "1.1.0", "sha256:b", judged)
				f.Memory.SeeDigest(repository, "1.0.0", "sha256:b", judged)
			},
		},
		"a digest alone beside others": {
			tags: "1.0.0 1.1.0 1.2.0", next: repository + ":1.2.0", asks: repository + ":1.2.0",
			edit: func(s *updates.Subscription) { s.Current = marker.Image{Name: repository, Digest: "sha256:b"} },
			facts: func(f *updates.Facts) {
				f.Memory.SeeDigest(repository, "1.1.0", "sha256:b", judged)
				f.Memory.SeeDigest(repository, "1.2.0", "sha256:c", judged)
			},
		},
		"a digest alone of the newest": {
			tags: "1.0.0 1.1.0", why: updates.UpToDate,
			edit: func(s *updates.Subscription) { s.Current = marker.Image{Name: repository, Digest: "sha256:b"} },
			facts: func(f *updates.Facts) {
				f.Memory.SeeDigest(repository, "1.1.0", "sha256:b", judged)
				f.Memory.SeeDigest(repository, "1.0.0", "sha256:b", judged)
			},
		},
	} {
		f := known(strings.Fields(tt.tags)...)
		if tt.facts != nil {
			tt.facts(&f)
		}
		v := updates.Judge(subscribed(t, tt.edit), f)
		next := strings.TrimSuffix(v.Next.Name+":"+v.Next.Tag, ":")
		if v.Moved() {
			next += " moved"
		}
		if next != tt.next || v.Takes() != (tt.next != "") || v.Asks() != tt.asks || v.Why != tt.why || !strings.Contains(v.Message, tt.says) {
			t.Errorf("%s: next is %q, asked is %q, because %s %q; want %q, %q, %s %q", name, next, v.Asks(), v.Why, v.Message, tt.next, tt.asks, tt.why, tt.says)
		}
	}
}

// TestPin: a digest that is the one in use is nothing new, one that is kept back or too young is not taken, and one that is taken is called
// by its tag and itself.
func TestPin(t *testing.T) {
	for name, tt := range map[string]struct {
		edit  func(*updates.Subscription)
		facts func(*updates.Facts)
		key   string // of what is taken; empty: nothing is
		newer imagepolicy.Reason
		until time.Duration
	}{
		"the one in use": {edit: func(s *updates.Subscription) { s.Current.Digest = "sha256:b" }},
		"another one":    {key: "1.0.0@sha256:b"},
		"one kept back":  {facts: func(f *updates.Facts) { f.Memory.KeepBack(shop, "1.0.0@sha256:b", "why") }, newer: imagepolicy.KeptBack},
		"another kept back": {facts: func(f *updates.Facts) {
			f.Memory.KeepBack(shop, "1.0.0@sha256:a", "why")
			f.Memory.KeepBack(shop, "1.0.0", "why")
		}, key: "1.0.0@sha256:b"},
		"one too young": {facts: func(f *updates.Facts) { f.Settings.MinimumAge = metav1.Duration{Duration: time.Hour} }, newer: imagepolicy.TooYoung, until: time.Hour},
		"one old enough": {facts: func(f *updates.Facts) {
			f.Settings.MinimumAge = metav1.Duration{Duration: time.Hour}
			f.Memory.SeeDigest(repository, "1.0.0", "sha256:b", judged.Add(-time.Hour))
		}, key: "1.0.0@sha256:b"},
		"one almost old enough": {facts: func(f *updates.Facts) {
			f.Settings.MinimumAge = metav1.Duration{Duration: time.Hour}
			f.Memory.SeeDigest(repository, "1.0.0", "sha256:b", judged.Add(-59*time.Minute))
		}, newer: imagepolicy.TooYoung, until: time.Minute},
	} {
		f := known("1.0.0")
		if tt.facts != nil {
			tt.facts(&f)
		}
		v := updates.Judge(subscribed(t, func(s *updates.Subscription) {
			s.Policy.Pinning, s.Current.Digest = images.PinAlways, "sha256:a"
			if tt.edit != nil {
				tt.edit(s)
			}
		}), f)
		v.Pin("sha256:b", f)
		key := ""
		if v.Takes() {
			key = v.Key()
		}
		var why imagepolicy.Reason
		var until time.Time
		for _, n := range v.Choice.Newer {
			why, until = n.Why, n.Until
		}
		if key != tt.key || why != tt.newer || tt.until > 0 && !until.Equal(judged.Add(tt.until)) || (v.Why == updates.UpToDate) != (tt.key == "") {
			t.Errorf("%s: taken is %q (%s), not taken because %q until %s; want %q, %q", name, key, v.Why, why, until, tt.key, tt.newer)
		}
	}
	f := known("1.0.0", "1.1.0")
	v := updates.Judge(subscribed(t, nil), f)
	if v.Pin("sha256:b", f); v.Next.Digest != "" || v.Key() != "1.1.0" || !v.Takes() {
		t.Errorf("where no digest is written it is %+v", v.Next)
	}
}

// TestLearn: what the source says now shows what became of what was proposed: merged, reverted, or nothing yet.
func TestLearn(t *testing.T) {
	at := func(tag, digest string) marker.Image { return marker.Image{Name: repository, Tag: tag, Digest: digest} }
	for name, tt := range map[string]struct {
		from, to marker.Image
		merged   string
		now      marker.Image
		edit     func(*updates.Subscription)
		want     string // what is merged, or kept back, or open
	}{
		"nothing yet":                           {from: at("1.0.0", ""), to: at("1.1.0", ""), now: at("1.0.0", ""), want: "open"},
		"merged":                                {from: at("1.0.0", ""), to: at("1.1.0", ""), now: at("1.1.0", ""), want: "merged c0"},
		"merged with its digest":                {from: at("1.0.0", ""), to: at("1.1.0", "sha256:b"), now: at("1.1.0", "sha256:b"), want: "merged c0"},
		"the tag alone, by somebody":            {from: at("1.0.0", ""), to: at("1.1.0", "sha256:b"), now: at("1.1.0", "sha256:c"), want: "open"},
		"something newer, by somebody":          {from: at("1.0.0", ""), to: at("1.1.0", ""), now: at("1.2.0", ""), want: "open"},
		"merged before":                         {from: at("1.0.0", ""), to: at("1.1.0", ""), merged: "c9", now: at("1.1.0", ""), want: "merged c9"},
		"merged before, and something newer is": {from: at("1.0.0", ""), to: at("1.1.0", ""), merged: "c9", now: at("1.2.0", ""), want: "merged c9"},
		"reverted":                              {from: at("1.0.0", ""), to: at("1.1.0", ""), merged: "c9", now: at("1.0.0", ""), want: "kept back 1.1.0"},
		"reverted to something older":           {from: at("1.0.0", ""), to: at("1.2.0", ""), merged: "c9", now: at("1.1.0", ""), want: "kept back 1.2.0"},
		"a digest that was reverted":            {from: at("1.0.0", "sha256:a"), to: at("1.0.0", "sha256:b"), merged: "c9", now: at("1.0.0", "sha256:a"), want: "kept back 1.0.0@sha256:b"},
		"a digest that was merged":              {from: at("1.0.0", "sha256:a"), to: at("1.0.0", "sha256:b"), now: at("1.0.0", "sha256:b"), want: "merged c0"},
		"a digest alone that was merged":        {from: at("", "sha256:a"), to: at("1.1.0", "sha256:b"), now: at("", "sha256:b"), want: "merged c0"},
		"a digest alone that was reverted":      {from: at("", "sha256:a"), to: at("1.1.0", "sha256:b"), merged: "c9", now: at("", "sha256:a"), want: "kept back 1.1.0"},
		"a digest alone that was not":           {from: at("", "sha256:a"), to: at("1.1.0", "sha256:b"), now: at("", "sha256:a"), want: "open"},
		"something older than was in use":       {from: at("1.1.0", ""), to: at("1.2.0", ""), now: at("1.0.0", ""), want: "open, kept back 1.1.0"},
		"something older, while suspended":      {from: at("1.1.0", ""), to: at("1.2.0", ""), now: at("1.0.0", ""), edit: func(s *updates.Subscription) { s.Why = updates.Suspended }, want: "open"},
		"no value any more":                     {from: at("1.0.0", ""), to: at("1.1.0", ""), merged: "c9", edit: func(s *updates.Subscription) { s.Markers = nil }, want: "merged c9"},
	} {
		m := updates.NewMemory()
		p := updates.Proposal{Key: tt.to.Tag, From: tt.from, To: tt.to, Merged: tt.merged}
		if tt.from.Tag == tt.to.Tag {
			p.Key += "@" + tt.to.Digest
		}
		m.Propose(shop, &p)
		s := subscribed(t, func(s *updates.Subscription) {
			s.Current = tt.now
			if tt.edit != nil {
				tt.edit(s)
			}
		})
		m.Learn([]updates.Subscription{*s}, "c0")
		var got []string
		switch is := m.Policies[shop].Proposal; {
		case is.IsOpen():
			got = append(got, "open")
		case is != nil:
			got = append(got, "merged "+is.Merged)
		}
		for key := range m.Policies[shop].KeptBack {
			got = append(got, "kept back "+key)
		}
		if is := strings.Join(got, ", "); is != tt.want {
			t.Errorf("%s: it is %s, want %s", name, is, tt.want)
		}
	}
}

// TestRemembered: where nobody looks it is said what was seen last, and no more.
func TestRemembered(t *testing.T) {
	for name, tt := range map[string]struct {
		edit  func(*updates.Subscription)
		facts func(*updates.Facts)
		want  string
	}{
		"something newer": {want: "1.1.0"},
		"nobody looked":   {facts: func(f *updates.Facts) { f.Memory = updates.NewMemory() }, want: "NothingFits nobody has looked yet"},
		"it failed last": {facts: func(f *updates.Facts) {
			f.Memory.Policies[shop] = updates.Record{Failure: &updates.Failure{Why: updates.Unverified, Message: "it is not signed"}}
		}, want: "Unverified it is not signed"},
		"nobody looked, and it failed": {facts: func(f *updates.Facts) {
			f.Memory = updates.NewMemory()
			f.Memory.Policies[shop] = updates.Record{Failure: &updates.Failure{Why: updates.NotAnswered, Message: "503"}}
		}, want: "NotAnswered 503"},
		"it is suspended, and nobody looked": {edit: func(s *updates.Subscription) { s.Why = updates.Suspended }, facts: func(f *updates.Facts) { f.Memory = updates.NewMemory() }, want: "Suspended"},
		"it is suspended": {edit: func(s *updates.Subscription) { s.Why = updates.Suspended }, facts: func(f *updates.Facts) {
			f.Memory.Policies[shop] = updates.Record{Failure: &updates.Failure{Why: updates.Unverified}}
		}, want: "Suspended"},
		"a digest that moved": {edit: func(s *updates.Subscription) {
			s.Policy.Pinning, s.Current = images.PinAlways, marker.Image{Name: repository, Tag: "1.1.0", Digest: "sha256:a"}
		}, facts: func(f *updates.Facts) { f.Memory.SeeDigest(repository, "1.1.0", "sha256:b", judged) }, want: "1.1.0@sha256:b"},
		"a digest that nobody asked for": {edit: func(s *updates.Subscription) {
			s.Policy.Pinning, s.Current = images.PinAlways, marker.Image{Name: repository, Tag: "1.1.0", Digest: "sha256:a"}
		}, want: "UpToDate"},
	} {
		f := known("1.0.0", "1.1.0")
		if tt.facts != nil {
			tt.facts(&f)
		}
		v := updates.Remembered(subscribed(t, tt.edit), f)
		got := strings.TrimSpace(fmt.Sprint(v.Why, " ", v.Message))
		if v.Takes() {
			got = v.Key()
		}
		if got != tt.want {
			t.Errorf("%s: it is %q, want %q", name, got, tt.want)
		}
	}
}

// TestTheEntryOfAChart: a range that is one of the versions is none, and an entry of another version than was chosen is not taken.
func TestTheEntryOfAChart(t *testing.T) {
	ref := lock.Ref{Kind: lock.Helm, Repository: "https://charts.example", Name: "web", Constraint: "1.x"}
	rule, err := imagepolicy.Read(imagepolicy.Spec{Range: "1.x", Loose: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &updates.Subscription{
		Chart: &updates.Chart{ChartUse: planner.ChartUse{Ref: ref}}, Repository: updates.RepositoryOf(ref), Rule: rule, Current: marker.Image{Tag: "1.0.0", Digest: "sha256:a"},
	}
	facts := func(tags ...string) updates.Facts {
		f := known()
		f.Memory.See(s.Repository, registry.Known{Tags: tags}, judged)
		return f
	}
	for name, tt := range map[string]struct {
		tags, entry string
		want        string
	}{
		"a newer one":                 {"1.0.0 1.1.0", "1.1.0", "1.1.0 sha256:b"},
		"the same, spelled otherwise": {"1.0.0 v1.1.0", "1.1.0", "1.1.0 sha256:b as v1.1.0"},
		"another version":             {"1.0.0 1.1.0", "1.2.0", `NotAnswered 1.1.0 is version "1.2.0" there`},
		"no version":                  {"1.0.0 1.1.0", "latest", `NotAnswered 1.1.0 is version "latest" there`},
		"a version called as a range": {"1.x 1.1.0", "", `NothingFits "1.x" is no range there, but one of the versions`},
		"nothing newer":               {"1.0.0", "", "UpToDate"},
	} {
		v := updates.Judge(s, facts(strings.Fields(tt.tags)...))
		if v.Takes() {
			if v.Next != (marker.Image{Tag: v.Choice.Tag}) {
				t.Errorf("%s: before the entry is known it is %+v", name, v.Next)
			}
			v.Lock(lock.Entry{Ref: ref, Version: tt.entry, URL: "https://charts.example/web.tgz", Digest: "sha256:b"})
		}
		got := strings.TrimSpace(fmt.Sprint(v.Why, " ", v.Message))
		if v.Takes() {
			got = v.Next.Tag + " " + v.Next.Digest
			if v.Key() != v.Next.Tag {
				got += " as " + v.Key()
			}
		}
		if got != tt.want {
			t.Errorf("%s: it is %q, want %q", name, got, tt.want)
		}
	}
}
