package pulls

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/test/twin"
)

// answering is a forge that answers what it is told to.
type answering struct {
	forge.Forge

	of    []forge.PullRequest        // with a commit
	now   map[int]forge.PullRequest  // as they are now
	may   map[int64]forge.Permission // of users
	fails error                      // of any question
}

// PullRequestsOf implements forge.Forge.
func (a *answering) PullRequestsOf(context.Context, string) ([]forge.PullRequest, error) {
	return a.of, a.fails
}

// PullRequest implements forge.Forge.
func (a *answering) PullRequest(_ context.Context, number int) (forge.PullRequest, error) {
	return a.now[number], a.fails
}

// Permission implements forge.Forge.
func (a *answering) Permission(_ context.Context, u forge.User) (forge.Permission, error) {
	return a.may[u.ID], a.fails
}

// leaves is a removal of an object in clusters.
func leaves(name string, of ...string) guard.Removals {
	return guard.Removals{{Clusters: of, Objects: []object.Ref{{Kind: "Namespace", Name: name}}}}
}

// An approval is of the removals that the pull request adds, by their digest: of others it is none, and says which these are.
func TestWhatAnApprovalIsOf(t *testing.T) {
	adds := leaves("a", "eu")
	for _, tt := range []struct {
		name   string
		verb   commands.Verb
		digest string
		adds   guard.Removals
		not    string // why it is not looked at
		fails  error
		why    bool // it does not count
		of     guard.Removals
	}{
		{"what it adds", commands.ApprovePrune, adds.Digest(), adds, "", nil, false, adds},
		{"something else", commands.ApprovePrune, leaves("b", "eu").Digest(), adds, "", nil, true, nil},
		{"the same in another cluster", commands.ApprovePrune, leaves("a", "us").Digest(), adds, "", nil, true, nil},
		{"nothing", commands.ApprovePrune, adds.Digest(), nil, "", nil, true, nil},
		{"what is not looked at", commands.ApprovePrune, adds.Digest(), nil, "changes of strangers are not looked at", nil, true, nil},
		{"what cannot be told now", commands.ApprovePrune, adds.Digest(), nil, "", errors.New("the forge is down"), false, nil},
		{"a preview", commands.Preview, "", adds, "", nil, false, nil},
	} {
		c := &CommandHandler{Adds: func(context.Context, forge.PullRequest) (guard.Removals, string, error) {
			return tt.adds, tt.not, tt.fails
		}}
		o := commands.Command{Parsed: commands.Parsed{Verb: tt.verb, Digest: tt.digest}}
		why, err := c.approve(t.Context(), &o, forge.PullRequest{})
		if (why != "") != tt.why || !errors.Is(err, tt.fails) || o.Removals.Digest() != tt.of.Digest() {
			t.Errorf("%s: %+v, %q, %v", tt.name, o, why, err)
		}
	}
}

