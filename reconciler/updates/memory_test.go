package updates_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/registry"
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
		m.Policies[web] = updates.Record{Failure: &updates.Failure{Why: updates.NotAnswered, Message: "503", Since: now}}
		m.Judged(&c.source, c.judged, now.Add(time.Hour))
		if f := m.Policies[web].Failure; (f != nil) != c.stays {
			t.Errorf("%s: noted is %+v", c.name, f)
		}
	}
}
