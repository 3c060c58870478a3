package given_test

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/commands/given"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/signing"
	"github.com/waybill-dev/waybill/test/twin"
)

const run = "8f3a1c2d8f3a1c2d8f3a1c2d8f3a1c2d"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is a source with a run from one commit to another, and a branch of commands.
type world struct {
	t      *testing.T
	repo   *twin.Repo
	keys   map[string]signing.Key
	state  state.State
	config render.Rollout
	base   files.ID // of the run
	head   files.ID // of the source
	now    time.Time
}

// newWorld has a base whose signers are wendy and ann, and a target by "a person" that adds eve to them.
func newWorld(t *testing.T, waybill string) *world {
	t.Helper()
	w := &world{t: t, repo: twin.New("fleet"), keys: map[string]signing.Key{}, now: noon, config: render.DefaultConfig().Rollout}
	for _, name := range []string{"wendy", "ann", "eve"} {
		key, _, err := signing.NewKey(rand.Reader, name)
		if err != nil {
			t.Fatal(err)
		}
		w.keys[name] = key
	}
	line := func(name string) string { return name + "@example.com " + w.keys[name].Public().String() + "\n" }
	tree := twin.Tree{".waybill/allowed_signers": twin.File([]byte(line("wendy") + line("ann")))}
	if waybill != "" {
		tree["waybill.yaml"] = twin.File([]byte("apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {rollout: {" + waybill + "}}\n"))
	}
	w.base = w.repo.Write("main", "one", tree.Folder())
	tree[".waybill/allowed_signers"] = twin.File([]byte(line("wendy") + line("ann") + line("eve")))
	delete(tree, "waybill.yaml")
	w.head = w.repo.Write("main", "two\n\nCo-authored-by: Ann <ann@example.com>", tree.Folder())
	w.state.Published.Commit = w.head.String()
	w.state.Rollouts = []rollouts.Rollout{{Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Status: rollouts.Status{
		Run: run, Phase: rollouts.Approving, Base: rollouts.Version{Commit: w.base.String()}, Target: rollouts.Version{Commit: w.head.String()},
		Stages: []rollouts.StageStatus{{Name: "canary"}},
	}}}
	return w
}

