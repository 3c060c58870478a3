package writer_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// shaky is a repository of which something fails for a while.
type shaky struct {
	*twin.Repo

	unread  atomic.Bool  // nobody can look
	missing atomic.Int32 // so many pushes lack an object
	wrote   chan struct{}
}

func (s *shaky) Heads(ctx context.Context) (map[string]files.ID, error) {
	if s.unread.Load() {
		return nil, errors.New("the forge is down")
	}
	return s.Repo.Heads(ctx)
}

func (s *shaky) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	if s.missing.Add(-1) >= 0 {
		return nil, git.ErrMissing
	}
	ids, err := s.Repo.Publish(ctx, updates)
	if err == nil {
		s.wrote <- struct{}{}
	}
	return ids, err
}

// written waits for a push.
func (s *shaky) written(t *testing.T) {
	t.Helper()
	select {
	case <-s.wrote:
	case <-time.After(time.Hour):
		t.Fatal("in an hour nothing was written")
	}
}

// writes begins a writer that runs until the test ends.
func (s *shaky) writes(t *testing.T) *writer.Writer {
	t.Helper()
	w := writer.New(s, time.Now, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

// TestWhatIsSeenBesideRounds: an object and refused endpoints come to the branch of their cluster, and to no other; of a cluster without
// a round, and of one that was left, nothing is written.
func TestWhatIsSeenBesideRounds(t *testing.T) { synctest.Test(t, besideRounds) }

func besideRounds(t *testing.T) {
	repo := &shaky{Repo: twin.New("fleet"), wrote: make(chan struct{}, 100)}
	w := repo.writes(t)
	web := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	refusal := []status.Refusal{{Message: "the Service has no such port", From: "us"}}
	w.Saw("us", web, health.There())
	w.Refused("us", refusal)
	for n := range 2 {
		is := lost("eu", n)
		w.Ended("eu", is.Round())
		repo.written(t)
	}
	w.Refused("eu", refusal)
	repo.written(t)
	if all := wordOf(t, repo, "eu").Refused; len(all) != 1 || all[0] != refusal[0] {
		t.Errorf("refused are %+v", all)
	}
	w.Forget("eu")
	w.Refused("eu", nil)
	is := lost("ap", 1)
	w.Ended("ap", is.Round())
	repo.written(t)
	time.Sleep(time.Hour)
	synctest.Wait()
	if all := wordOf(t, repo, "eu").Refused; len(all) != 1 {
		t.Errorf("of a cluster that was left it is written that refused are %+v", all)
	}
	if heads, err := repo.Heads(t.Context()); err != nil || len(heads) != 2 {
		t.Errorf("there are %v, %v", heads, err)
	}
}

// TestStatusesThatCannotBeReadAreWrittenOver: where nobody could look when the writer began, and where a push failed, what rounds came to
// is told all the same.
func TestStatusesThatCannotBeReadAreWrittenOver(t *testing.T) { synctest.Test(t, writtenOver) }

func writtenOver(t *testing.T) {
	repo := &shaky{Repo: twin.New("fleet"), wrote: make(chan struct{}, 100)}
	first := lost("eu", 0)
	if err := writer.Write(t.Context(), repo, time.Now(), map[string]*status.Round{"eu": first.Round()}); err != nil {
		t.Fatal(err)
	}
	repo.written(t)
	repo.unread.Store(true)
	repo.missing.Store(1)
	w := repo.writes(t)
	second := lost("eu", 1)
	w.Ended("eu", second.Round())
	synctest.Wait()
	repo.unread.Store(false)
	repo.written(t)
	if is := wordOf(t, repo, "eu").Verdict; is.Reason != status.Unreachable {
		t.Errorf("the branch says %+v", is)
	}
}
