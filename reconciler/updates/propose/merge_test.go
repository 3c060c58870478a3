package propose_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

const merged = "Merged " + branch

// merging is a world with automerge in which a pull request is open for long enough to be merged.
func merging(t *testing.T) *world {
	t.Helper()
	w := begin(t, sourceOf(", automerge: true"), "1.0.0", "1.1.0")
	w.runs(opened)
	w.runs(stays, waits) // checks have a while to begin
	w.now = w.now.Add(5 * time.Minute)
	return w
}

// A pull request that nobody else committed to is merged at its head, once the checks of others had time to begin.
func TestAutomerge(t *testing.T) {
	w := merging(t)
	w.source["other.yaml"] = "a: b\n" // the base moved meanwhile, elsewhere
	w.commit()
	w.forge.statuses = []forge.Status{{Context: "ci", State: forge.Success}, {Context: "deploy", State: forge.Pending, Optional: true}}
	w.runs(merged)
	if got := w.changes("main"); got["apps/web.yaml"] != value(image+":1.1.0") || w.forge.all[0].Open || len(w.judged) != 1 || w.judged[0] != got["apps/web.yaml"] {
		t.Errorf("the base changes %v, and judged was %v", got, w.judged)
	}
	if p := w.memory().Policies[web].Proposal; p == nil || p.Merged == "" {
		t.Errorf("remembered is %+v", p)
	}
	w.runs()
}

// What hinders a merge is said, and the pull request stays.
func TestWhatIsNotMerged(t *testing.T) {
	for name, tt := range map[string]struct {
		give func(*world)
		want string
	}{
		"an open run would end":     {func(w *world) { w.effect.Ends = []string{"shop/web"} }, "a roll-out is open: shop/web"},
		"an open run is waited for": {func(w *world) { w.effect.Follows = []string{"shop/web"} }, "a roll-out is open: shop/web"},
		"a red preview":             {func(w *world) { w.effect.Wrong = "1 cluster would be held" }, "it would not go through: 1 cluster would be held"},
		"a red check":               {func(w *world) { w.forge.statuses = []forge.Status{{Context: "ci", State: forge.Failure}} }, "the commit status ci is failure"},
		"a check that runs": {func(w *world) {
			w.forge.statuses = []forge.Status{{Context: "ok", State: forge.Success}, {Context: "ci", State: forge.Pending}}
		}, "the commit status ci is pending"},
		"the rules of the forge": {func(w *world) {
			w.forge.refuses = &forge.Error{Host: "forge.example", Doing: "merging", Status: http.StatusMethodNotAllowed}
		}, "merging"},
		"another head":   {func(w *world) { w.forge.shows = w.head("main").Commit.String() }, "the forge does not show it"},
		"another branch": {func(w *world) { w.forge.all[0].Branch = "main" }, "the forge does not show it"},
		"another base":   {func(w *world) { w.forge.all[0].Base = "next" }, "the forge does not show it"},
	} {
		t.Run(name, func(t *testing.T) {
			w := merging(t)
			base := w.head("main").Commit
			tt.give(w)
			r := w.runs(stays, waits)
			if why := r.Outcomes[1].Why; !strings.Contains(why, tt.want) || w.head("main").Commit != base || !w.forge.all[0].Open {
				t.Errorf("it waits because %s", why)
			}
		})
	}
}

// A pull request that a person committed to is never merged, even if the commit comes when everything was looked at.
func TestAPersonsCommitIsNotMerged(t *testing.T) {
	w := merging(t)
	w.repo.Write(branch, "mine", twin.Tree{"x": twin.File([]byte("x"))}.Folder())
	w.runs(theirs, waits)
	alone := merging(t) // in place of Waybill's
	h := alone.head(branch)
	tree := twin.Of(h.Tree)
	tree["apps/web.yaml"] = twin.File([]byte(value(image + ":6.6.6")))
	u := git.Update{
		Branch: branch, Old: h.Commit, Anew: true, After: []files.ID{h.Parent}, Tree: tree.Folder(), Message: "mine", Author: git.Author{Name: "ann"}, When: alone.now,
	}
	if _, err := alone.repo.Publish(t.Context(), []git.Update{u}); err != nil {
		t.Fatal(err)
	}
	alone.runs(theirs, waits)
	late := merging(t)
	late.proposer.Judge = func(ctx context.Context, _ string) (judgement, error) {
		h, _, err := late.repo.Branch(ctx, branch)
		if err != nil {
			return nil, err
		}
		tree := twin.Of(h.Tree)
		tree["x"] = twin.File([]byte("x"))
		_, err = late.repo.Publish(ctx, []git.Update{{Branch: branch, Old: h.Commit, Tree: tree.Folder(), Message: "mine", Author: git.Author{Name: "ann"}, When: late.now}})
		return func(context.Context, snapshot) (updates.Effect, error) { return updates.Effect{}, nil }, err
	}
	base := late.head("main").Commit
	late.runs(stays, waits)
	if late.head("main").Commit != base || !late.forge.all[0].Open {
		t.Error("a person's commit was merged")
	}
}

