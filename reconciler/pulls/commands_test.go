package pulls_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/test/twin"
)

// held is a pull request that takes from a cluster all that it has.
type held struct {
	src, bare string
	digest    string // of what the pull request adds
	holds     string // what the last publication held
	fake      *forgetest.Fake
	handler   *pulls.CommandHandler
	publisher *reconciler.Reconciler
	now       time.Time
}

func newHeld(t *testing.T) *held {
	t.Helper()
	h := &held{src: t.TempDir(), bare: filepath.Join(t.TempDir(), "bare.git"), fake: forgetest.NewFake(), now: forgetest.Epoch.Add(time.Minute)}
	run(t, ".", "init", "-q", "--bare", h.bare)
	run(t, ".", "init", "-q", "-b", "main", h.src)
	app := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, namespace: shop}\ndata: {v: one}\n"
	change(t, h.src, map[string]string{"fleet.yaml": fleet, "cm.yaml": app, "other.yaml": strings.Replace(app, "name: app", "name: other", 1)})
	now := func() time.Time { return h.now }
	source, target := open(t.Context(), t, h.src), open(t.Context(), t, h.bare)
	h.publisher = &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: source, Target: target, Cache: cache.Memory(), Now: now, ByComment: true}
	asked := &pulls.Previewer{
		Comparer: &pulls.Comparer{
			Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: source, Target: target, Cache: cache.Memory(), Now: now, ByComment: true},
			Rev:        "main", MergeBase: source.MergeBase, Now: now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
			Sandbox: func(*render.ConfigSpec, ...lock.Lock) (render.Engine, error) { return nil, nil },
		},
		Forge: h.fake,
	}
	h.handler = &pulls.CommandHandler{Forge: h.fake, Target: target, Source: source, Adds: asked.Adds, Now: now, Log: slog.New(slog.DiscardHandler), Changed: func() {}}
	if h.publishes(t); h.holds != "" {
		t.Fatal("the first publication is held")
	}
	run(t, h.src, "checkout", "-q", "-b", "change")
	run(t, h.src, "rm", "-q", "cm.yaml", "other.yaml")
	run(t, h.src, "commit", "-qm", "all of it goes")
	h.fake.PushCommit(run(t, h.src, "rev-parse", "HEAD"))
	run(t, h.src, "checkout", "-q", "main")
	adds, why, err := asked.Adds(t.Context(), h.fake.Pull())
	if h.digest = adds.Digest(); len(h.digest) != 40 || why != "" || err != nil {
		t.Fatalf("the pull request adds %v, %s, %v", adds, why, err)
	}
	return h
}