// An approval is used up once its merge is published and none of its clusters is held any more; while one is, it goes on counting,
// and so it does where that cannot be told.
func TestWhenAnApprovalIsCarriedOut(t *testing.T) {
	source := twin.New("source")
	root := twin.Tree{"a": twin.File(nil)}.Folder()
	before, merged, after := source.Write("main", "before", root), source.Write("main", "merged", root), source.Write("main", "after", root)
	target := twin.New("branches")
	recorded := func(published files.ID, held ...string) files.ID {
		tree := twin.Tree{"published.json": twin.File([]byte(`{"commit": "` + published.String() + `"}`))}
		for _, name := range []string{"eu", "us"} {
			text := "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: " + name + "}\nspec: {syncMode: Push}\n"
			if slices.Contains(held, name) {
				text += "status: {conditions: [{type: " + state.HeldCondition + ", status: \"True\", message: it would lose a lot}]}\n"
			}
			tree["clusters/"+name+".yaml"] = twin.File([]byte(text))
		}
		return target.Write(state.Branch, "state", tree.Folder())
	}
	for _, tt := range []struct {
		name   string
		merged string
		state  files.ID
		want   bool
	}{
		{"it is not merged", "", recorded(after), false},
		{"something before its merge is published", merged.String(), recorded(before), false},
		{"its merge is published", merged.String(), recorded(merged), true},
		{"something after it is", merged.String(), recorded(after), true},
		{"and its cluster is held", merged.String(), recorded(after, "eu"), false},
		{"and another cluster is held", merged.String(), recorded(after, "us"), true},
		{"its merge is no commit", "garbage", recorded(after), false},
	} {
		c := &CommandHandler{Source: source}
		head, err := target.Commit(t.Context(), tt.state)
		if err != nil {
			t.Fatal(err)
		}
		o := commands.Command{Merged: tt.merged, Removals: leaves("a", "ap", "eu")}
		if got := c.carriedOut(t.Context(), &o, head); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// What a stranger's change shows never stands in the place of what a member's does with the same commit.
func TestWhereAStrangersChangeIsShown(t *testing.T) {
	stranger := forge.PullRequest{Number: 7, Head: "h"}
	for _, tt := range []struct {
		name     string
		pull     forge.PullRequest
		approved bool
		others   []forge.PullRequest
		fails    error
		want     string
	}{
		{"a member's", forge.PullRequest{Number: 7, Head: "h", Member: true}, false, nil, nil, post.Context},
		{"a stranger's", stranger, false, nil, nil, post.StrangersContext},
		{"one that a maintainer named", stranger, true, []forge.PullRequest{stranger}, nil, post.Context},
		{"and it has a branch itself", stranger, true, []forge.PullRequest{{Number: 7, Branch: "b"}}, nil, post.Context},
		{"and a member's has its commit", stranger, true, []forge.PullRequest{stranger, {Number: 8, Branch: "b"}}, nil, post.StrangersContext},
		{"and another stranger's has its commit", stranger, true, []forge.PullRequest{stranger, {Number: 8}}, nil, post.Context},
		{"and the forge does not say", stranger, true, nil, errors.New("down"), ""},
	} {
		p := &Previewer{Comparer: &Comparer{}, Forge: &answering{of: tt.others, fails: tt.fails}}
		got, err := p.about(t.Context(), &tt.pull, &destination{approved: map[string]bool{"h": tt.approved}})
		if got != tt.want || !errors.Is(err, tt.fails) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

// A pull request is a member's if its head is where its branch is, and who opened it may write. One that moved since it was listed is
// left to the next look; one of which it cannot be told now is neither, and stops no other.
func TestWhoseAPullRequestIs(t *testing.T) {
	repo := twin.New("source")
	root := twin.Tree{"a": twin.File(nil)}.Folder()
	head, moved := repo.Write("b", "head", root).String(), repo.Write("m", "moved", root).String()
	member, reader := forge.User{ID: 1}, forge.User{ID: 2}
	pull := func(number int, edit func(*forge.PullRequest)) forge.PullRequest {
		pr := forge.PullRequest{Number: number, Head: head, Base: "main", Branch: "b", Author: member, Open: true}
		edit(&pr)
		return pr
	}
	listed := []forge.PullRequest{
		pull(1, func(*forge.PullRequest) {}),
		pull(2, func(p *forge.PullRequest) { p.Author = reader }),
		pull(3, func(p *forge.PullRequest) { p.Fork, p.Branch = true, "" }),
		pull(4, func(p *forge.PullRequest) { p.Branch = "m" }),                // has moved on
		pull(5, func(p *forge.PullRequest) { p.Branch = "none" }),             // its branch is not there
		pull(6, func(p *forge.PullRequest) { p.Branch, p.Base = "b", "old" }), // it goes elsewhere
	}
	f := &answering{may: map[int64]forge.Permission{1: forge.Write, 2: forge.Read}, now: map[int]forge.PullRequest{4: {Head: moved}}}
	p := &Previewer{Comparer: &Comparer{Reconciler: &reconciler.Reconciler{Source: repo}, Rev: "main"}, Forge: f}
	told, err := p.authored(t.Context(), listed)
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]bool{}
	for _, pr := range told {
		got[pr.Number] = pr.Member
	}
	if want := map[int]bool{1: true, 2: false, 3: false, 5: false, 6: false}; !maps.Equal(got, want) {
		t.Errorf("members' are %v, want %v", got, want)
	}
	// what was a member's head stays one, and a new head has to be asked about
	p.shown = map[int]showing{2: {pull: forge.PullRequest{Head: head, Member: true}}, 1: {pull: forge.PullRequest{Head: "another", Member: true}}}
	f.may[1] = forge.Read
	told, err = p.authored(t.Context(), listed[:2])
	if err != nil || len(told) != 2 || told[0].Member || !told[1].Member {
		t.Errorf("then they are %+v, %v", told, err)
	}
	p.shown, f.fails = nil, errors.New("the forge is down")
	if told, err = p.authored(t.Context(), listed[:3]); err == nil || len(told) != 1 || told[0].Number != 3 {
		t.Errorf("while the forge is down they are %+v, %v", told, err)
	}
}

// Of what shows something that may pass, the newest is made again when another commit is published, so many at once; and nothing is
// while none is.
func TestWhatIsMadeAgain(t *testing.T) {
	target := twin.New("branches")
	publish := func(commit string) {
		target.Write(state.Branch, "state", twin.Tree{"published.json": twin.File([]byte(`{"commit": "` + commit + `"}`))}.Folder())
	}
	p := &Previewer{Comparer: &Comparer{Reconciler: &reconciler.Reconciler{Target: target}, Log: slog.New(slog.DiscardHandler)}, shown: map[int]showing{}}
	for n := 1; n <= mostAgain+5; n++ {
		p.shown[n] = showing{pull: forge.PullRequest{Number: n, Updated: time.Unix(int64(n), 0)}, passing: n != mostAgain+5}
	}
	again := func() (all []int) {
		if err := p.again(t.Context()); err != nil {
			t.Fatal(err)
		}
		for n, s := range p.shown {
			if s.again {
				all = append(all, n)
			}
		}
		slices.Sort(all)
		return all
	}
	if got := again(); len(got) > 0 {
		t.Errorf("before anything is published: %v", got)
	}
	publish("one")
	if got := again(); len(got) > 0 {
		t.Errorf("at the first that is seen: %v", got)
	}
	target.Write(state.Branch, "observed", twin.Tree{"published.json": twin.File([]byte(`{"commit": "one"}`)), "x": twin.File(nil)}.Folder())
	if got := again(); len(got) > 0 {
		t.Errorf("where the state moves, and no other commit is published: %v", got)
	}
	publish("two")
	if got := again(); len(got) != mostAgain || got[0] != 5 || got[len(got)-1] != mostAgain+4 {
		t.Errorf("at the next: %v", got)
	}
}

// TestWhichCommandsCountOn: a command is of the head that it was given at, for as long as commands last, until it is carried out; an approval
// counts as of the merge of its pull request. What the forge does not answer for now stays as it is, and is no reason to leave another one.
func TestWhichCommandsCountOn(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	source, target := twin.New("source"), twin.New("branches")
	merge := source.Write("main", "merged", twin.Tree{"a": twin.File(nil)}.Folder()).String()
	target.Write(state.Branch, "state", twin.Tree{"published.json": twin.File([]byte(`{"commit": "` + merge + `"}`))}.Folder())
	adds := leaves("a", "eu")
	open := func(head string) *forge.PullRequest { return &forge.PullRequest{Number: 1, Head: head, Open: true} }
	approves := func(edit func(*commands.Command)) commands.Command {
		o := commands.Command{Parsed: commands.Parsed{Verb: commands.ApprovePrune, Digest: adds.Digest(), Head: "one"}, PullRequest: 1, At: now.Add(-time.Hour), Removals: adds}
		if edit != nil {
			edit(&o)
		}
		return o
	}
	for _, tt := range []struct {
		name    string
		command commands.Command
		listed  *forge.PullRequest
		now     *forge.PullRequest // as it is when it is asked for; nil: the forge has none
		fails   error
		want    string
	}{
		{"it is open, as it was", approves(nil), open("one"), nil, nil, ""},
		{"it has another head", approves(nil), open("two"), nil, nil, "void"},
		{"it has another head, and is not listed", approves(nil), nil, open("two"), nil, "void"},
		{"it is not listed, and as it was", approves(nil), nil, open("one"), nil, ""},
		{"it is old", approves(func(o *commands.Command) { o.At = now.Add(-commands.Lasts) }), open("one"), nil, nil, "void"},
		{"it is merged", approves(nil), nil, &forge.PullRequest{Number: 1, Head: "one", Merged: merge}, nil, "merged"},
		{"it is merged with another head", approves(nil), nil, &forge.PullRequest{Number: 1, Head: "two", Merged: merge}, nil, "void"},
		{"it is merged and published", approves(func(o *commands.Command) { o.Merged = merge }), nil, &forge.PullRequest{Number: 1, Head: "one", Merged: merge}, nil, "void"},
		{"it is gone", approves(nil), nil, nil, forge.ErrNotFound, "void"},
		{"the forge is away", approves(nil), nil, nil, errors.New("connection refused"), "fails"},
		{"something else is commanded, and it is merged", approves(func(o *commands.Command) { o.Verb, o.Digest, o.Removals = commands.Preview, "", nil }), nil, &forge.PullRequest{Number: 1, Head: "one", Merged: merge}, nil, ""},
	} {
		f := &answering{fails: tt.fails, now: map[int]forge.PullRequest{}}
		var listed []forge.PullRequest
		if tt.listed != nil {
			listed = append(listed, *tt.listed)
		}
		if tt.now != nil {
			f.now[1] = *tt.now
		}
		second := approves(func(o *commands.Command) { o.PullRequest = 2 })
		listed = append(listed, forge.PullRequest{Number: 2, Head: "another", Open: true})
		c := &CommandHandler{Forge: f, Source: source, Target: target, Now: func() time.Time { return now }}
		var change commands.Change
		err := c.settle(t.Context(), []commands.Command{tt.command, second}, listed, &change)
		got := ""
		for _, o := range change.Void {
			if o.PullRequest == 1 {
				got = "void"
			}
		}
		if len(change.Merged) == 1 && change.Merged[0].Merged == merge {
			got = "merged"
		}
		if err != nil {
			got = "fails"
		}
		if void := change.Void; got != tt.want || len(void) == 0 || void[len(void)-1].PullRequest != 2 {
			t.Errorf("%s: %q, want %q; void are %+v, merged are %+v, %v", tt.name, got, tt.want, void, change.Merged, err)
		}
	}
}
