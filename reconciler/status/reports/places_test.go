package reports_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// fetching notes which branches are fetched.
type fetching struct {
	*twin.Repo

	mu      sync.Mutex
	fetched []string
}

// Fetch implements published.Repository.
func (f *fetching) Fetch(ctx context.Context, branches ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetched = append(f.fetched, branches...)
	return f.Repo.Fetch(ctx, branches...)
}

// TestWhoseWordCountsWhere: that of a cluster whose agent has a key where agents write, if that key signed it, and that of any other where
// the branches are; nothing else is fetched, whatever somebody wrote elsewhere.
func TestWhoseWordCountsWhere(t *testing.T) {
	t.Parallel()
	agent, stranger := newKey(t), newKey(t)
	f := newFleet(t, cluster("eu", nil), pulled("us", agent), pulled("ap", agent), pulled("me", agent), cluster("silent", nil))
	here, there := &fetching{Repo: f.repo}, &fetching{Repo: twin.New("told")}
	f.reader.Published, f.reader.Agents = &published.Reader{Branches: published.At(here)}, there
	id := func(word string) files.ID { return files.Sum("commit", []byte(word)) }
	for _, c := range []string{"eu", "us", "ap", "me"} {
		f.told = f.repo
		f.say(c, status.Summary{Commit: id(c + " here"), Verdict: status.Verdict{Reason: status.Applied}}, status.Object{}, 0, &agent)
		if f.told = there.Repo; c == "me" {
			continue // its agent says nothing
		}
		by := &agent
		if c == "ap" {
			by = &stranger
		}
		f.say(c, status.Summary{Commit: id(c + " there"), Verdict: status.Verdict{Reason: status.Applied}}, status.Object{}, 0, by)
	}
	want := map[string]files.ID{"eu": id("eu here"), "us": id("us there")}
	applied, err := f.reader.Applied(t.Context(), f.heads(), f.clusters)
	if err != nil {
		t.Fatal(err)
	}
	is := map[string]files.ID{}
	for c, s := range applied {
		is[c] = s.Commit
	}
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("applied: %s", diff)
	}
	slices.Sort(here.fetched)
	slices.Sort(there.fetched)
	if diff := cmp.Diff([][]string{
		{"waybill/status/eu", "waybill/status/silent"}, {"waybill/status/ap", "waybill/status/me", "waybill/status/us"},
	}, [][]string{here.fetched, there.fetched}); diff != "" {
		t.Errorf("fetched: %s", diff)
	}
	var registered []policies.Cluster
	for _, c := range f.clusters {
		registered = append(registered, policies.Cluster{Spec: *c})
	}
	said, err := f.reader.Reports(t.Context(), registered, "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	clear(is)
	for c, r := range said {
		is[c] = r.Commit
	}
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("reports: %s", diff)
	}

	f.reader.Agents = away{there.Repo}
	if said, err := f.reader.Reports(t.Context(), registered, "", time.Hour); err == nil {
		t.Errorf("where nobody hears agents the reports are %v", said)
	}
}