// publishes publishes, and notes what is held.
func (h *held) publishes(t *testing.T) {
	t.Helper()
	res, err := h.publisher.Publish(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	h.holds = res.Plan.Removals
}

// merges the pull request.
func (h *held) merges(t *testing.T) {
	t.Helper()
	run(t, h.src, "merge", "-q", "--no-ff", "-m", "merge", "change")
	h.fake.Merge(run(t, h.src, "rev-parse", "HEAD"))
}

// looks has the handler look.
func (h *held) looks(t *testing.T) {
	t.Helper()
	if err := h.handler.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// prune is the command that lets it happen.
func (h *held) prune() string {
	return commands.Parsed{Verb: commands.ApprovePrune, Digest: h.digest, Head: h.fake.Pull().Head}.String()
}

// orders lists what is ordered.
func (h *held) orders(t *testing.T) []commands.Command {
	t.Helper()
	head, _, err := open(t.Context(), t, h.bare).Branch(t.Context(), commands.Branch)
	if err != nil {
		t.Fatal(err)
	}
	all, strange := commands.Decode(head.Tree)
	if len(strange) > 0 {
		t.Errorf("%v are no orders", strange)
	}
	return all
}

// A maintainer's comment lets happen what its pull request adds, once that is merged, and once.
func TestACommentReleasesWhatIsHeld(t *testing.T) {
	h := newHeld(t)
	h.fake.SayAs(forgetest.Writer, h.prune())
	h.looks(t)
	h.looks(t) // it is one order, however often it is read
	was := h.handler
	h.handler = &pulls.CommandHandler{Forge: was.Forge, Target: was.Target, Source: was.Source, Adds: was.Adds, Now: was.Now, Log: was.Log, Changed: was.Changed}
	h.looks(t) // also by a controller that started anew
	if log := run(t, h.bare, "log", "--format=%s", commands.Branch); strings.Contains(log, "\n") {
		t.Errorf("it is taken again:\n%s", log)
	}
	if all := h.orders(t); len(all) != 1 || all[0].By != "wendy" || all[0].Digest != h.digest || !all[0].Waits() {
		t.Fatalf("the orders are %+v", all)
	}
	if s := h.fake.Shown(h.fake.Pull().Head, pulls.OrderContext); s.State != forge.Success || !strings.Contains(s.Description, "by wendy") {
		t.Errorf("the status is %+v", s)
	}
	h.merges(t)
	if h.publishes(t); h.holds == "" {
		t.Error("it is published before it is known that the pull request was merged")
	}
	h.looks(t)
	if h.publishes(t); h.holds != "" {
		t.Error("what a maintainer approved is held")
	}
	for _, branch := range []string{"waybill/state", "waybill/cluster/eu"} {
		if message := run(t, h.bare, "log", "-1", "--format=%B", branch); !strings.Contains(message, "Removals-Allowed-By: wendy on pull request 7") {
			t.Errorf("%s does not say who approved it:\n%s", branch, message)
		}
	}
	h.looks(t)
	if all := h.orders(t); len(all) > 0 {
		t.Errorf("what is carried out is approved for another time: %+v", all)
	}
	if log := run(t, h.bare, "log", "--format=%an: %s", commands.Branch); !strings.HasPrefix(log, "Waybill: void: approve-prune ") || strings.Count(log, "\n") != 2 {
		t.Errorf("the branch is\n%s", log)
	}
}

// What else a cluster would lose holds it, whatever was approved.
func TestAnApprovalAllowsNothingElse(t *testing.T) {
	h := newHeld(t)
	run(t, h.src, "checkout", "-q", "change")
	run(t, h.src, "checkout", "-q", "main", "--", "other.yaml")
	run(t, h.src, "commit", "-qm", "not that one")
	change(t, h.src, map[string]string{"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {guard: {maxRemoved: 0, maxRemovedPercent: 0}}\n"})
	h.fake.PushCommit(run(t, h.src, "rev-parse", "HEAD"))
	run(t, h.src, "checkout", "-q", "main")
	adds, _, err := h.handler.Adds(t.Context(), h.fake.Pull())
	if err != nil || len(adds) != 1 || len(adds[0].Objects) != 1 {
		t.Fatalf("the pull request adds %+v, %v", adds, err)
	}
	h.digest = adds.Digest()
	h.fake.SayAs(forgetest.Writer, h.prune())
	h.looks(t)
	h.merges(t)
	h.looks(t)
	run(t, h.src, "rm", "-q", "other.yaml")
	run(t, h.src, "commit", "-qm", "somebody else's")
	if h.publishes(t); h.holds == "" {
		t.Error("all of it is gone")
	}
	run(t, h.src, "revert", "--no-edit", "HEAD")
	if h.publishes(t); h.holds != "" {
		t.Error("what was approved is held once the rest is back")
	}
}

// Who may not command does not, whatever is written.
func TestACommentThatDoesNotCount(t *testing.T) {
	for name, say := range map[string]func(h *held){
		"a reader":          func(h *held) { h.fake.SayAs(forgetest.Reader, h.prune()) },
		"a stranger":        func(h *held) { h.fake.SayAs(forgetest.Stranger, h.prune()) },
		"Waybill":           func(h *held) { h.fake.SayAs(forgetest.Waybill, h.prune()) },
		"who has left":      func(h *held) { h.fake.SayAs(forgetest.Writer, h.prune()); h.fake.Permit(forgetest.Writer, forge.None) },
		"the author":        func(h *held) { h.handler.Rules.NotAuthor = true; h.fake.SayAs(forgetest.Author, h.prune()) },
		"before a push":     func(h *held) { h.fake.SayAs(forgetest.Writer, h.prune()); h.fake.Push() },
		"on what is closed": func(h *held) { h.fake.SayAs(forgetest.Writer, h.prune()); h.fake.Close() },
		"another digest": func(h *held) {
			h.fake.SayAs(forgetest.Writer, strings.Replace(h.prune(), h.digest, strings.Repeat("0", 40), 1))
		},
		"older than a day": func(h *held) {
			h.fake.SayAs(forgetest.Writer, h.prune())
			h.now = h.now.Add(25 * time.Hour)
			h.fake.Touch(h.now) // something else of the pull request is new
		},
		"quoted":                func(h *held) { h.fake.SayAs(forgetest.Writer, "> "+h.prune()) },
		"edited into a command": func(h *held) { h.edit(h.fake.SayAs(forgetest.Writer, "fine").ID, h.prune()) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHeld(t)
			say(h)
			h.looks(t)
			h.merges(t)
			h.looks(t)
			if h.publishes(t); h.holds == "" {
				t.Errorf("it is published, by %+v", h.orders(t))
			}
		})
	}
}

func (h *held) edit(comment int64, body string) {
	_ = h.fake.EditComment(context.Background(), forgetest.Number, comment, body)
}

// An order ends with the head that it is for, and after a week.
func TestAnOrderEnds(t *testing.T) {
	for name, end := range map[string]func(h *held){
		"a push": func(h *held) { h.fake.Push() },
		"a week": func(h *held) { h.now = h.now.Add(commands.Lasts) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHeld(t)
			h.fake.SayAs(forgetest.Writer, h.prune())
			h.looks(t)
			end(h)
			h.looks(t)
			if all := h.orders(t); len(all) > 0 {
				t.Errorf("there are the orders %+v", all)
			}
			h.handler = &pulls.CommandHandler{Forge: h.fake, Target: h.handler.Target, Source: h.handler.Source, Adds: h.handler.Adds, Now: h.handler.Now, Log: h.handler.Log, Changed: func() {}}
			h.looks(t) // another handler, who remembers nothing
			if all := h.orders(t); len(all) > 0 {
				t.Errorf("another handler takes the orders %+v", all)
			}
		})
	}
}