// writes has somebody, whose key signs it unless the name is empty, write a command to the branch.
func (w *world) writes(by string, c commands.RolloutCommand) {
	w.t.Helper()
	w.signs(by)
	head, _, err := w.repo.Branch(w.t.Context(), commands.Branch)
	if err != nil {
		w.t.Fatal(err)
	}
	change := commands.Change{Given: []commands.RolloutCommand{c}}
	u, err := change.Update(head, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.repo.Write(commands.Branch, u.Message, u.Tree)
	w.repo.Sign = nil
}

func (w *world) signs(by string) {
	w.repo.Sign = nil
	if by != "" {
		w.repo.Sign = w.keys[by].SignCommit
	}
}

// pushes has somebody push a commit to the source.
func (w *world) pushes(by, message string) {
	w.t.Helper()
	w.signs(by)
	head, _, err := w.repo.Branch(w.t.Context(), "main")
	if err != nil {
		w.t.Fatal(err)
	}
	w.head = w.repo.Write("main", message, head.Tree)
	w.repo.Sign = nil
}

// reads returns the commands for a plan, from a repository that may be another one than has them.
func (w *world) reads(source published.Repository) (all []plan.Command, ignored []plan.Ignored) {
	w.t.Helper()
	head, _, err := w.repo.Branch(w.t.Context(), commands.Branch)
	if err != nil {
		w.t.Fatal(err)
	}
	r := given.Reader{Source: source, Target: w.repo, Now: w.now}
	return r.Read(w.t.Context(), &given.Asked{Branch: head, State: &w.state, Revision: w.head.String(), Config: w.config})
}

func said(verb rollouts.Verb, stage string) commands.RolloutCommand {
	return commands.RolloutCommand{Verb: verb, Unit: "team/web", Run: run, Stage: stage, By: "who says so", Via: commands.ViaCLI, At: noon}
}

// one is the command that counts, of one that was given, or why it does not.
func (w *world) one() string {
	w.t.Helper()
	all, ignored := w.reads(w.repo)
	if len(all)+len(ignored) != 1 {
		w.t.Fatalf("there are %+v and %+v", all, ignored)
	}
	if len(ignored) > 0 {
		return "refused: " + ignored[0].What
	}
	return fmt.Sprintf("by %q, says %q", all[0].By, all[0].Says)
}

func TestWhoGaveACommand(t *testing.T) {
	const signed, notAuthor = "commands: {signed: true}", "commands: {notAuthor: true}"
	for _, tt := range []struct {
		name, waybill, by string
		c                 commands.RolloutCommand
		want              string // begins so
	}{
		{"unsigned", "", "", said(rollouts.Approve, "canary"), `by "", says "who says so"`},
		{"signed", "", "wendy", said(rollouts.Approve, "canary"), `by "wendy@example.com", says ""`},
		{"signed by a key that the change adds", "", "eve", said(rollouts.Approve, "canary"), `by "", says "who says so"`},
		{"unsigned, under signed", signed, "", said(rollouts.Approve, "canary"), "refused: approve team/web (orders/cli-"},
		{"signed by a key that the change adds, under signed", signed, "eve", said(rollouts.Approve, "canary"), "refused: "},
		{"signed, under signed", signed, "wendy", said(rollouts.Approve, "canary"), `by "wendy@example.com"`},
		{"by an author", notAuthor, "ann", said(rollouts.Approve, "canary"), "refused: "},
		{"by somebody else than an author", notAuthor, "wendy", said(rollouts.Approve, "canary"), `by "wendy@example.com"`},
		{"by nobody known, where authors may not", notAuthor, "", said(rollouts.Approve, "canary"), "refused: "},
		{"a bypass, where it was never", "bypass: never", "wendy", said(rollouts.Bypass, ""), "refused: "},
	} {
		w := newWorld(t, tt.waybill)
		w.writes(tt.by, tt.c)
		if got := w.one(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Whoever wrote a commit of a branch that was merged is an author of what goes out, and who wrote what was there before is none.
func TestAuthorsOfWhatWasMerged(t *testing.T) {
	w := newWorld(t, "commands: {notAuthor: true}")
	topic := w.merges("topic", "work\n\nCo-authored-by: Wendy <wendy@example.com>", w.base)
	before := w.merges("main", "what was there before\n\nCo-authored-by: Ann <ann@example.com>", w.base)
	w.head = w.merges("main", "merge topic", before, topic)
	w.runs(before)
	w.writes("wendy", said(rollouts.Approve, "canary"))
	if got := w.one(); !strings.Contains(got, "wendy@example.com wrote a commit of what is approved") {
		t.Errorf("who wrote what was merged: %s", got)
	}
	w.repo.Delete(commands.Branch)
	w.writes("ann", said(rollouts.Approve, "canary"))
	if got := w.one(); !strings.HasPrefix(got, `by "ann@example.com"`) {
		t.Errorf("who wrote what was there before: %s", got)
	}
}

// A file is of the commit that brought it, whatever stands above, and a later commit that keeps it vouches for nothing.
func TestASignatureIsOfTheCommitThatBroughtTheFile(t *testing.T) {
	w := newWorld(t, "commands: {signed: true}")
	w.writes("", said(rollouts.Stop, ""))
	w.writes("wendy", said(rollouts.Approve, "canary"))
	all, ignored := w.reads(w.repo)
	if len(all) != 1 || all[0].Verb != rollouts.Approve || all[0].By != "wendy@example.com" || len(ignored) != 1 || !strings.Contains(ignored[0].What, "it is not signed") {
		t.Errorf("there are %+v and %+v", all, ignored)
	}
}

// TestAFileThatIsChangedIsOfWhoChangedIt: its name says which comment it is of, and not what it says.
func TestAFileThatIsChangedIsOfWhoChangedIt(t *testing.T) {
	w := newWorld(t, "commands: {signed: true}")
	comment := said(rollouts.Stop, "")
	comment.Via, comment.PullRequest, comment.Comment = commands.ViaComment, 7, 1
	w.writes("wendy", comment)
	if got := w.one(); !strings.HasPrefix(got, `by "who says so"`) {
		t.Errorf("as it was taken: %s", got)
	}
	comment.Verb = rollouts.Resume
	w.writes("", comment)
	if got := w.one(); !strings.Contains(got, "it is not signed") {
		t.Errorf("as somebody changed it: %s", got)
	}
}

// TestWhatTheSourceAsksForByNowCounts beside what it asked for when the run began; what it allows by now does not.
func TestWhatTheSourceAsksForByNowCounts(t *testing.T) {
	for _, tt := range []struct {
		name, waybill string
		now           func(*render.Rollout)
		c             commands.RolloutCommand
		refused       bool
	}{
		{"a signature by now", "", func(r *render.Rollout) { r.Commands.Signed = true }, said(rollouts.Stop, ""), true},
		{"no signature any more", "commands: {signed: true}", func(*render.Rollout) {}, said(rollouts.Stop, ""), true},
		{"no bypass by now", "", func(r *render.Rollout) { r.Bypass = render.BypassNever }, said(rollouts.Bypass, ""), true},
		{"a bypass that is signed, where it was never", "bypass: never", func(r *render.Rollout) { r.Bypass = render.BypassSigned }, said(rollouts.Bypass, ""), true},
		{"nothing", "", func(*render.Rollout) {}, said(rollouts.Bypass, ""), false},
	} {
		w := newWorld(t, tt.waybill)
		tt.now(&w.config)
		by := ""
		if tt.c.Verb == rollouts.Bypass {
			by = "wendy"
		}
		w.writes(by, tt.c)
		if got := w.one(); strings.HasPrefix(got, "refused: ") != tt.refused {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

func TestCommandsEnd(t *testing.T) {
	w := newWorld(t, "")
	w.writes("", said(rollouts.Stop, ""))
	w.now = noon.Add(commands.Lasts)
	if all, ignored := w.reads(w.repo); len(all)+len(ignored) > 0 {
		t.Errorf("after a week there are %+v and %+v", all, ignored)
	}
}

func TestGarbageIsNamed(t *testing.T) {
	w := newWorld(t, "")
	w.repo.Write(commands.Branch, "garbage", twin.Tree{"orders/cli-x.json": twin.File([]byte("{"))}.Folder())
	if all, ignored := w.reads(w.repo); len(all) > 0 || len(ignored) != 1 || !strings.Contains(ignored[0].What, "orders/cli-x.json: it is no JSON") {
		t.Errorf("there are %+v and %+v", all, ignored)
	}
}

// All commits since the one that was planned last are looked at, and a trailer takes a signature.
func TestTrailers(t *testing.T) {
	w := newWorld(t, "")
	w.pushes("wendy", "first\n\nWaybill-Rollout: approve team/web canary")
	first := w.head
	w.pushes("", "second\n\nWaybill-Rollout: stop team/web")
	w.pushes("eve", "third\n\nWaybill-Rollout: bypass *\nWaybill-Rollout: bypass")
	w.pushes("ann", "fourth\n\nWaybill-Rollout: skip team/web c9\nWaybill-Rollout: skip team/web canary")
	all, ignored := w.reads(w.repo)
	var lines []string
	for _, c := range all {
		lines = append(lines, fmt.Sprint(c.Verb, c.Unit, c.Stage, c.Cluster, c.By, c.Via))
	}
	want := "approveteam/webcanarywendy@example.comtrailer skipteam/webc9ann@example.comtrailer skipteam/webcanaryann@example.comtrailer"
	if got := strings.Join(lines, " "); got != want || all[0].Ref != first.String() || all[2].Ref != w.head.String()+"#2" {
		t.Errorf("there are %s", got)
	}
	if len(ignored) != 3 {
		t.Errorf("ignored are %+v", ignored)
	}
	w.state.Published.Commit = w.head.String()
	if all, ignored := w.reads(w.repo); len(all)+len(ignored) > 0 {
		t.Errorf("what was planned commands again: %+v, %+v", all, ignored)
	}
}

// A range that cannot be walked commands nothing.
func TestARangeThatCannotBeWalked(t *testing.T) {
	w := newWorld(t, "")
	w.pushes("wendy", "first\n\nWaybill-Rollout: approve team/web canary")
	first := w.head
	w.pushes("wendy", "second\n\nWaybill-Rollout: stop team/web")
	all, ignored := w.reads(lacking{w.repo, first})
	if len(all) > 0 || len(ignored) != 1 || !strings.Contains(ignored[0].What, "command nothing") {
		t.Errorf("there are %+v and %+v", all, ignored)
	}
}

// What was acted on is given again as it was recorded, whatever the rules say by now.
func TestWhatWasRecorded(t *testing.T) {
	w := newWorld(t, "commands: {signed: true}")
	c := said(rollouts.Stop, "")
	w.writes("", c)
	was := rollouts.Command{Verb: rollouts.Stop, Run: run, By: "ann", Ref: c.Path()}
	w.state.Rollouts[0].Status.Commands = []rollouts.Command{was}
	if all, ignored := w.reads(w.repo); len(all) != 1 || all[0].Command != was || len(ignored) > 0 {
		t.Errorf("there are %+v and %+v", all, ignored)
	}
}
