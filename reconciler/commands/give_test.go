package commands_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// busy is a repository in which somebody else gives so many commands, each before one of ours is pushed.
type busy struct {
	*twin.Repo

	others int
	asked  int // how often
}

func (b *busy) Publish(ctx context.Context, updates []git.Update) ([]files.ID, error) {
	b.asked++
	if b.others > 0 {
		b.others--
		change := commands.Change{Given: []commands.RolloutCommand{stop(fmt.Sprintf("other-%d", b.others), noon)}}
		head, _, err := b.Branch(ctx, commands.Branch)
		if err != nil {
			return nil, err
		}
		u, err := change.Update(head, noon)
		if err != nil {
			return nil, err
		}
		if _, err := b.Repo.Publish(ctx, []git.Update{u}); err != nil {
			return nil, err
		}
	}
	return b.Repo.Publish(ctx, updates)
}

func stop(by string, at time.Time) commands.RolloutCommand {
	return commands.RolloutCommand{Verb: rollouts.Stop, Unit: "team/web", Run: run, By: by, Via: commands.ViaCLI, At: at}
}

// given are those who gave the commands that a repository has.
func given(t *testing.T, at *twin.Repo) (by []string) {
	t.Helper()
	head, _, err := at.Branch(t.Context(), commands.Branch)
	if err != nil {
		t.Fatal(err)
	}
	all, strange := commands.DecodeRollouts(head.Tree)
	if len(strange) > 0 {
		t.Errorf("no commands are %q", strange)
	}
	for _, c := range all {
		by = append(by, c.By)
	}
	slices.Sort(by)
	return by
}

// A command stands beside those that others gave meanwhile and those that count still; of more than five races it gives up. What counts
// no more is taken off.
func TestGive(t *testing.T) {
	for name, test := range map[string]struct {
		others int
		want   []string
		fails  bool
	}{
		"alone":           {0, []string{"ann", "recent"}, false},
		"after some":      {2, []string{"ann", "other-0", "other-1", "recent"}, false},
		"after five":      {5, []string{"ann", "other-0", "other-1", "other-2", "other-3", "other-4", "recent"}, false},
		"after six":       {6, nil, true},
		"after very many": {99, nil, true},
	} {
		repo := twin.New("fleet")
		before := commands.Change{Given: []commands.RolloutCommand{stop("old", noon.Add(-commands.Lasts)), stop("recent", noon.Add(time.Second-commands.Lasts))}}
		u, err := before.Update(git.Head{}, noon)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := repo.Publish(t.Context(), []git.Update{u}); err != nil {
			t.Fatal(err)
		}
		c := stop("ann", noon)
		id, err := commands.Give(t.Context(), &busy{Repo: repo, others: test.others}, &c, git.Author{Name: "An<n>\n", Email: "ann@example.com"})
		if (err != nil) != test.fails || !test.fails && !slices.Equal(given(t, repo), test.want) {
			t.Errorf("%s: %v, and there are %q, want %q", name, err, given(t, repo), test.want)
			continue
		}
		head, _, _ := repo.Branch(t.Context(), commands.Branch)
		if !test.fails && (head.Author != git.Author{Name: "Ann", Email: "ann@example.com"} || head.Commit.String()[:12] != id) {
			t.Errorf("%s: %s is by %+v, and the head is %s", name, id, head.Author, head.Commit)
		}
	}
	refusing := &busy{Repo: twin.New("fleet")}
	refusing.Refuse(commands.Branch)
	c := stop("ann", noon)
	if id, err := commands.Give(t.Context(), refusing, &c, git.Author{Email: "ann@example.com"}); err == nil || id != "" || refusing.asked != 1 {
		t.Errorf("the server takes nothing, and it is %q, %v, after it was asked %d times", id, err, refusing.asked)
	}
}

// away is a repository that does not answer one kind of question.
type away struct {
	*twin.Repo

	heads, fetch, branch error
}

