package updating_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/fetching"
	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// failing is a source in which one file cannot be read: the nth that is asked for.
type failing struct {
	sources.Snapshot

	left *int
}

func (f failing) ReadFile(path string) ([]byte, error) {
	if *f.left--; *f.left == 0 {
		return nil, errAway
	}
	return f.Snapshot.ReadFile(path)
}

// TestASourceThatCannotBeReadIsAnError, whichever file it is, and whatever is asked.
func TestASourceThatCannotBeReadIsAnError(t *testing.T) {
	host := served(t)
	for name, ask := range map[string]func(*place) error{
		"update": func(p *place) error { _, err := p.asks(t, "--dry-run"); return err },
		"list":   func(p *place) error { return updating.List(t.Context(), p.Places, "updates", "table", nil) },
		"about": func(p *place) error {
			_, err := updating.About(t.Context(), p.Places, []diag.Pos{{File: "web.yaml", Line: 1}})
			return err
		},
		"markers": func(p *place) error {
			at, err := p.Standing()
			if err == nil {
				_, err = updating.WithMarkers(t.Context(), at.Reconciler.Planner(), at.Source, nil)
			}
			return err
		},
	} {
		failed, left := 0, 0
		for n := 1; left <= 0; n++ {
			left = n
			err := ask(in(t, host, "commit", "", func(at *updating.Place) { at.Source = failing{at.Source, &left} }))
			if isAway := errors.Is(err, errAway); isAway != (left <= 0) || err != nil && !isAway {
				t.Errorf("%s: file %d, of which %d are left: %v", name, n, left, err)
			}
			if err != nil {
				failed++
			}
		}
		if failed < 4 {
			t.Errorf("%s: %d files were read", name, failed)
		}
	}
}

// TestWhatCannotBeAskedIsAnError: registries, and the repository that is pushed to.
func TestWhatCannotBeAskedIsAnError(t *testing.T) {
	host := served(t)
	gone := func(at *updating.Place) {
		at.Upstream = func() (published.Repository, error) { return nil, errAway }
	}
	private := func(at *updating.Place) {
		of := at.Asked
		at.Config.Charts.Private = []string{"all"}
		at.Asked = func(c render.ConfigSpec) fetching.Asked {
			c.Charts.Private = []string{"all"}
			return of(c)
		}
	}
	list := func(p *place) error { return updating.List(t.Context(), p.Places, "updates", "table", nil) }
	commit := func(p *place) error { _, err := p.asks(t, "--commit"); return err }
	for _, tt := range []struct {
		name   string
		ask    func(*place) error
		broken func(*updating.Place)
		says   string
	}{
		{"a list of what is upstream", list, gone, errAway.Error()},
		{"a list of what is in a range", list, private, "reading --chart-private"},
		{"a commit to what is upstream", commit, gone, errAway.Error()},
		{"a commit of what is in a range", commit, private, "reading --chart-private"},
	} {
		p := in(t, host, "commit", "", tt.broken)
		if err := tt.ask(p); err == nil || !strings.Contains(err.Error(), tt.says) || p.said.Len() > 0 {
			t.Errorf("%s: it is %v, and says %q", tt.name, err, p.said.String())
		}
	}
}

// TestWhatIsToldOfAnObjectIsItsOwn: what is newer of another one in the same file is not, and nobody needs a repository.
func TestWhatIsToldOfAnObjectIsItsOwn(t *testing.T) {
	other := "apiVersion: v1\nkind: Pod\nmetadata: {name: first, namespace: shop}\n---\n" + strings.Replace(pod, "name: web", "name: second", 1)
	p := in(t, "127.0.0.1:5000", "commit", other, func(at *updating.Place) { at.Upstream = nil })
	for line, want := range map[int]int{1: 0, 5: 1} {
		found, err := updating.About(t.Context(), p.Places, []diag.Pos{{File: "more.yaml", Line: line}})
		if len(found) != want || err != nil {
			t.Errorf("of line %d there are %+v, %v", line, found, err)
		}
	}
}

