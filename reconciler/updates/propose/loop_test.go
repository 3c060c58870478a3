package propose_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// loop is what a controller runs, in a world.
func (w *world) loop() *propose.Loop {
	p := w.proposer
	p.Scheduled, p.Cache = true, propose.NewCache()
	return &propose.Loop{Proposer: p, Interval: time.Minute, Log: slog.New(slog.DiscardHandler)}
}

// looks lets a loop look once a minute for a time.
func (w *world) looks(k *propose.Loop, span time.Duration) {
	w.t.Helper()
	for end := w.now.Add(span); w.now.Before(end); w.now = w.now.Add(time.Minute) {
		if err := k.Look(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// A controller asks a registry no more often than the interval of its ImageRepository, whatever moves meanwhile.
func TestIntervalsAreHonoured(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	k := w.loop()
	w.looks(k, 5*time.Minute)
	if len(w.registry.asked) != 1 || len(w.forge.all) != 1 {
		t.Fatalf("in the first interval it was asked %d times, and there are %d pull requests", len(w.registry.asked), len(w.forge.all))
	}
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.looks(k, time.Minute)
	if len(w.registry.asked) != 2 || w.changes(branch)["apps/web.yaml"] != value(image+":1.2.0") {
		t.Errorf("after it, it was asked %d times, and the branch changes %v", len(w.registry.asked), w.changes(branch))
	}
	w.looks(k, 30*time.Minute)
	if len(w.registry.asked) != 8 {
		t.Errorf("in 36 minutes it was asked %d times", len(w.registry.asked))
	}
}

// Two ImageRepositories of one image have it asked for as often as the one that says so more often, in whatever order they come.
func TestTheShorterOfTwoIntervals(t *testing.T) {
	for _, other := range []string{"aaa", "zzz"} {
		s := sourceOf("")
		s["images.yaml"] += "---\n" + strings.NewReplacer("name: web", "name: "+other, "interval: 5m", "interval: 1h").Replace(s["images.yaml"])
		s["apps/job.yaml"] = strings.ReplaceAll(s["apps/job.yaml"], "shop:web", "shop:"+other)
		w := begin(t, s, "1.0.0", "1.1.0")
		k := w.loop()
		w.looks(k, time.Minute)
		w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
		w.looks(k, 6*time.Minute)
		if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.2.0") {
			t.Errorf("beside %s, which is asked for every hour, the branch has %q", other, got)
		}
	}
}

// A branch that moves within the interval is looked at, and no registry is asked.
func TestABranchThatMovesWithinTheInterval(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	k := w.loop()
	w.looks(k, time.Minute)
	w.source["apps/job.yaml"] = "# moved\n" + w.source["apps/job.yaml"]
	w.commit()
	w.looks(k, time.Minute)
	if len(w.registry.asked) != 1 || w.forge.edits != 1 {
		t.Errorf("it was asked %d times, and the pull request edited %d times", len(w.registry.asked), w.forge.edits)
	}
}

// A branch that an automation names, and that moves, is looked at as Waybill's own are: who deletes it has it written again.
func TestABranchOfAnAutomationThatMoves(t *testing.T) {
	s := automatedSource()
	s["automation.yaml"] += "  git: {commit: {author: {email: a@b}}, push: {branch: staging}}\n"
	w := begin(t, s, "1.0.0", "1.1.0")
	k := w.loop()
	w.looks(k, time.Minute)
	if w.head("staging").Commit.IsZero() {
		t.Fatal("nothing was pushed")
	}
	w.repo.Delete("staging")
	w.looks(k, time.Minute)
	if got := w.changes("staging"); got["apps/web.yaml"] != value(image+":1.1.0") || len(w.registry.asked) != 1 {
		t.Errorf("the branch changes %v, and the registry was asked %d times", got, len(w.registry.asked))
	}
}

// A schedule that is not due has nothing be asked and nothing be opened; when it comes about it does, once.
func TestAScheduleThatIsNotDue(t *testing.T) {
	w := begin(t, sourceOf(", schedule: ['0 6 * * *'], timeZone: Europe/Berlin"), "1.0.0")
	k := w.loop()
	w.looks(k, time.Minute) // it came about since ever
	w.registry.tags[image] = append(w.registry.tags[image], "1.1.0")
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	w.looks(k, 17*time.Hour-2*time.Minute) // from 12:01 to 04:59 UTC, which is 05:59 in Berlin
	if len(w.registry.asked) != 1 || len(w.forge.all) != 0 {
		t.Fatalf("before 6 it was asked %d times, and there are %d pull requests", len(w.registry.asked), len(w.forge.all))
	}
	w.looks(k, 2*time.Minute)
	if len(w.registry.asked) != 2 || len(w.forge.all) != 1 {
		t.Errorf("at 6 it was asked %d times, and there are %d pull requests", len(w.registry.asked), len(w.forge.all))
	}
	w.looks(k, time.Hour)
	if len(w.registry.asked) != 2 {
		t.Errorf("after 6 it was asked %d times", len(w.registry.asked))
	}
	other := w.loop() // of another replica, which leads now
	w.looks(other, time.Hour)
	if len(w.registry.asked) != 2 {
		t.Errorf("another one asked again, %d times", len(w.registry.asked))
	}
}

// What was due and waits is tried again for an hour: behind a roll-out, behind a tag that moved meanwhile, and behind those who are
// faster three times in a row. Then the schedule counts again.
func TestWhatWasDueIsTriedAgain(t *testing.T) {
	for name, hinders := range map[string]func(*world, *propose.Loop) (over func()){
		"a roll-out": func(w *world, _ *propose.Loop) func() {
			w.effect.Ends = []string{"shop/web"}
			return func() { w.effect.Ends = nil }
		},
		"a tag that moves": func(w *world, _ *propose.Loop) func() {
			w.source["images.yaml"] += "  digestReflectionPolicy: IfNotPresent\n"
			w.commit()
			moves := 0
			w.registry.built = func() { moves++; w.registry.digests[image+":1.1.0"] = digest([]string{"b", "c"}[moves%2]) }
			return func() { w.registry.built = nil }
		},
		"a race": func(w *world, k *propose.Loop) func() {
			k.Proposer.Repository = &faster{w.repo, w}
			return func() { k.Proposer.Repository = w.repo }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := committing(t, ", schedule: ['0 6 * * *']", "1.0.0")
			k := w.loop()
			w.looks(k, time.Minute)
			w.registry.tags[image] = append(w.registry.tags[image], "1.1.0")
			over := hinders(w, k)
			looks := func(span time.Duration) {
				for end := w.now.Add(span); w.now.Before(end); w.now = w.now.Add(time.Minute) {
					_ = k.Look(t.Context()) // an error of one is followed by the next
				}
			}
			w.now = w.now.Truncate(24 * time.Hour).Add(30 * time.Hour) // 6 o'clock
			looks(20 * time.Minute)
			over()
			looks(2 * time.Minute)
			if got := w.changes("main")["apps/web.yaml"]; !strings.HasPrefix(got, "image: "+image+":1.1.0") {
				t.Errorf("after it the commit is of %q", got)
			}
		})
	}
	w := committing(t, ", schedule: ['0 6 * * *']", "1.0.0", "1.1.0")
	k := w.loop()
	w.effect.Ends = []string{"shop/web"}
	w.now = w.now.Truncate(24 * time.Hour).Add(30 * time.Hour)
	w.looks(k, 61*time.Minute)
	w.effect.Ends = nil
	base := w.head("main").Commit
	w.looks(k, 22*time.Hour)
	if w.head("main").Commit != base {
		t.Error("it was committed at a time that is not of the schedule")
	}
	w.looks(k, 2*time.Hour)
	if w.head("main").Commit == base {
		t.Error("the next day it was not committed")
	}
}

// faster is a repository in which somebody pushes before each push of ours.
type faster struct {
	*twin.Repo

	w *world
}

func (f *faster) Publish(ctx context.Context, all []git.Update) ([]files.ID, error) {
	f.w.source["other.yaml"] = "# " + f.w.source["other.yaml"]
	f.w.commit()
	return f.Repo.Publish(ctx, all)
}

// What fails is tried again, also at a time that is not due, and an error of one look does not keep the next one from its work.
func TestALookThatFails(t *testing.T) {
	w := begin(t, sourceOf(", schedule: ['0 6 * * *']"), "1.0.0", "1.1.0")
	k := w.loop()
	k.Proposer.Forge = mute{w.forge}
	if err := k.Look(t.Context()); err == nil || len(w.forge.all) > 0 {
		t.Fatalf("the forge opens nothing, and the error is %v", err)
	}
	k.Proposer.Forge = w.forge
	w.looks(k, time.Minute)
	if len(w.forge.all) != 1 {
		t.Errorf("there are %d pull requests", len(w.forge.all))
	}
}

// ending is a repository that is away, and whose process is told to end at the second question.
type ending struct {
	*twin.Repo

	asked int
	end   func()
}

func (e *ending) Heads(context.Context) (map[string]files.ID, error) {
	if e.asked++; e.asked == 2 {
		e.end()
	}
	return nil, errors.New("connection refused")
}

// A loop says what fails and looks again, until it is told to end, which is no failure.
func TestALoopGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		repo := &ending{Repo: w.repo, end: cancel}
		k := w.loop()
		var log strings.Builder
		k.Proposer.Repository, k.Log = repo, slog.New(slog.NewTextHandler(&log, nil))
		if err := k.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), `msg="new versions not looked for" err="connection refused"`); n != 1 || repo.asked != 2 {
			t.Errorf("it looked %d times, and said\n%s", repo.asked, log.String())
		}
	})
}

