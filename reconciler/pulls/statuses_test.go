package pulls_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/announce"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// recorder is a forge that remembers what it was sent.
type recorder struct {
	said  []string
	fails int
}

// SetStatus implements announce.Forge.
func (r *recorder) SetStatus(_ context.Context, s announce.Status) error {
	if r.fails > 0 {
		r.fails--
		return errors.New("the forge is down")
	}
	r.said = append(r.said, fmt.Sprint(s.Fact, " ", s.State))
	return nil
}

// describer is a forge that remembers what it was sent in words, and may be down.
type describer struct {
	said []string
	down error
}

// SetStatus implements announce.Forge.
func (d *describer) SetStatus(_ context.Context, s announce.Status) error {
	if d.down != nil {
		return d.down
	}
	d.said = append(d.said, fmt.Sprintf("%s %s %s: %s", s.Commit, s.Fact, s.State, s.Description))
	return nil
}

// TestWhatATurnHasAForgeShow: turns that failed, and those before the first publication, nothing; later ones what they change, and once
// more what could not be sent.
func TestWhatATurnHasAForgeShow(t *testing.T) {
	repo := twin.New("announced")
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	r := &reconciler.Reconciler{Source: repo, Target: repo, Now: time.Now, Seen: reconciler.NewCache()}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	forge := &describer{}
	statuses := &pulls.CommitStatuses{Reconciler: r, Rev: "main", Forge: forge, Log: slog.New(slog.DiscardHandler)}
	heads := map[string]files.ID{"waybill/status/eu": {1}, "feature": {1}}
	published := func(commit string, held, errs int) *reconciler.Sync {
		s := &reconciler.Sync{Heads: maps.Clone(heads)}
		s.Result.Plan.Revision.Commit = commit
		s.Result.Plan.Clusters = []plan.Cluster{{Name: "eu"}, {Name: "us"}}
		for n := range held {
			s.Result.Plan.Clusters[n].Held = &guard.Hold{}
		}
		s.Result.Diags = []diag.Diagnostic{{Severity: diag.Warning}, {Severity: diag.Notice}}
		for range errs {
			s.Result.Diags = append(s.Result.Diags, diag.Diagnostic{Severity: diag.Error})
		}
		return s
	}
	const fine, none = "every branch is as this commit wants it", "applied to 0 of 0 clusters"
	for _, tt := range []struct {
		what string
		sync *reconciler.Sync
		set  func()
		want []string
	}{
		{"nothing was published", &reconciler.Sync{UpToDate: true, Heads: heads}, nil, nil},
		{"it failed", &reconciler.Sync{Err: errors.New("away"), Result: published("one", 0, 0).Result}, nil, nil},
		{"the forge is down", published("one", 0, 0), func() { forge.down = errors.New("down") }, nil},
		{"it is up again", &reconciler.Sync{UpToDate: true, Heads: heads}, func() { forge.down = nil }, []string{
			"one published success: " + fine, "one applied success: " + none, "one healthy success: healthy in 0 of 0 clusters",
		}},
		{"nothing is new", &reconciler.Sync{UpToDate: true, Heads: heads}, nil, nil},
		{"the same is published again", published("one", 0, 0), nil, nil},
		{"a cluster is held", published("one", 1, 0), nil, []string{"one published failure: held: 1 cluster; the source has 0 errors"}},
		{"it is published", published("one", 0, 0), nil, []string{"one published success: " + fine}},
		{"the source has errors", published("two", 0, 2), nil, []string{
			"two published failure: held: 0 clusters; the source has 2 errors", "two applied success: " + none, "two healthy success: healthy in 0 of 0 clusters",
		}},
		{"the errors are mended while the forge is down", published("two", 0, 0), func() { forge.down = errors.New("down") }, nil},
		{"it is up again, and nothing else is new", &reconciler.Sync{UpToDate: true, Heads: heads}, func() { forge.down = nil }, []string{
			"two published success: " + fine,
		}},
		{"it failed again", &reconciler.Sync{Err: errors.New("away"), Result: published("three", 0, 0).Result}, nil, nil},
	} {
		if tt.set != nil {
			tt.set()
		}
		forge.said = nil
		statuses.Turned(t.Context(), tt.sync)
		if !slices.Equal(forge.said, tt.want) {
			t.Errorf("%s: it was sent %q, want %q", tt.what, forge.said, tt.want)
		}
	}
	source := r.Source
	for _, tt := range []struct {
		what string
		move func()
		read bool // what clusters say
	}{
		{"nothing moves", func() {}, false},
		{"another branch moves", func() { heads["feature"] = files.ID{2} }, false},
		{"a status moves", func() { heads["waybill/status/eu"] = files.ID{2} }, true},
		{"there is another one", func() { heads["waybill/status/us"] = files.ID{2} }, true},
		{"one goes", func() { delete(heads, "waybill/status/us") }, true},
	} {
		tt.move()
		counted := &snapshots{Repo: repo}
		r.Source = counted
		statuses.Turned(t.Context(), &reconciler.Sync{UpToDate: true, Heads: maps.Clone(heads)})
		if read := counted.n > 0; read != tt.read {
			t.Errorf("when %s: what clusters say is read: %v; want %v", tt.what, read, tt.read)
		}
	}
	r.Source = source
}

// snapshots counts those that are read.
type snapshots struct {
	*twin.Repo

	n int
}

func (s *snapshots) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	s.n++
	return s.Repo.Snapshot(ctx, rev, subdir)
}

func TestAForgeShowsWhatBecameOfACommit(t *testing.T) {
	repo := twin.New("announced")
	repo.Write("main", "first", twin.Tree{
		"fleet.yaml": twin.File([]byte(strings.Replace(fleet, "syncMode: Pull", "syncMode: Push", 1))),
		"app.yaml":   twin.File([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: shop}\n")),
	}.Folder())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	forge := &recorder{fails: 2}
	turns := 0
	tell := func(err error) {
		if err := writer.Write(ctx, repo, time.Now(), applier.Rounds([]applier.Result{{Cluster: "eu", Err: err}})); err != nil {
			t.Error(err)
		}
	}
	r := &reconciler.Reconciler{Source: repo, Target: repo, Now: time.Now, Seen: reconciler.NewCache()}
	statuses := &pulls.CommitStatuses{Reconciler: r, Rev: "main", Forge: forge, Log: slog.New(slog.DiscardHandler)}
	l := &reconciler.Loop{
		Reconciler: r,
		Rev:        "main", Interval: time.Microsecond, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		After: statuses.Turned,
		Report: func(s reconciler.Sync) {
			switch turns++; turns {
			case 10:
				tell(clusters.ErrNoCredential) // it is still not applied
			case 20:
				cancel()
			}
			if s.Err != nil {
				t.Error(s.Err)
			}
		},
	}
	if err := l.Run(ctx); err != nil {
		t.Error(err)
	}
	want := []string{"published success", "applied pending", "healthy pending"}
	if !slices.Equal(forge.said, want) {
		t.Errorf("it was sent %q, want %q", forge.said, want)
	}
}