// beside is a forge with a second pull request, whose comments cannot be read.
type beside struct{ *forgetest.Fake }

func (b beside) OpenPullRequests(ctx context.Context, since time.Time) ([]forge.PullRequest, error) {
	all, err := b.Fake.OpenPullRequests(ctx, since)
	other := b.Pull()
	other.Number = 3
	return append([]forge.PullRequest{other}, all...), err
}

func (b beside) Comments(ctx context.Context, number int) ([]forge.Comment, error) {
	if number == 3 {
		return nil, errors.New("its comments cannot be read")
	}
	return b.Fake.Comments(ctx, number)
}

// Who writes to a pull request what cannot be read stops no command on another one.
func TestAPullRequestThatCannotBeReadStopsNoOther(t *testing.T) {
	h := newHeld(t)
	h.handler.Forge = beside{h.fake}
	h.fake.SayAs(forgetest.Writer, h.prune())
	if err := h.handler.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "pull request 3: its comments cannot be read") {
		t.Errorf("it says %v", err)
	}
	if all := h.orders(t); len(all) != 1 {
		t.Errorf("the orders are %+v", all)
	}
}

// However much a stranger writes, the forge is asked about them once, and nothing is said on the head.
func TestAStrangersCommandsAreNotAnswered(t *testing.T) {
	h := newHeld(t)
	for range 25 {
		h.fake.SayAs(forgetest.Reader, h.prune())
		h.fake.SayAs(forgetest.Reader, "/waybill approve-everything")
	}
	asked := 0
	h.fake.Fail = func(method string) error {
		if method == "Permission" {
			asked++
		}
		return nil
	}
	h.looks(t)
	if s := h.fake.Shown(h.fake.Pull().Head, pulls.OrderContext); s.State != "" || asked != 1 {
		t.Errorf("the forge is asked %d times, and the status is %+v", asked, s)
	}
}

