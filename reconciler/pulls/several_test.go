package pulls

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/twin"
)

// listing is a forge that lists pull requests, and takes no status of some heads.
type listing struct {
	answering

	since    []time.Time // that it was asked for
	refuses  string      // a head
	statuses []string    // heads that have one
	said     map[int][]forge.Comment
}

// OpenPullRequests implements forge.Forge.
func (l *listing) OpenPullRequests(_ context.Context, since time.Time) ([]forge.PullRequest, error) {
	l.since = append(l.since, since)
	return slices.Clone(l.of), nil
}

// SetStatus implements forge.Forge.
func (l *listing) SetStatus(_ context.Context, s forge.Status) error {
	if s.Commit == l.refuses {
		return errors.New("the forge is busy")
	}
	l.statuses = append(l.statuses, s.Commit)
	return nil
}

// Comments implements forge.Forge.
func (l *listing) Comments(_ context.Context, number int) ([]forge.Comment, error) {
	return l.said[number], nil
}

// Comment implements forge.Forge.
func (l *listing) Comment(_ context.Context, number int, body string) (forge.Comment, error) {
	c := forge.Comment{ID: int64(number), Body: body, Mine: true}
	l.said[number] = append(l.said[number], c)
	return c, nil
}

// A pull request of which the forge fails keeps no other from being shown. It is shown at the next look, for which the forge is asked
// for all that changed since the last one that was whole.
func TestAForgeThatFailsForOneOfSeveral(t *testing.T) {
	source, start := twin.New("source"), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	source.Write("main", "main", twin.Tree{"a": twin.File(nil)}.Folder())
	f := &listing{answering: answering{now: map[int]forge.PullRequest{}}, refuses: "two", said: map[int][]forge.Comment{}}
	p := &Previewer{
		Comparer: &Comparer{
			Reconciler: &reconciler.Reconciler{Source: source, Target: twin.New("branches")}, Rev: "main", Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return start },
		},
		Forge: f, shown: map[int]showing{}, since: start.Add(-time.Hour),
	}
	for i, head := range []string{"one", "two", "three"} {
		pr := forge.PullRequest{Number: i + 1, Head: head, Base: "main", Branch: head, Member: true, Open: true}
		f.of, f.now[pr.Number] = append(f.of, pr), pr
		p.shown[pr.Number] = showing{pull: pr, verdict: &post.Verdict{State: forge.Success, Line: "nothing", Text: "nothing"}}
	}
	err := p.Look(t.Context())
	if err == nil || !strings.Contains(err.Error(), "pull request 2: the forge is busy") || strings.Contains(err.Error(), "pull request 3") {
		t.Errorf("it fails with %v", err)
	}
	if want := []string{"one", "three"}; !slices.Equal(f.statuses, want) || len(f.said[1]) != 1 || len(f.said[3]) != 1 {
		t.Errorf("shown are %q, want %q, and said is %v", f.statuses, want, f.said)
	}
	f.refuses, f.statuses = "", nil
	if err := p.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"two"}; !slices.Equal(f.statuses, want) || len(f.said[2]) != 1 {
		t.Errorf("at the next look shown are %q, want %q", f.statuses, want)
	}
	if err := p.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !f.since[1].Equal(f.since[0]) || !f.since[2].After(f.since[1]) {
		t.Errorf("it is asked since %v", f.since)
	}
}