// A branch that somebody sets back to what was on it before is not merged: that is another version than the one that is proposed.
func TestABranchThatIsSetBackIsNotMerged(t *testing.T) {
	w := begin(t, sourceOf(", automerge: true, schedule: ['0 6 * * *']"), "1.0.0", "1.1.0")
	w.runs(opened)
	was := w.head(branch)
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.runs(edited)
	u := git.Update{
		Branch: branch, Old: w.head(branch).Commit, Anew: true, After: []files.ID{was.Parent}, Tree: was.Tree, Message: was.Message, Author: was.Author, When: was.When,
	}
	if ids, err := w.repo.Publish(t.Context(), []git.Update{u}); err != nil || ids[0] != was.Commit {
		t.Fatal(ids, err)
	}
	base := w.head("main").Commit
	w.looks(w.loop(), 20*time.Minute)
	if w.head("main").Commit != base || !w.forge.all[0].Open {
		t.Errorf("it was merged, and the base changes %v", w.changes("main"))
	}
}

// What is not what it was when it was proposed is not merged between two times at which registries are asked.
func TestWhatIsNotAsItWasProposed(t *testing.T) {
	for name, edit := range map[string]func(map[string]string){
		"suspended": func(s map[string]string) {
			s["images.yaml"] = strings.Replace(s["images.yaml"], "interval: 5m", "suspend: true", 1)
		},
		"gone": func(s map[string]string) { delete(s, "images.yaml") },
		"another value": func(s map[string]string) {
			s["apps/web.yaml"], s["apps/job.yaml"] = value(image+":1.0.5"), value(image+":1.0.5")
		},
		"an edited file": func(s map[string]string) { s["apps/job.yaml"] = "# moved\n" + s["apps/job.yaml"] },
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, sourceOf(", automerge: true, schedule: ['0 6 * * *']"), "1.0.0", "1.1.0")
			w.runs(opened)
			edit(w.source)
			base := w.commit()
			k := w.loop()
			w.looks(k, 20*time.Minute)
			if w.head("main").Commit != base || !w.forge.all[0].Open {
				t.Error("it was merged")
			}
		})
	}
	w := begin(t, sourceOf(", automerge: true, schedule: ['0 6 * * *']"), "1.0.0", "1.1.0")
	w.runs(opened)
	w.looks(w.loop(), 20*time.Minute)
	if w.forge.all[0].Open || w.changes("main")["apps/web.yaml"] != value(image+":1.1.0") {
		t.Error("what is as it was is not merged")
	}
}

// A version with which a roll-out stopped is not merged, though its pull request is open until registries are asked again.
func TestWhatIsKeptBackIsNotMerged(t *testing.T) {
	w := begin(t, sourceOf(", automerge: true, schedule: ['0 6 * * *']"), "1.0.0", "1.1.0")
	w.runs(opened)
	w.recorded = []rollouts.Rollout{w.tried("1.1.0", rollouts.Stopped)}
	base := w.head("main").Commit
	w.looks(w.loop(), 20*time.Minute)
	if w.head("main").Commit != base || !w.forge.all[0].Open || w.memory().Policies[web].KeptBack["1.1.0"] == "" {
		t.Errorf("it was merged, and remembered is %+v", w.memory().Policies[web])
	}
}

// What was judged for a base is not merged into another one: somebody may have pushed meanwhile.
func TestABaseThatMovesWhileAMergeIsJudged(t *testing.T) {
	for name, moves := range map[string]func(*world){
		"the base": func(w *world) {
			w.source["apps/web.yaml"] = "# theirs\n" + w.source["apps/web.yaml"]
			w.commit()
		},
		"the branch": func(w *world) { w.repo.Write(branch, "mine", w.head(branch).Tree) },
		"the memory": func(w *world) {
			w.repo.Write(updates.MemoryBranch, "another one leads", w.head(updates.MemoryBranch).Tree)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := merging(t)
			judge := w.proposer.Judge
			w.proposer.Judge = func(ctx context.Context, base string) (judgement, error) {
				moves(w)
				return judge(ctx, base)
			}
			if r := w.runs(stays, waits); !strings.Contains(r.Outcomes[1].Why, "moved while it was judged") || !w.forge.all[0].Open {
				t.Errorf("it is %+v", r.Outcomes)
			}
		})
	}
}