// A registry that does not answer is asked again at the next look, and not when its interval is over.
func TestARegistryThatFailsOnce(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.registry.fails = errors.New("503")
	k := w.loop()
	w.looks(k, time.Minute)
	w.registry.fails = nil
	w.looks(k, time.Minute)
	if len(w.registry.asked) != 2 || w.changes(branch)["apps/web.yaml"] != value(image+":1.1.0") {
		t.Errorf("it was asked %d times, and there are %d pull requests", len(w.registry.asked), len(w.forge.all))
	}
}

// With updates.mode off a controller does nothing, and says nothing.
func TestAControllerThatIsOff(t *testing.T) {
	s := sourceOf("")
	on := s["waybill.yaml"]
	s["waybill.yaml"] = strings.Replace(on, "pullRequest", `"off"`, 1)
	w := begin(t, s, "1.0.0", "1.1.0")
	k := w.loop()
	w.looks(k, 10*time.Minute)
	if len(w.registry.asked)+len(w.forge.all) > 0 {
		t.Errorf("asked was %v", w.registry.asked)
	}
	w.source["waybill.yaml"] = on
	w.commit()
	w.looks(k, time.Minute)
	if len(w.forge.all) != 1 {
		t.Errorf("switched on there are %d pull requests", len(w.forge.all))
	}
}