func (a away) Heads(ctx context.Context) (map[string]files.ID, error) {
	heads, _ := a.Repo.Heads(ctx)
	return heads, a.heads
}

func (a away) Fetch(context.Context, ...string) error { return a.fetch }

func (a away) Branch(ctx context.Context, name string) (git.Head, bool, error) {
	head, ok, _ := a.Repo.Branch(ctx, name)
	return head, ok, a.branch
}

// A server that does not answer is no server without commands: nothing is written there, and nothing is said to be so.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	down := errors.New("the server is down")
	for name, at := range map[string]away{"its heads": {heads: down}, "what it has": {fetch: down}, "a branch": {branch: down}} {
		at.Repo = twin.New("fleet")
		at.Write(commands.Branch, "orders", twin.Tree{"format": twin.File([]byte("1"))}.Folder())
		at.Write(state.Branch, "state", twin.Tree{"rollouts/team/web.yaml": twin.File([]byte("phase: ["))}.Folder())
		c := stop("ann", noon)
		if _, err := commands.Give(t.Context(), at, &c, git.Author{Email: "ann@example.com"}); !errors.Is(err, down) || len(given(t, at.Repo)) > 0 {
			t.Errorf("it does not tell %s, and a command is given: %v", name, err)
		}
		if _, err := commands.FindRollout(t.Context(), at, "team/web"); at.heads == nil && !errors.Is(err, down) {
			t.Errorf("it does not tell %s, and a roll-out is %v", name, err)
		}
		if _, _, err := commands.Recorded(t.Context(), at); at.branch != nil && !errors.Is(err, down) {
			t.Errorf("it does not tell %s, and what is recorded is %v", name, err)
		}
	}
	none := away{Repo: twin.New("fleet"), fetch: down}
	if head, err := commands.Head(t.Context(), none, nil); err != nil || head.Tree != nil {
		t.Errorf("a branch that is not there is asked for: %+v, %v", head, err)
	}
}

// What is recorded are the roll-outs that can be read, and why others cannot; where nothing was published, it is nothing.
func TestRecorded(t *testing.T) {
	repo := twin.New("fleet")
	if all, unreadable, err := commands.Recorded(t.Context(), repo); len(all)+len(unreadable) > 0 || err != nil {
		t.Errorf("where nothing is published it is %v, %v, %v", all, unreadable, err)
	}
	sound := going("shop", "web", rollouts.Updating)
	folder, err := rollouts.Encode([]rollouts.Rollout{sound}, nil)
	if err != nil {
		t.Fatal(err)
	}
	recorded := twin.Tree{"rollouts/team/web.yaml": twin.File([]byte("phase: ["))}
	for path, e := range folder.All() {
		recorded[rollouts.Folder+"/"+path] = e
	}
	repo.Write(state.Branch, "state", recorded.Folder())
	all, unreadable, err := commands.Recorded(t.Context(), repo)
	if len(all) != 1 || all[0].Unit != sound.Unit || unreadable[rollouts.Unit{Namespace: "team", Name: "web"}] == nil || err != nil {
		t.Errorf("it is %+v, %v, %v", all, unreadable, err)
	}
	for _, named := range []string{"shop/web", "web"} {
		if r, err := commands.FindRollout(t.Context(), repo, named); err != nil || r.Unit != sound.Unit {
			t.Errorf("%s is %+v, %v", named, r, err)
		}
	}
}