// forged has somebody put a commit on the branch that says to be Waybill's and holds what Waybill's does.
func (w *world) forged(after ...files.ID) {
	w.t.Helper()
	h := w.head(branch)
	u := git.Update{Branch: branch, Old: h.Commit, Anew: true, After: after, Tree: h.Tree, Message: h.Message, Author: h.Author, When: w.now}
	if _, err := w.repo.Publish(w.t.Context(), []git.Update{u}); err != nil {
		w.t.Fatal(err)
	}
}

// A commit that says to be Waybill's, and holds what Waybill's does, is somebody else's if it comes after another one: it may undo
// what the base got since, and bring what nobody reviewed.
func TestACommitThatSaysToBeWaybills(t *testing.T) {
	for name, forges := range map[string]func(*world){
		"after the base as it is now": func(w *world) {
			w.source["apps/web.yaml"], w.source["apps/other.yaml"] = value(image+":1.0.0")+"# mended\n", "a: b\n"
			w.forged(w.commit())
		},
		"after a person's": func(w *world) {
			tree := w.head(branch).Tree
			of := twin.Of(tree)
			of["x"] = twin.File([]byte("x"))
			at := w.repo.Write(branch, "mine", of.Folder())
			if _, err := w.repo.Publish(w.t.Context(), []git.Update{{Branch: branch, Old: at, Tree: tree, Message: "Update\n\nWaybill-Update: image x 1\n", Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}, When: w.now}}); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := merging(t)
			forges(w)
			at := w.head(branch).Commit
			w.runs(theirs, waits)
			if !w.forge.all[0].Open || w.head(branch).Commit != at {
				t.Error("it is taken for Waybill's")
			}
		})
	}
}

// rewritten is a source whose base has a commit that its owners take away again, with all that came after it.
func (w *world) rewritten() {
	w.repo.Delete("main")
	delete(w.source, "leaked.yaml")
	w.commit()
}

// A base that was rewritten does not get back what it gave up: the change is made anew from what it is now, and before that is not
// merged.
func TestABaseThatIsRewritten(t *testing.T) {
	s := sourceOf(", automerge: true")
	s["leaked.yaml"] = "password: x\n"
	w := begin(t, s, "1.0.0", "1.1.0")
	w.runs(opened)
	w.now = w.now.Add(time.Hour)
	w.rewritten()
	w.runs(edited)
	if h := w.head(branch); h.Parent != w.head("main").Commit || !w.forge.all[0].Open {
		t.Errorf("the branch comes after %s", h.Parent)
	}
	s = sourceOf(", automerge: true, schedule: ['0 6 * * *']")
	s["leaked.yaml"] = "password: x\n"
	w = begin(t, s, "1.0.0", "1.1.0")
	w.runs(opened)
	w.rewritten()
	w.looks(w.loop(), 20*time.Minute)
	if !w.forge.all[0].Open {
		t.Error("what comes after commits that are no more was merged")
	}
}

// numb is a forge that edits nothing.
type numb struct{ *pulls }

func (numb) EditPullRequest(context.Context, int, draft) error { return errors.New("503") }

// A pull request that could not be edited when its branch was pushed is edited the next time, and checks have their time from then on.
func TestAPullRequestThatShowsAnotherChange(t *testing.T) {
	w := merging(t)
	w.now = w.now.Add(time.Hour)
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.proposer.Forge = numb{w.forge}
	if _, err := w.proposer.Run(t.Context()); err == nil || w.changes(branch)["apps/web.yaml"] != value(image+":1.2.0") {
		t.Fatalf("the branch changes %v, and the error is %v", w.changes(branch), err)
	}
	w.proposer.Forge = w.forge
	w.runs(edited)
	if title := w.forge.drafts[0].Title; title != "Update "+image+" to 1.2.0" || !w.forge.all[0].Open {
		t.Errorf("it says %s", title)
	}
	w.runs(stays, waits)
}

// A roll-out that is open for hours does not have a controller plan every minute, and when it is over the merge is not far.
func TestAHindranceIsNotJudgedEveryMinute(t *testing.T) {
	w := begin(t, sourceOf(", automerge: true"), "1.0.0", "1.1.0")
	k := w.loop()
	w.effect.Ends = []string{"shop/web"}
	w.looks(k, time.Hour)
	if n := len(w.judged); n == 0 || n > 12 || !w.forge.all[0].Open {
		t.Fatalf("within an hour it was judged %d times", n)
	}
	w.effect = updates.Effect{}
	w.looks(k, 6*time.Minute)
	if w.forge.all[0].Open {
		t.Error("it is not merged when nothing hinders it")
	}
}