// What the forge cannot answer is asked at the next look, however long ago it was written, and nothing is published by it.
func TestAForgeThatFails(t *testing.T) {
	for _, method := range []string{"OpenPullRequests", "Comments", "Permission"} {
		h := newHeld(t)
		h.fake.SayAs(forgetest.Writer, h.prune())
		h.now = h.now.Add(time.Hour)
		h.fake.Fail = func(m string) error {
			if m == method {
				return errors.New("the forge is away")
			}
			return nil
		}
		if err := h.handler.Look(t.Context()); err == nil {
			t.Errorf("%s: it is not said", method)
		}
		if all := h.orders(t); len(all) > 0 {
			t.Errorf("%s: there are %+v", method, all)
		}
		h.fake.Fail = nil
		h.looks(t)
		if all := h.orders(t); len(all) != 1 {
			t.Errorf("%s: the order is lost", method)
		}
	}
}

// Who looks at a forge says what fails, and looks again, until it is told to end, which is no failure.
func TestALookThatFailsIsNotTheLast(t *testing.T) {
	for want, run := range map[string]func(context.Context, *forgetest.Fake, *slog.Logger) error{
		"commands not read": func(ctx context.Context, f *forgetest.Fake, log *slog.Logger) error {
			return (&pulls.CommandHandler{Forge: f, Interval: time.Minute, Now: time.Now, Log: log}).Run(ctx, nil)
		},
		"pull requests not looked at": func(ctx context.Context, f *forgetest.Fake, log *slog.Logger) error {
			return (&pulls.Previewer{Comparer: &pulls.Comparer{Now: time.Now, Log: log}, Forge: f, Interval: time.Minute}).Run(ctx, nil)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f, asked := forgetest.NewFake(), 0
			f.Fail = func(string) error {
				if asked++; asked == 2 {
					cancel()
				}
				return errors.New("the forge is away")
			}
			var log strings.Builder
			err := run(ctx, f, slog.New(slog.NewTextHandler(&log, nil)))
			if n := strings.Count(log.String(), `msg="`+want+`" err="the forge is away"`); err != nil || n != 1 || asked != 2 {
				t.Errorf("it is %v, and it looked %d times, and said\n%s", err, asked, log.String())
			}
		})
	}
}

// Whichever question the repository does not answer, that is an error, and the next look has the command; what is no command is said.
func TestARepositoryThatFails(t *testing.T) {
	adds := guard.Removals{{Clusters: []string{"eu"}, Objects: []object.Ref{{Kind: "ConfigMap", Namespace: "shop", Name: "a"}}}}
	for n := 1; ; n++ {
		repo, fake := twin.New("branches"), forgetest.NewFake()
		now := forgetest.Epoch.Add(time.Minute)
		repo.Write(commands.Branch, "by hand", twin.Tree{"orders/strange.json": twin.File([]byte("{}"))}.Folder())
		repo.Write(state.Branch, "state", twin.Tree{"format": twin.File([]byte("1"))}.Folder())
		fake.SayAs(forgetest.Writer, commands.Parsed{Verb: commands.ApprovePrune, Digest: adds.Digest(), Head: fake.Pull().Head}.String())
		var log strings.Builder
		failing := twin.FailingAt(n, repo)
		h := &pulls.CommandHandler{
			Forge: fake, Target: failing, Source: repo, Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(&log, nil)), Changed: func() {},
			Adds: func(context.Context, forge.PullRequest) (guard.Removals, string, error) { return adds, "", nil },
		}
		err := h.Look(t.Context())
		if failing.HasFailed() != errors.Is(err, twin.ErrDown) {
			t.Errorf("of question %d it is %v", n, err)
		}
		h.Target = repo
		if failing.HasFailed() {
			err = h.Look(t.Context())
		}
		head, _, branchErr := repo.Branch(t.Context(), commands.Branch)
		if err != nil || branchErr != nil {
			t.Fatal(err, branchErr)
		}
		if all, _ := commands.Decode(head.Tree); len(all) != 1 || all[0].Digest != adds.Digest() {
			t.Errorf("after question %d there are %+v", n, all)
		}
		if !strings.Contains(log.String(), `msg="commands ignored" branch=`+commands.Branch+` files=[orders/strange.json]`) {
			t.Errorf("after question %d it said\n%s", n, log.String())
		}
		if !failing.HasFailed() {
			if n < 4 {
				t.Errorf("it asks %d questions", n-1)
			}
			return
		}
	}
}
