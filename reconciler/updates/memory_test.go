package updates_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatWasMergedLast: what was merged or committed last is remembered when something newer is proposed, and when nothing is any more.
func TestWhatWasMergedLast(t *testing.T) {
	web := images.Name{Namespace: "shop", Name: "web"}
	open := &updates.Proposal{Key: "1.1.0", PullRequest: 7}
	merged := &updates.Proposal{Key: "1.1.0", PullRequest: 7, Merged: "abc"}
	committed := &updates.Proposal{Key: "1.2.0", Parent: "abc", Merged: "def"}
	m := updates.NewMemory()
	for _, step := range []struct {
		name      string
		now, last *updates.Proposal
		committed bool
	}{
		{"proposed", open, nil, false},
		{"merged", merged, merged, false},
		{"something newer is proposed", &updates.Proposal{Key: "1.2.0", PullRequest: 8}, merged, false},
		{"it is about to be committed", &updates.Proposal{Key: "1.2.0", Parent: "abc"}, merged, false},
		{"committed", committed, committed, true},
		{"nothing is proposed", nil, committed, true},
	} {
		m.Propose(web, step.now)
		root, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if m, err = updates.Decode(root); err != nil {
			t.Fatal(err)
		}
		r := m.Policies[web]
		if d := cmp.Diff(step.last, r.Last) + cmp.Diff(step.now, r.Proposal); d != "" || r.Last.IsCommitted() != step.committed {
			t.Errorf("%s: committed is %t: %s", step.name, r.Last.IsCommitted(), d)
		}
	}
}

// TestSeenByAClockThatWasAhead: a tag, or a digest, that was first seen by a clock which was ahead counts as seen when the clock is right
// again. One that was seen before then stays as old as it is.
func TestSeenByAClockThatWasAhead(t *testing.T) {
	const image, key = "ghcr.io/acme/web", "1.0.0@sha256:a"
	right := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name        string
		first, want time.Time
	}{
		{"ahead", right.AddDate(10, 0, 0), right},
		{"before", right.Add(-time.Hour), right.Add(-time.Hour)},
	} {
		m := updates.NewMemory()
		for _, now := range []time.Time{c.first, right} {
			m.See(image, registry.Known{Tags: []string{"1.0.0"}}, now)
			m.SeeDigest(image, "1.0.0", "sha256:a", now)
		}
		if is := m.Repositories[image]; !is.Seen["1.0.0"].Equal(c.want) || !is.Seen[key].Equal(c.want) || is.Digests["1.0.0"] != "sha256:a" {
			t.Errorf("%s: noted is %+v", c.name, is)
		}
	}
}

// TestWhatIsToBeClosed: a pull request is noted once, and those of other branches, and another one of the same branch, are others.
func TestWhatIsToBeClosed(t *testing.T) {
	m := updates.NewMemory()
	all := []updates.Closing{{Branch: "a"}, {Branch: "b"}, {Branch: "a", PullRequest: 1}, {Branch: "a", PullRequest: 2}, {Branch: "b", PullRequest: 2}}
	for _, c := range append(all, all...) {
		m.Close(c)
	}
	if d := cmp.Diff(all, m.Closing); d != "" {
		t.Error(d)
	}
}

// TestAFailureThatIsOver: of a subscription that is judged without a failure none is noted any more, whatever else of the source cannot
// be read; of one that is not judged it stays as long as it may be in what cannot be.
func TestAFailureThatIsOver(t *testing.T) {
	web, now := images.Name{Namespace: "shop", Name: "web"}, time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	judged := []updates.Verdict{{Subscription: &updates.Subscription{Policy: &images.Policy{Name: web}}, Why: updates.UpToDate}}
	for _, c := range []struct {
		name   string
		source updates.Source
		judged []updates.Verdict
		stays  bool
	}{
		{"judged", updates.Source{}, judged, false},
		{"judged, and a part cannot be read", updates.Source{Partial: true}, judged, false},
		{"judged, and there may be other charts", updates.Source{Unsure: true}, judged, false},
		{"gone", updates.Source{}, nil, false},
		{"gone, and a part cannot be read", updates.Source{Partial: true}, nil, true},
		{"gone, and there may be other charts", updates.Source{Unsure: true}, nil, true},
	} {
		m := updates.NewMemory()
		m.Policies[web] = updates.Record{Failure: &updates.Failure{Why: updates.NotAnswered, Message: `503\x00`, Since: now}}
		m.Judged(&c.source, c.judged, now.Add(time.Hour))
		if f := m.Policies[web].Failure; (f != nil) != c.stays {
			t.Errorf("%s: noted is %+v", c.name, f)
		}
	}
}

