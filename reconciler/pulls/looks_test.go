package pulls

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/store"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/twin"
)

// looking is a previewer of a source that is in memory, and the forge that it looks at.
type looking struct {
	*Previewer

	forge  *listing
	target *twin.Repo
	now    time.Time
}

func newLooking(t *testing.T) *looking {
	t.Helper()
	source := twin.New("source")
	source.Write("main", "main", twin.Tree{"a": twin.File(nil)}.Folder())
	l := &looking{
		forge:  &listing{answering: answering{now: map[int]forge.PullRequest{}}, said: map[int][]forge.Comment{}},
		target: twin.New("branches"), now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	}
	now := func() time.Time { return l.now }
	l.Previewer = &Previewer{
		Comparer: &Comparer{
			Reconciler: &reconciler.Reconciler{Source: source, Target: l.target, Now: now}, Rev: "main", Now: now,
			Log: slog.New(slog.DiscardHandler),
		},
		Forge: l.forge,
	}
	return l
}

// TestSinceWhenAForgeIsAsked: a week before it starts, and then since the last look that was whole, a little before that.
func TestSinceWhenAForgeIsAsked(t *testing.T) {
	l := newLooking(t)
	starts := l.now
	for i, step := range []struct {
		breaks bool
		want   time.Duration
	}{{false, -7 * 24 * time.Hour}, {true, 0}, {true, 0}, {false, 0}, {false, 3 * time.Hour}} {
		l.Reconciler.Target = l.target
		if step.breaks {
			l.Reconciler.Target = twin.FailingAt(1, l.target)
		}
		if err := l.Look(t.Context()); (err != nil) != step.breaks {
			t.Errorf("look %d: %v", i+1, err)
		}
		if want := starts.Add(step.want - 5*time.Minute); !l.forge.since[i].Equal(want) {
			t.Errorf("look %d asks since %s, want %s", i+1, l.forge.since[i], want)
		}
		l.now = l.now.Add(time.Hour)
	}
}

// TestWhatWouldBeMadeAgainKeepsWhatItShows where it is not looked at any more, as when its approval is over.
func TestWhatWouldBeMadeAgainKeepsWhatItShows(t *testing.T) {
	l := newLooking(t)
	pr := forge.PullRequest{Number: 1, Head: "one", Base: "main", Fork: true, Open: true}
	l.shown, l.spent = map[int]showing{1: {pull: pr, passing: true, again: true}}, map[int64][]time.Time{}
	l.forge.now[1] = pr
	for range 2 {
		if err := l.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := l.shown[1]; s.again || !s.passing || s.said != "" || len(l.forge.statuses) > 0 || len(l.forge.said) > 0 {
			t.Errorf("it is %+v; the statuses are of %v, and said is %v", s, l.forge.statuses, l.forge.said)
		}
	}
}

// TestWhichPullRequestsAreKnownToBeOpen: those to the branch, as long as the forge says so. One of which it said nothing for a while is
// asked about, and is still a member's where its head is the one that was told apart.
func TestWhichPullRequestsAreKnownToBeOpen(t *testing.T) {
	l := newLooking(t)
	s := store.New(func() {})
	l.Shown.Store = s
	pull := func(number int, base, head string, member bool) forge.PullRequest {
		return forge.PullRequest{Number: number, Base: base, Head: head, Member: member, Open: true}
	}
	l.seen(t.Context(), []forge.PullRequest{
		pull(1, "main", "a", true), pull(2, "next", "b", true), pull(3, "main", "c", true),
		pull(4, "main", "d", false), pull(5, "main", "e", true),
	})
	known := func() string {
		all, _ := s.All()
		var words []string
		for i := range all {
			words = append(words, fmt.Sprintf("%d %s %t", all[i].Pull.Number, all[i].Pull.Head, all[i].Pull.Member))
		}
		return strings.Join(words, ", ")
	}
	if got, want := known(), "5 e true, 4 d false, 3 c true, 1 a true"; got != want {
		t.Errorf("known are %s, want %s", got, want)
	}
	l.shown = map[int]showing{5: {}}
	l.forge.now = map[int]forge.PullRequest{
		1: pull(1, "main", "a", false), 3: pull(3, "main", "c2", false), 4: pull(4, "main", "d", false), 5: pull(5, "next", "e", false),
	}
	l.now = l.now.Add(openFor)
	if l.seen(t.Context(), nil); known() != "5 e true, 4 d false, 3 c true, 1 a true" {
		t.Errorf("after %s known are %s", openFor, known())
	}
	l.now = l.now.Add(time.Second)
	if l.seen(t.Context(), nil); known() != "4 d false, 3 c2 false, 1 a true" || len(l.shown) > 0 {
		t.Errorf("when it was asked known are %s, and shown are %v", known(), l.shown)
	}
	l.now = l.now.Add(openFor + time.Second)
	l.forge.fails = errors.New("503")
	if l.seen(t.Context(), nil); known() != "4 d false, 3 c2 false, 1 a true" {
		t.Errorf("while the forge is down known are %s", known())
	}
}

