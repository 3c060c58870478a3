package writer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

const eu = "waybill/status/eu"

// wordOf is what a status branch says.
func wordOf(t *testing.T, repo published.Repository, cluster string) status.Summary {
	t.Helper()
	h, ok, err := repo.Branch(t.Context(), status.Prefix+cluster)
	if err != nil || !ok {
		t.Fatalf("there is no status of %s: %v", cluster, err)
	}
	s, err := status.Read(h.Tree)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lost is a round at a cluster that did not answer, or that there is no credential for.
func lost(cluster string, n int) applier.Result {
	if n%2 == 0 {
		return applier.Result{Cluster: cluster, Err: clusters.ErrNoCredential}
	}
	return applier.Result{Cluster: cluster, Err: errors.New("dial tcp: i/o timeout")}
}

func TestAStatusIsWrittenWhenItIsAnotherOne(t *testing.T) {
	repo := twin.New("fleet")
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	heads := map[files.ID]bool{}
	roots := 0
	for n := range 1500 {
		apps := []applier.Result{lost("eu", n), lost("us", 0)}
		for range 2 { // the second says nothing new
			if err := writer.Write(t.Context(), repo, at, applier.Rounds(apps)); err != nil {
				t.Fatal(err)
			}
			h, _, err := repo.Branch(t.Context(), eu)
			if err != nil {
				t.Fatal(err)
			}
			if !heads[h.Commit] && h.Parent.IsZero() {
				roots++
			}
			heads[h.Commit] = true
		}
		at = at.Add(time.Minute)
	}
	if len(heads) != 1500 || roots != 2 {
		t.Errorf("1,500 changes made %d commits, and the branch began %d times", len(heads), roots)
	}
	if s := wordOf(t, repo, "eu"); s.Verdict.Reason != status.Unreachable || s.Name != "eu" {
		t.Errorf("it says %+v", s)
	}
	if h, _, _ := repo.Branch(t.Context(), status.Prefix+"us"); !h.Parent.IsZero() {
		t.Error("what did not change was written again")
	}
}

// refusing is a repository that takes nothing for a while, and to which somebody else writes.
type refusing struct {
	*twin.Repo

	refuses, races int
	written        chan struct{}
}

func (r *refusing) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	if r.refuses > 0 {
		r.refuses--
		return nil, errors.New("the forge is down")
	}
	if r.races > 0 {
		r.races--
		r.Write(eu, fmt.Sprint("another ", r.races), twin.Tree{"status.yaml": twin.File([]byte("x"))}.Folder())
	}
	ids, err := r.Repo.Publish(ctx, updates)
	if err == nil {
		select {
		case r.written <- struct{}{}:
		default:
		}
	}
	return ids, err
}

func TestAnotherWriterIsWrittenOver(t *testing.T) {
	repo := &refusing{Repo: twin.New("fleet"), races: 3}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if err := writer.Write(t.Context(), repo, at, applier.Rounds([]applier.Result{lost("eu", 1)})); err != nil {
		t.Fatal(err)
	}
	if s := wordOf(t, repo, "eu"); s.Verdict.Reason != status.Unreachable {
		t.Errorf("it says %+v", s)
	}
}

// rigid is a repository whose server lets nobody rewrite a branch.
type rigid struct{ *twin.Repo }

func (r rigid) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	for _, u := range updates {
		if u.Anew && !u.Old.IsZero() {
			return nil, errors.New("the server lets nobody rewrite a branch")
		}
	}
	return r.Repo.Publish(ctx, updates)
}

// TestABranchThatNobodyMayRewriteGrows: what would begin it anew comes on top of it.
func TestABranchThatNobodyMayRewriteGrows(t *testing.T) {
	repo := rigid{twin.New("fleet")}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for n := range 2 {
		if err := writer.Write(t.Context(), repo, at, applier.Rounds([]applier.Result{lost("eu", n)})); err != nil {
			t.Fatal(err)
		}
		at = at.Add(status.Lasting)
	}
	if h, _, err := repo.Branch(t.Context(), eu); err != nil || h.Parent.IsZero() {
		t.Errorf("it begins with %+v, %v", h, err)
	}
	if s := wordOf(t, repo, "eu"); s.Verdict.Reason != status.Unreachable {
		t.Errorf("it says %+v", s)
	}
}

