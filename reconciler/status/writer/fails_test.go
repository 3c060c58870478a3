package writer_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// counted is a repository that counts what is pushed, and to which somebody else writes before some of that.
type counted struct {
	*twin.Repo

	err    error // of a push
	races  int
	looks  int // after which nobody may look
	pushes int
}

// Heads implements published.Repository.
func (r *counted) Heads(ctx context.Context) (map[string]files.ID, error) {
	if r.looks--; r.looks == 0 {
		return nil, twin.ErrDown
	}
	return r.Repo.Heads(ctx)
}

// Publish implements published.Repository.
func (r *counted) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	r.pushes++
	if r.err != nil {
		return nil, r.err
	}
	if r.races--; r.races >= 0 {
		r.Write(eu, fmt.Sprint("another ", r.races), twin.Tree{"status.yaml": twin.File([]byte("x"))}.Folder())
	}
	return r.Repo.Publish(ctx, updates)
}

// TestWhatIsNotWrittenIsAnError, of how many clusters, and why; a push is tried again where somebody else wrote, some times, and not
// otherwise.
func TestWhatIsNotWrittenIsAnError(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for _, tt := range []struct {
		name   string
		repo   counted
		names  []string
		want   string
		pushes int
	}{
		{"nobody may look", counted{looks: 1}, []string{"eu"}, "looking for status branches: the server is down", 0},
		{"there is nothing to write", counted{}, nil, "", 0},
		{"it cannot be written", counted{err: full}, []string{"eu"}, "writing the status of 1 cluster: the disk is full", 1},
		{"of two", counted{err: full}, []string{"eu", "us"}, "writing the status of 2 clusters: the disk is full", 1},
		{"somebody else writes five times", counted{races: 5}, []string{"eu", "us"}, "", 6},
		{
			"somebody else writes, and nobody may look again",
			counted{races: 5, looks: 2},
			[]string{"eu"},
			"writing the status of 1 cluster: the server is down", 1,
		},
	} {
		tt.repo.Repo = twin.New("fleet")
		var results []applier.Result
		for _, name := range tt.names {
			results = append(results, lost(name, 1))
		}
		err := writer.Write(t.Context(), &tt.repo, time.Unix(0, 0), applier.Rounds(results))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want || tt.repo.pushes != tt.pushes {
			t.Errorf("%s: after %d pushes %q, want %q after %d", tt.name, tt.repo.pushes, got, tt.want, tt.pushes)
		}
		if err != nil {
			continue
		}
		for _, name := range tt.names {
			if s := wordOf(t, &tt.repo, name); s.Verdict.Reason != status.Unreachable || s.Name != name {
				t.Errorf("%s: of %s it says %+v", tt.name, name, s.Verdict)
			}
		}
	}
	for races := range 9 {
		r := &counted{Repo: twin.New("fleet"), races: races}
		err := writer.Write(t.Context(), r, time.Unix(0, 0), applier.Rounds([]applier.Result{lost("eu", 1)}))
		if _, raced := errors.AsType[*git.RaceError](err); raced != (races > 5) || r.pushes != min(races, 5)+1 {
			t.Errorf("where somebody else writes %d times it is written after %d pushes: %v", races, r.pushes, err)
		}
	}
}

// TestWhatCannotBeFetchedIsNotWrittenOver: whoever writes once does not know then what the branches say.
func TestWhatCannotBeFetchedIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	repo := twin.New("fleet")
	round := func(n int) map[string]*status.Round { return applier.Rounds([]applier.Result{lost("eu", n)}) }
	if err := writer.Write(t.Context(), repo, time.Unix(0, 0), round(1)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Write(t.Context(), twin.FailingAt(2, repo), time.Unix(60, 0), round(0)); !errors.Is(err, twin.ErrDown) {
		t.Errorf("what is there cannot be fetched: %v", err)
	}
	if s := wordOf(t, repo, "eu"); s.Verdict.Reason != status.Unreachable {
		t.Errorf("it says %+v", s.Verdict)
	}
}

// TestWhereNobodyWrites what is told comes to nothing.
func TestWhereNobodyWrites(t *testing.T) {
	t.Parallel()
	var none *writer.Writer
	is := lost("eu", 1)
	none.Ended("eu", is.Round())
	none.Forget("eu")
}