// TestWhatAnUpdateIsNotAskedAtOnce: to say, to show, to propose and to commit.
func TestWhatAnUpdateIsNotAskedAtOnce(t *testing.T) {
	all := []string{"--check", "--dry-run", "--pull-request", "--commit"}
	for i, a := range all {
		for k, b := range all {
			cmd := &cobra.Command{Use: "update"}
			updating.AddFlags(cmd)
			if err := cmd.ParseFlags([]string{a, b}); err != nil {
				t.Fatal(err)
			}
			if err := cmd.ValidateFlagGroups(); (err != nil) != (i != k) {
				t.Errorf("%s %s: %v", a, b, err)
			}
		}
	}
}

// TestALoopCommitsWhatIsNewer until it is stopped.
func TestALoopCommitsWhatIsNewer(t *testing.T) {
	p := in(t, served(t), "commit", "", nil)
	at, err := p.Base("main")
	if err != nil {
		t.Fatal(err)
	}
	before, err := p.repo.Resolve(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	proposals := updating.Proposals{Upstream: p.repo, Base: "main", Reconciler: at.Reconciler, Mode: subscribe.ModeCommit, Asked: at.Asked, Now: time.Now}
	ended := make(chan error, 1)
	go func() { ended <- proposals.Loop(10*time.Millisecond, slog.New(slog.DiscardHandler))(ctx) }()
	for range 100 {
		if after, err := p.repo.Resolve(t.Context(), "main"); err != nil || after != before {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s, err := p.repo.Snapshot(t.Context(), "main", "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.ReadFile("web.yaml"); err != nil || !strings.Contains(string(text), "/acme/web:1.1.0 # ") {
		t.Errorf("committed is %s: %v", text, err)
	}
}

// TestNothingIsCommittedBesideWhatCannotBeRead: where it cannot be read how far a roll-out is, and where the repository does not answer.
func TestNothingIsCommittedBesideWhatCannotBeRead(t *testing.T) {
	host := served(t)
	for n := range 7 { // of the questions to where it is published; 0: all are answered
		var p *place
		p = in(t, host, "commit", "", func(at *updating.Place) {
			at.Reconciler.Target = twin.FailingAt(n, p.repo)
		})
		want := twin.ErrDown.Error()
		if n == 0 {
			p.repo.Write("waybill/state", "state", twin.Tree{"rollouts/shop/web.yaml": twin.File([]byte("a: ["))}.Folder())
			want = "it cannot be read how far the roll-out of shop/web is"
		}
		before, err := p.repo.Resolve(t.Context(), "main")
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.asks(t, "--commit")
		text := p.said.String()
		if err != nil {
			text += err.Error()
		}
		if after, _ := p.repo.Resolve(t.Context(), "main"); after != before || !strings.Contains(text, want) {
			t.Errorf("question %d: committed: %t; it says %q, want %q", n, after != before, text, want)
		}
	}
}

// TestWhatIsWrongWithMarkersIsSaidOnce, beside what else is wrong, in order.
func TestWhatIsWrongWithMarkersIsSaidOnce(t *testing.T) {
	p := in(t, "registry.example", "off", wrong, nil)
	at, err := p.Standing()
	if err != nil {
		t.Fatal(err)
	}
	other := diag.Diagnostic{Code: diag.BadConfig, Severity: diag.Error, Pos: diag.Pos{File: "a.yaml", Line: 1}}
	first, err := updating.WithMarkers(t.Context(), at.Reconciler.Planner(), at.Source, []diag.Diagnostic{other})
	if err != nil || len(first) != 2 || first[0] != other || first[1].Pos.File != "more.yaml" {
		t.Fatalf("it is %v: %v", first, err)
	}
	again, err := updating.WithMarkers(t.Context(), at.Reconciler.Planner(), at.Source, slices.Clone(first))
	if diff := cmp.Diff(first, again); diff != "" || err != nil {
		t.Errorf("again (-want +got):\n%s%v", diff, err)
	}
}