// TestWhereTheWholeReportIs: a note leads to the page that has it, if there is one.
func TestWhereTheWholeReportIs(t *testing.T) {
	pr := &forge.PullRequest{Number: 7, Head: "one"}
	for _, tt := range []struct {
		shown Shown
		want  string
	}{
		{Shown{}, ""},
		{Shown{URL: "https://waybill.example"}, ""},
		{Shown{Store: store.New(func() {})}, ""},
		{Shown{Store: store.New(func() {}), URL: "https://waybill.example"}, "https://waybill.example/previews/7"},
	} {
		l := newLooking(t)
		l.Shown = tt.shown
		notes := l.keeps(t.Context(), pr, &preview.Comparison{})
		got := tt.shown.page(pr)
		if got != tt.want || len(notes) != min(len(tt.want), 1) || tt.want != "" && !strings.Contains(notes[0], "]("+tt.want+")") {
			t.Errorf("it is at %q, want %q; the notes are %q", got, tt.want, notes)
		}
		if s := tt.shown.Store; s != nil {
			if kept, ok := s.Find(7); !ok || kept.Report == nil || kept.Report.Head != "one" {
				t.Errorf("kept is %+v", kept)
			}
		}
	}
}

// TestATargetThatCannotBeReadIsAnError: a change is compared with nothing where it is not known what the branch says.
func TestATargetThatCannotBeReadIsAnError(t *testing.T) {
	l := newLooking(t)
	asked := commands.Parsed{Verb: commands.Preview, Head: strings.Repeat("a", 40)}
	o := commands.Command{Parsed: asked, PullRequest: 1, Comment: 1, At: l.now, By: "wendy"}
	change := commands.Change{Taken: []commands.Command{o}}
	head, err := commands.Head(t.Context(), l.target, nil)
	if err != nil {
		t.Fatal(err)
	}
	update, err := change.Update(head, l.now)
	if err != nil {
		t.Fatal(err)
	}
	l.target.Write(commands.Branch, "commands", update.Tree)
	to, err := l.Previewer.target(t.Context())
	if err != nil || !to.approved[o.Head] || len(to.approved) != 1 {
		t.Errorf("approved are %v; %v", to, err)
	}
	n := 1
	for ; ; n++ {
		fails := twin.FailingAt(n, l.target)
		l.Reconciler.Target = fails
		_, err := l.Previewer.target(t.Context())
		if !fails.HasFailed() {
			break
		}
		if !errors.Is(err, twin.ErrDown) {
			t.Errorf("question %d is not answered: %v", n, err)
		}
	}
	if n < 3 {
		t.Errorf("%d questions are asked", n-1)
	}
	l.Reconciler.Target, l.now = l.target, l.now.Add(commands.Lasts)
	if to, err = l.Previewer.target(t.Context()); err != nil || len(to.approved) > 0 {
		t.Errorf("when the command is over approved are %v; %v", to, err)
	}
}

// mergedAs is a forge that is asked which pull requests became commits.
type mergedAs struct {
	forge.Forge

	asked []string
	fails map[string]error
	found map[string]int
}

// PullRequestsMergedAs implements forge.Forge.
func (m *mergedAs) PullRequestsMergedAs(_ context.Context, commit string) ([]forge.PullRequest, error) {
	m.asked = append(m.asked, commit)
	if err := m.fails[commit]; err != nil {
		return nil, err
	}
	if n := m.found[commit]; n > 0 {
		return []forge.PullRequest{{Number: n}}, nil
	}
	return nil, nil
}

