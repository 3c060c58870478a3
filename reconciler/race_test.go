package reconciler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// contended is a repository to which somebody else writes before each of the first
// publications.
type contended struct {
	*twin.Repo

	writes int
}

func (c *contended) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	if c.writes > 0 {
		c.writes--
		c.Write(state.Branch, fmt.Sprint("note ", c.writes), twin.Tree{"note.txt": twin.File([]byte("x"))}.Folder())
	}
	return c.Repo.Publish(ctx, updates)
}

// contest publishes to a contended repository and returns the pauses that it made.
func contest(t *testing.T, writes int, random func() float64) ([]time.Duration, error) {
	t.Helper()
	repo := &contended{twin.New("contended"), writes}
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	var pauses []time.Duration
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: repo, Now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
		Pauses: reconciler.Pauses{Random: random, Sleep: func(_ context.Context, d time.Duration) error {
			pauses = append(pauses, d)
			return nil
		}},
	}
	_, err := r.Publish(t.Context(), "main")
	return pauses, err
}

func TestLostRacesAreRunAgainAfterPausesThatGrow(t *testing.T) {
	pauses, err := contest(t, 9, func() float64 { return 0.5 })
	if err != nil {
		t.Fatal(err)
	}
	if want := "[100ms 200ms 400ms 800ms 1.6s 3.2s 5s 5s 5s]"; fmt.Sprint(pauses) != want {
		t.Errorf("paused for %v, want %s", pauses, want)
	}
}

func TestPausesAreByChance(t *testing.T) {
	chances := []float64{0, 0.999, 0.25}
	pauses, err := contest(t, 3, func() float64 {
		c := chances[0]
		chances = chances[1:]
		return c
	})
	if want := "[0s 399.6ms 200ms]"; err != nil || fmt.Sprint(pauses) != want {
		t.Errorf("paused for %v, want %s (%v)", pauses, want, err)
	}
}

func TestTooManyLostRacesAreGivenUp(t *testing.T) {
	pauses, err := contest(t, 1000, func() float64 { return 0 })
	if _, ok := errors.AsType[*git.RaceError](err); !ok || !strings.Contains(err.Error(), "giving up after 20 lost races") {
		t.Errorf("error %v", err)
	}
	if len(pauses) != 19 {
		t.Errorf("it paused %d times, want 19", len(pauses))
	}
}

func TestWhoHasNoPausesGoesOnAtOnce(t *testing.T) {
	repo := &contended{twin.New("contended"), 2}
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	r := &reconciler.Reconciler{Source: repo, Target: repo, Now: func() time.Time { return time.Time{} }}
	if res, err := r.Publish(t.Context(), "main"); err != nil || len(res.Updates) != 2 {
		t.Errorf("it publishes %d branches: %v", len(res.Updates), err)
	}
}

func TestAPauseEndsWithTheContext(t *testing.T) {
	repo := &contended{twin.New("contended"), 1}
	repo.Write("main", "first", twin.Tree{"fleet.yaml": twin.File([]byte(fleet))}.Folder())
	r := &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: repo, Now: func() time.Time { return time.Time{} },
		Pauses: reconciler.Pauses{Random: func() float64 { return 1 }, Sleep: func(context.Context, time.Duration) error { return context.Canceled }},
	}
	if _, err := r.Publish(t.Context(), "main"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the pause", err)
	}
}