// A commit is, or comes after, itself and what it is made of; what is not there, or no name of a commit, tells nothing.
func TestContains(t *testing.T) {
	repo := twin.New("fleet")
	first := repo.Write("main", "first", twin.Tree{"a": twin.File([]byte("1"))}.Folder()).String()
	second := repo.Write("main", "second", twin.Tree{"a": twin.File([]byte("2"))}.Folder()).String()
	for _, test := range []struct {
		commit, other string
		want          bool
	}{{second, first, true}, {second, second, true}, {first, second, false}, {second, other, false}, {"main", strings.Repeat("0", 40), false}, {strings.Repeat("0", 40), "main", false}, {other, first, false}, {second, "main", false}, {"main", first, false}, {"", "", false}} {
		if is := commands.Contains(t.Context(), repo, test.commit, test.other); is != test.want {
			t.Errorf("%.7s contains %.7s: %t", test.commit, test.other, is)
		}
	}
	if commands.Contains(t.Context(), unknowing{repo}, second, first) {
		t.Error("a commit is said to contain one of which nothing can be told")
	}
}

// unknowing is a repository that cannot tell what comes after what.
type unknowing struct{ *twin.Repo }

func (unknowing) IsAncestor(context.Context, files.ID, files.ID) (bool, error) {
	return true, errors.New("the history is not here")
}

// What the rules of the source would not let count is not written: an approval of nobody known where no author may approve, a bypass
// that is never, and what nobody signed where it has to be.
func TestCountable(t *testing.T) {
	rules := func(signed, notAuthor bool, bypass string) render.Rollout {
		return render.Rollout{Commands: render.RolloutCommands{Signed: signed, NotAuthor: notAuthor}, Bypass: bypass}
	}
	for _, test := range []struct {
		rules    render.Rollout
		verb     rollouts.Verb
		isSigned bool
		says     string // of the error; empty: none
	}{
		{rules(false, false, render.BypassAllowed), rollouts.Bypass, false, ""},
		{rules(false, false, render.BypassNever), rollouts.Bypass, true, "spec.rollout.bypass of waybill.yaml is never"},
		{rules(false, false, render.BypassNever), rollouts.Stop, false, ""},
		{rules(false, false, render.BypassSigned), rollouts.Bypass, false, "takes only signed commands"},
		{rules(false, false, render.BypassSigned), rollouts.Bypass, true, ""},
		{rules(false, false, render.BypassSigned), rollouts.Stop, false, ""},
		{rules(true, false, render.BypassAllowed), rollouts.Stop, false, "takes only signed commands"},
		{rules(true, false, render.BypassAllowed), rollouts.Stop, true, ""},
		{rules(false, false, render.BypassAllowed), rollouts.Approve, false, ""},
		{rules(false, true, render.BypassAllowed), rollouts.Approve, false, "has to say who gave it"},
		{rules(false, true, render.BypassAllowed), rollouts.Approve, true, ""},
		{rules(false, true, render.BypassAllowed), rollouts.Stop, false, ""},
	} {
		err := commands.Countable(test.rules, test.verb, test.isSigned)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%+v, %s, signed: %t: %v, want %q", test.rules, test.verb, test.isSigned, err, test.says)
		}
	}
}

// going is a run that is in its second stage, of which one cluster was skipped.
func going(namespace, name string, phase rollouts.Phase) rollouts.Rollout {
	return rollouts.Rollout{
		Unit:     rollouts.Unit{Namespace: namespace, Name: name},
		Strategy: rollouts.Strategy{Name: "careful", Stages: []rollouts.Stage{{Name: "canary"}, {Name: "prod"}}},
		Status: rollouts.Status{
			Run: run, Phase: phase, Target: rollouts.Version{Commit: other},
			Stages: []rollouts.StageStatus{{Name: "canary", Phase: rollouts.Done}, {Name: "prod", Phase: rollouts.Updating}},
		},
		Clusters: map[string]rollouts.Cluster{
			"c1": {Stage: "canary", State: rollouts.Healthy}, "p2": {Stage: "prod", State: rollouts.Pending}, "p1": {Stage: "prod", State: rollouts.Skipped},
		},
	}
}