// TestWhatCannotBeWrittenIsWrittenLater has rounds end while nothing can be written. Time
// runs a thousand times as fast.
func TestWhatCannotBeWrittenIsWrittenLater(t *testing.T) {
	repo := &refusing{Repo: twin.New("fleet"), refuses: 3, races: 1, written: make(chan struct{}, 1000)}
	start := time.Now()
	w := writer.New(repo, func() time.Time { return start.Add(1000 * time.Since(start)) }, slog.New(slog.DiscardHandler))
	w.Every = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	for n := range 5000 { // more than it can hold: who applies is not kept waiting
		app := lost(fmt.Sprint("c", n%7), n/7)
		w.Ended(app.Cluster, app.Round())
	}
	app := lost("eu", 1)
	w.Ended(app.Cluster, app.Round())
	select {
	case <-repo.written:
	case <-time.After(time.Minute):
		t.Fatal("in a minute nothing was written")
	}
	app = lost("eu", 2)
	w.Ended(app.Cluster, app.Round())
	cancel() // what is not written yet is written now
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if s := wordOf(t, repo, "eu"); s.Verdict.Reason != status.NoCredential {
		t.Errorf("it says %+v", s)
	}
	for n := range 7 {
		wordOf(t, repo, fmt.Sprint("c", n))
	}
	for range 5000 {
		w.Ended(app.Cluster, app.Round()) // nobody listens, and nobody waits
	}
}

// TestAClusterThatComesBackIsWrittenAnew has a writer leave a cluster and take it again: what its branch said when the writer began is
// not what it says by then. Time runs a thousand times as fast.
func TestAClusterThatComesBackIsWrittenAnew(t *testing.T) {
	repo, start := &refusing{Repo: twin.New("fleet"), written: make(chan struct{}, 1)}, time.Now()
	now := func() time.Time { return start.Add(1000 * time.Since(start)) }
	says := func(n int) *status.Round { is := lost("eu", n); return is.Round() }
	if err := writer.Write(t.Context(), repo, now(), map[string]*status.Round{"eu": says(1)}); err != nil {
		t.Fatal(err)
	}
	<-repo.written
	w := writer.New(repo, now, slog.New(slog.DiscardHandler))
	w.Every = time.Millisecond
	go func() { _ = w.Run(t.Context()) }() // it never fails
	for _, n := range []int{0, 1} {
		w.Ended("eu", says(n))
		select {
		case <-repo.written:
		case <-time.After(time.Minute):
			t.Fatalf("never written, and the branch says %+v", wordOf(t, repo, "eu").Verdict)
		}
		w.Forget("eu")
	}
	if is := wordOf(t, repo, "eu").Verdict; is.Reason != status.Unreachable {
		t.Errorf("the branch says %+v", is)
	}
}

// TestAStatusIsWrittenAfterARestore restores the repository from a backup while a writer runs. What it wrote since is gone,
// also the files in which nothing changes.
func TestAStatusIsWrittenAfterARestore(t *testing.T) {
	dir, backup := filepath.Join(t.TempDir(), "fleet.git"), filepath.Join(t.TempDir(), "backup.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.CopyFS(backup, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(t.Context(), git.Options{Location: dir})
	if err != nil {
		t.Fatal(err)
	}
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	known := status.Cluster{Summary: status.Summary{Name: "eu", Verdict: status.Verdict{Reason: status.Applied}}, Objects: map[object.Ref]*status.Object{web: {Version: "v1", Applied: status.Application{Phase: status.PhaseApplied}}}}
	if _, err := repo.Publish(t.Context(), []git.Update{{Branch: eu, Tree: status.Summarize(known), Author: git.Author{Name: "t", Email: "t@example.com"}, Message: "status\n", When: time.Unix(0, 0)}}); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	w := writer.New(repo, func() time.Time { return start.Add(1000 * time.Since(start)) }, slog.New(slog.DiscardHandler))
	w.Every, w.Clusters = time.Millisecond, []string{"eu"}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	for day := range 3 {
		if day == 2 {
			err := os.Rename(dir, backup+".lost")
			if err == nil {
				err = os.Rename(backup, dir)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		says := files.ID{byte(day + 1)} // which changes no file but the summary
		w.Ended("eu", (&applier.Result{Cluster: "eu", Err: &ancestry.RefusedError{Applied: says, Text: "it does not come after it"}}).Round())
		if day == 0 {
			w.Saw("eu", web, health.There()) // a file that nobody read yet
		}
		for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "show", eu+":status.yaml").CombinedOutput()
			if err == nil && strings.Contains(string(out), says.String()) {
				break
			}
			if time.Now().After(until) {
				t.Fatalf("day %d: never written: %v\n%s", day, err, out)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "show", eu+":works/shop.yaml").CombinedOutput(); err != nil || !strings.Contains(string(out), "name: web") {
		t.Errorf("%v\n%s", err, out)
	}
}