// TestAboutWhichTargetsAForgeIsAsked: those of open runs, each once, so many at a look; of one that fails it is asked again, and about the
// others all the same.
func TestAboutWhichTargetsAForgeIsAsked(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	m := &mergedAs{fails: map[string]error{"b": errors.New("503")}, found: map[string]int{"a": 9, "c": 3, "e": 9}}
	c := &CommandHandler{Forge: m, Now: func() time.Time { return start.Add(time.Minute) }}
	s := func(targets ...string) *staged {
		s := &staged{targets: map[string][]forge.PullRequest{}}
		for _, text := range targets {
			commit, isDone := strings.CutPrefix(text, "done ")
			r := rollouts.Rollout{Unit: rollouts.Unit{Namespace: "shop", Name: commit}}
			r.Status = rollouts.Status{Phase: rollouts.Updating, Target: rollouts.Version{Commit: commit}, StartTime: metav1.NewTime(start)}
			if isDone {
				r.Status.Phase = rollouts.Done
			}
			s.all = append(s.all, r)
		}
		return s
	}
	first := s("a", "b", "a", "done d", "c", "e")
	err := c.findTargets(t.Context(), first)
	if err == nil || err.Error() != "roll-out of shop/b: 503" || !slices.Equal(m.asked, []string{"a", "b", "c", "e"}) {
		t.Errorf("asked are %v; %v", m.asked, err)
	}
	var numbers []int
	for _, p := range first.merged() {
		numbers = append(numbers, p.Number)
	}
	if known := slices.Sorted(maps.Keys(first.targets)); !slices.Equal(known, []string{"a", "c", "e"}) || !slices.Equal(numbers, []int{3, 9}) {
		t.Errorf("known are %v, and merged were %v", known, numbers)
	}
	m.asked, m.fails = nil, nil
	if err := c.findTargets(t.Context(), s("a", "b", "c", "e")); err != nil || !slices.Equal(m.asked, []string{"b"}) {
		t.Errorf("at the next look asked are %v; %v", m.asked, err)
	}
	var many []string
	for n := range mostAsked + 5 {
		many = append(many, fmt.Sprint("m", n))
	}
	m.asked = nil
	all := s(many...)
	if err := c.findTargets(t.Context(), all); err != nil || len(m.asked) != mostAsked || len(all.targets) != mostAsked {
		t.Errorf("of %d it is asked about %d, and %d are known; %v", len(many), len(m.asked), len(all.targets), err)
	}
}

// TestWhatGoesOutIsKnown where nothing does, too: a command about a run that is none is answered then. Where it cannot be read nobody is.
func TestWhatGoesOutIsKnown(t *testing.T) {
	target := twin.New("branches")
	c := &CommandHandler{Forge: &mergedAs{}, Target: target, Now: time.Now}
	said := &commands.Spoken{Unit: "shop/web", Run: "1"}
	for _, is := range []string{"there is no state", "there is no roll-out"} {
		s, err := c.staged(t.Context())
		if err != nil || !s.isRead || !s.knows(said) || len(s.all) > 0 {
			t.Errorf("%s: it is read: %t, and known: %t; %v", is, s.isRead, s.knows(said), err)
		}
		target.Write(state.Branch, "state", twin.Tree{"format": twin.File([]byte("2\n"))}.Folder())
	}
	for n := 1; ; n++ {
		fails := twin.FailingAt(n, target)
		c.Target = fails
		s, err := c.staged(t.Context())
		if !fails.HasFailed() {
			if n < 4 {
				t.Errorf("%d questions are asked", n-1)
			}
			break
		}
		if !errors.Is(err, twin.ErrDown) || s.isRead || s.knows(said) {
			t.Errorf("question %d is not answered: it is read: %t; %v", n, s.isRead, err)
		}
	}
}

// TestPullRequestsAreLookedAtOnce, be it that they are open and became what goes out.
func TestPullRequestsAreLookedAtOnce(t *testing.T) {
	of := func(numbers ...int) (all []forge.PullRequest) {
		for _, n := range numbers {
			all = append(all, forge.PullRequest{Number: n})
		}
		return all
	}
	var got []int
	open := of(1, 2)
	for _, p := range listed(open, of(2, 3, 1, 4)) {
		got = append(got, p.Number)
	}
	if !slices.Equal(got, []int{1, 2, 3, 4}) || len(open) != 2 {
		t.Errorf("looked at are %v", got)
	}
}