// What may stand next is what the command would do something about.
func TestSuggest(t *testing.T) {
	fresh := going("team", "fresh", rollouts.Done)
	fresh.Status.Run = ""
	all := []rollouts.Rollout{going("shop", "web", rollouts.Updating), going("team", "api", rollouts.Stopped), going("team", "web", rollouts.Done), fresh}
	for _, test := range []struct {
		verb  rollouts.Verb
		takes int
		args  []string
		word  string
		want  string
	}{
		{rollouts.Stop, 1, nil, "", "shop/web"},
		{rollouts.Stop, 1, nil, "shop/web@", "shop/web@" + run},
		{rollouts.Resume, 1, nil, "", "team/api"},
		{rollouts.Skip, 2, nil, "", "shop/web team/api"},
		{rollouts.Approve, 2, nil, "", ""},
		{commands.StatusVerb, 1, nil, "", "shop/web team/api team/web team/fresh"},
		{commands.StatusVerb, 1, nil, "team/web@", "shop/web@" + run + " team/api@" + run + " team/web@" + run},
		{rollouts.Skip, 2, []string{"shop/web"}, "", "prod c1 p2"},
		{rollouts.Approve, 2, []string{"shop/web"}, "", ""},
		{rollouts.Skip, 2, []string{"web"}, "", ""}, // of which there are two
	} {
		if is := strings.Join(commands.Suggest(all, test.verb, test.takes, test.args, test.word), " "); is != test.want {
			t.Errorf("%s %q %q: %q, want %q", test.verb, test.args, test.word, is, test.want)
		}
	}
	if is := commands.UnitsIn(all, "team"); !slices.Equal(is, []string{"api", "web", "fresh"}) {
		t.Errorf("in team there are %q", is)
	}
	if is := commands.UnitsIn(all, ""); !slices.Equal(is, []string{"shop/web", "team/api", "team/web", "team/fresh"}) {
		t.Errorf("there are %q", is)
	}
}

func TestNamedRollout(t *testing.T) {
	all := []rollouts.Rollout{going("shop", "web", rollouts.Updating), going("team", "api", rollouts.Stopped), going("team", "web", rollouts.Done)}
	for named, want := range map[string]string{"shop/web": "shop/web", "api": "team/api", "api@" + run[:1]: "team/api", "team/web@" + run: "team/web"} {
		if r, err := commands.NamedRollout(all, named); err != nil || r.Unit.String() != want {
			t.Errorf("%s: %v, %v, want %s", named, r, err, want)
		}
	}
	for named, want := range map[string]string{
		"web": "web may be shop/web, team/web; write the whole name", "api@": "is not the run of team/api", "api@" + run + "0": "is not the run of team/api",
		"team/wep": "does not go out in stages; did you mean \"team/web\"?", "elsewhere": "does not go out in stages; there are shop/web, team/api, team/web",
	} {
		if r, err := commands.NamedRollout(all, named); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", named, r, err, want)
		}
	}
	if r, err := commands.NamedRollout(nil, "web"); err == nil || !strings.Contains(err.Error(), "nothing goes out in stages") {
		t.Errorf("of none it is %v, %v", r, err)
	}
}

// A unit whose record cannot be read is said to be so, and not to be unknown.
func TestFindRollout(t *testing.T) {
	repo := twin.New("fleet")
	if _, err := commands.FindRollout(t.Context(), repo, "web"); err == nil || !strings.Contains(err.Error(), "nothing was published to fleet yet") {
		t.Errorf("where nothing is published it is %v", err)
	}
	repo.Write(state.Branch, "state", twin.Tree{"rollouts/team/web.yaml": twin.File([]byte("phase: ["))}.Folder())
	for _, named := range []string{"team/web", "web", "web@" + run} {
		if _, err := commands.FindRollout(t.Context(), repo, named); err == nil || !strings.Contains(err.Error(), "what is recorded of team/web cannot be read") {
			t.Errorf("%s: %v", named, err)
		}
	}
	if _, err := commands.FindRollout(t.Context(), repo, "api"); err == nil || strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("of another unit it is %v", err)
	}
}