// TestWhatIsRemembered is what was written down, all of it, and a version that was kept back stays so for the reason of then.
func TestWhatIsRemembered(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	name := func(n string) images.Name { return images.Name{Namespace: "shop", Name: n} }
	m := updates.NewMemory()
	m.Source, m.Opened, m.Looked = "main apps", []time.Time{now, now.Add(time.Minute)}, now.Add(time.Hour)
	m.Close(updates.Closing{Of: "shop/web", Key: "1.1.0", Branch: "waybill/update/shop/web", PullRequest: 7})
	m.See("ghcr.io/acme/web", registry.Known{Tags: []string{"1.0.0"}, ETag: "e", At: now}, now)
	m.SeeDigest("ghcr.io/acme/api", "1.0.0", "sha256:a", now)
	m.KeepBack(name("kept"), "1.1.0", "it was closed")
	m.KeepBack(name("kept"), "1.1.0", "it was closed again")
	m.KeepBack(name("kept"), "1.2.0", "it was reverted")
	m.Propose(name("open"), &updates.Proposal{Key: "1.1.0", PullRequest: 7})
	m.Propose(name("another"), &updates.Proposal{Key: "1.1.0", PullRequest: 8})
	m.Propose(name("merged"), &updates.Proposal{Key: "1.1.0", PullRequest: 9, Merged: "abc"})
	m.Propose(name("gone"), &updates.Proposal{Key: "1.1.0", Merged: "abc"})
	m.Propose(name("gone"), nil)
	m.Policies[name("fails")] = updates.Record{Failure: &updates.Failure{Why: updates.NotAnswered, Since: now}}
	if got := m.Open(); !slices.Equal(got, []images.Name{name("another"), name("open")}) {
		t.Errorf("open are %v", got)
	}
	if got := m.Policies[name("kept")].KeptBack; got["1.1.0"] != "it was closed" || got["1.2.0"] != "it was reverted" {
		t.Errorf("kept back are %v", got)
	}
	root, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := updates.Decode(root)
	if d := cmp.Diff(m, again); d != "" || err != nil {
		t.Errorf("%v, (-written +read)\n%s", err, d)
	}

	// what is remembered of nothing is not written, nor when a registry said the same once more
	m.Policies[name("nothing")] = updates.Record{}
	m.See("ghcr.io/acme/web", registry.Known{Tags: []string{"1.0.0"}, ETag: "e", At: now.Add(time.Hour)}, now.Add(time.Hour))
	if same, err := m.Encode(); err != nil || same.ID() != root.ID() {
		t.Errorf("it is written as another one: %v", err)
	}
}

// TestAMemoryThatCannotBeRead is an error that names the file: without it what was kept back would be proposed again. A file of nobody is
// passed over.
func TestAMemoryThatCannotBeRead(t *testing.T) {
	if m, err := updates.Decode(nil); err != nil || len(m.Policies)+len(m.Repositories) > 0 {
		t.Errorf("none is %+v, %v", m, err)
	}
	for file, tt := range map[string]struct{ text, want string }{
		"format":                  {"2\n", "which this version does not read"},
		"recent.json":             {"{", "reading recent.json of branch " + updates.MemoryBranch},
		"repositories/a.json":     {"{", "reading repositories/a.json"},
		"policies/shop/web.json":  {"{", "reading policies/shop/web.json"},
		"README.md":               {"{", ""},
		"policies/web.json":       {"{", ""},
		"repositories/a/b.json":   {"{", ""},
		"policies/shop/a/b.json":  {"{", ""},
		"proposals/shop/web.json": {"{", ""},
	} {
		_, err := updates.Decode(twin.Tree{"format": twin.File([]byte("1\n")), file: twin.File([]byte(tt.text))}.Folder())
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", file, err, tt.want)
		}
	}
}

// TestSinceWhenNothingCanBeProposed: since it began to fail, for whatever reason, and with the message of when this reason began.
func TestSinceWhenNothingCanBeProposed(t *testing.T) {
	web, broken := images.Name{Namespace: "shop", Name: "web"}, images.Name{Namespace: "shop", Name: "broken"}
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	m := updates.NewMemory()
	for i, step := range []struct {
		why     updates.Why
		message string
		want    *updates.Failure
	}{
		{updates.UpToDate, "", nil},
		{updates.NotAnswered, "503\x00", &updates.Failure{Why: updates.NotAnswered, Message: `503\x00`, Since: now.Add(time.Hour)}},
		{updates.NotAnswered, "504", &updates.Failure{Why: updates.NotAnswered, Message: `503\x00`, Since: now.Add(time.Hour)}},
		{updates.Unverified, "nobody signed it", &updates.Failure{Why: updates.Unverified, Message: "nobody signed it", Since: now.Add(time.Hour)}},
		{"", "", nil},
		{updates.Suspended, "", nil},
		{updates.NothingFits, "none", nil},
		{updates.NoMarker, "", nil},
		{updates.NotAutomated, "", nil},
		{updates.Unclear, "", &updates.Failure{Why: updates.Unclear, Since: now.Add(9 * time.Hour)}},
		{updates.MarkerBad, "", &updates.Failure{Why: updates.MarkerBad, Since: now.Add(9 * time.Hour)}},
		{updates.Uneditable, "", &updates.Failure{Why: updates.Uneditable, Since: now.Add(9 * time.Hour)}},
	} {
		v := updates.Verdict{Subscription: &updates.Subscription{Policy: &images.Policy{Name: web}}, Why: step.why, Message: step.message}
		m.Judged(&updates.Source{Broken: map[images.Name]bool{broken: true}}, []updates.Verdict{v}, now.Add(time.Duration(i)*time.Hour+time.Millisecond))
		if d := cmp.Diff(step.want, m.Policies[web].Failure); d != "" {
			t.Errorf("step %d, %s: %s", i, step.why, d)
		}
		if f := m.Policies[broken].Failure; f == nil || f.Why != updates.Broken || !f.Since.Equal(now) {
			t.Errorf("step %d: of a policy with a mistake it is %+v", i, f)
		}
	}
}