// killed is a forge at which whoever closes a pull request is killed before.
type killed struct{ *pulls }

type kill struct{}

func (killed) ClosePullRequest(context.Context, int) error { panic(kill{}) }

// dies runs until the forge kills.
func (w *world) dies() {
	w.t.Helper()
	w.proposer.Forge = killed{w.forge}
	defer func() {
		if _, is := recover().(kill); !is {
			w.t.Error("it was not killed")
		}
		w.proposer.Forge = w.forge
	}()
	_, err := w.proposer.Run(w.t.Context())
	w.t.Fatal("it ended", err)
}

// Whoever is killed after what is obsolete was forgotten, and before it was closed, leaves no pull request for ever.
func TestKilledBeforeClosing(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.dies()
	if m := w.memory(); !w.forge.all[0].Open || m.Policies[web].Proposal != nil || len(m.Closing) != 1 {
		t.Fatalf("remembered is %+v", m)
	}
	w.runs(closed)
	if m := w.memory(); len(m.Closing) > 0 || len(m.Policies[web].KeptBack) > 0 {
		t.Errorf("remembered is %+v", m)
	}
	w.runs()
}

// A schedule that is not due does not keep what was begun from being ended.
func TestKilledBeforeClosingOnSchedule(t *testing.T) {
	w := begin(t, sourceOf(", schedule: ['0 6 * * *']"), "1.0.0", "1.1.0")
	w.runs(opened)
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.dies()
	w.looks(w.loop(), time.Minute)
	if w.forge.all[0].Open || len(w.memory().Closing) > 0 {
		t.Error("it stays open")
	}
}

// What is wanted again before it is closed is not closed, but renewed.
func TestWantedAgainBeforeClosing(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	policy := w.source["images.yaml"]
	w.source["images.yaml"] = strings.Replace(policy, "'*'", "1.0.x", 1)
	w.commit()
	w.dies()
	w.source["images.yaml"] = policy
	w.commit()
	w.runs(edited)
	if m := w.memory(); !w.forge.all[0].Open || len(m.Closing) > 0 || m.Policies[web].Proposal.PullRequest != 1 {
		t.Errorf("remembered is %+v", m)
	}
}

// mute is a forge that opens nothing.
type mute struct{ *pulls }

func (mute) OpenPullRequest(context.Context, string, string, draft) (pull, error) {
	return pull{}, errors.New("503")
}

// Whoever is killed after a pull request was opened, and before that was remembered, finds it by its branch: to renew it, and to close it.
func TestKilledAfterOpening(t *testing.T) {
	for _, isObsolete := range []bool{false, true} {
		w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
		w.proposer.Forge = mute{w.forge}
		if _, err := w.proposer.Run(t.Context()); err == nil {
			t.Fatal("it was opened")
		}
		w.proposer.Forge = w.forge
		if _, err := w.forge.OpenPullRequest(t.Context(), branch, "main", draft{}); err != nil {
			t.Fatal(err)
		}
		want := edited
		if isObsolete {
			want = closed
			w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
			w.commit()
		}
		w.runs(want)
		if len(w.forge.all) != 1 || w.forge.all[0].Open == isObsolete || len(w.memory().Closing) > 0 {
			t.Errorf("obsolete is %t, and the pull requests are %+v", isObsolete, w.forge.all)
		}
	}
}

// A pull request that somebody opened from Waybill's branch to another base stays as it is, and does not stand for the one to this base.
func TestAPullRequestToAnotherBase(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.proposer.Forge = mute{w.forge}
	if _, err := w.proposer.Run(t.Context()); err == nil {
		t.Fatal("it was opened")
	}
	w.proposer.Forge = w.forge
	if _, err := w.forge.OpenPullRequest(t.Context(), branch, "release", draft{}); err != nil {
		t.Fatal(err)
	}
	w.runs(opened)
	if len(w.forge.all) != 2 || w.forge.all[1].Base != "main" || w.forge.edits > 0 {
		t.Errorf("%d were edited of the pull requests %+v", w.forge.edits, w.forge.all)
	}
}

// Where the memory was lost, Waybill's own branches lead to pull requests that are not to be taken any more; those that may be are
// left, and so is what others committed to.
func TestALostMemory(t *testing.T) {
	lost := func(settings string) *world {
		w := begin(t, sourceOf(settings), "1.0.0", "1.1.0")
		w.runs(opened)
		w.repo.Delete(updates.MemoryBranch)
		return w
	}
	w := lost("")
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.runs(closed)
	if w.forge.all[0].Open || len(w.memory().Closing) > 0 {
		t.Errorf("remembered is %+v", w.memory().Closing)
	}
	w = lost("")
	w.runs(edited)
	w = lost("")
	w.registry.fails = errors.New("503")
	w.runs()
	if !w.forge.all[0].Open || len(w.memory().Closing) != 1 {
		t.Error("nobody answers, and it was closed")
	}
	w.registry.fails = nil
	w.runs(edited)
	if len(w.memory().Closing) > 0 {
		t.Errorf("remembered is %+v", w.memory().Closing)
	}
	w = lost("")
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.repo.Write(branch, "mine", twin.Tree{"x": twin.File([]byte("x"))}.Folder())
	w.runs(theirs)
	if !w.forge.all[0].Open {
		t.Error("a person's pull request was closed")
	}
}

// What limits hold back is not closed where the memory was lost.
func TestALostMemoryOfMany(t *testing.T) {
	w := grouped(t, "each, limits: {open: 9, perHour: 9}")
	w.runsAnyway()
	all := len(w.forge.all)
	w.repo.Delete(updates.MemoryBranch)
	w.source["waybill.yaml"] = strings.Replace(w.source["waybill.yaml"], "perHour: 9", "perHour: 1", 1)
	w.commit()
	for range all {
		w.now = w.now.Add(time.Hour)
		w.runsAnyway()
	}
	isClosed := func(p pull) bool { return !p.Open }
	if slices.ContainsFunc(w.forge.all, isClosed) || len(w.forge.all) != all || len(w.memory().Closing) > 0 || len(w.memory().Open()) != all {
		t.Errorf("of %d pull requests there are %+v, and to be closed %+v", all, w.forge.all, w.memory().Closing)
	}
}

// A digest that is another one when it is about to be written is not written, and neither is one that cannot be asked for.
func TestADigestThatChanges(t *testing.T) {
	s := sourceOf("")
	s["images.yaml"] += "  digestReflectionPolicy: IfNotPresent\n"
	w := begin(t, s, "1.0.0", "1.1.0")
	w.registry.built = func() { w.registry.digests[image+":1.1.0"] = digest("b") }
	k := w.loop()
	w.looks(k, time.Minute)
	if len(w.forge.all) > 0 || !w.head(branch).Commit.IsZero() {
		t.Fatalf("the branch changes %v", w.changes(branch))
	}
	w.registry.built = nil
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	w.looks(k, time.Minute) // within the interval: what was answered before the tag moved does not count any more
	if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.1.0@"+digest("b")) {
		t.Errorf("written is %q", got)
	}
}

// A clock that was ten years ahead keeps nothing back for ten years when it is right again.
func TestAClockThatWasAhead(t *testing.T) {
	w := begin(t, sourceOf(", minimumAge: 1h, schedule: ['0 * * * *'], limits: {perHour: 1}"), "1.0.0", "1.1.0")
	right := w.now
	w.now = w.now.AddDate(10, 0, 0)
	w.looks(w.loop(), 3*time.Hour)
	w.forge.all[0].Open = false
	w.now = right
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.looks(w.loop(), 3*time.Hour)
	if len(w.forge.all) != 2 || w.changes(branch)["apps/web.yaml"] != value(image+":1.2.0") {
		t.Errorf("there are %d pull requests", len(w.forge.all))
	}
}
