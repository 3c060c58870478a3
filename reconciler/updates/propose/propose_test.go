package propose_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/twin"
)

// A new version becomes one pull request, which has both values; it is not pushed again while it stays, whatever else changes
// on the base, and a newer version takes its place on the branch.
func TestOnePullRequest(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	base := w.head("main").Commit
	w.runs(opened)
	want := map[string]string{"apps/web.yaml": value(image + ":1.1.0"), "apps/job.yaml": value(image + ":1.1.0")}
	if got := w.changes(branch); fmt.Sprint(got) != fmt.Sprint(want) || w.head(branch).Parent != base {
		t.Errorf("the branch changes %v", got)
	}
	d := w.forge.drafts[0]
	if d.Title != "Update ghcr.io/acme/web to 1.1.0" || !strings.Contains(d.Body, "[source](<https://example.com/src>) · [changelog](<https://example.com/log>)") ||
		!strings.Contains(d.Body, "what it does to every cluster") || !strings.Contains(w.head(branch).Message, "\nWaybill-Update: image ghcr.io/acme/web 1.1.0\n") {
		t.Errorf("the pull request says\n%s\n%s", d.Title, d.Body)
	}
	was, memory := w.head(branch).Commit, w.head(updates.MemoryBranch).Commit
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	w.runs(stays)
	if w.head(branch).Commit != was || w.head(updates.MemoryBranch).Commit != memory || w.forge.edits > 0 {
		t.Error("what stays was pushed again, or remembered")
	}
	w.source["apps/job.yaml"] = "# moved\n" + w.source["apps/job.yaml"]
	w.commit()
	w.runs(edited)
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.runs(edited)
	if got := w.changes(branch); got["apps/web.yaml"] != value(image+":1.2.0") || len(w.forge.all) != 1 || w.head("main").Commit != w.head(branch).Parent {
		t.Errorf("the branch changes %v, and there are %d pull requests", got, len(w.forge.all))
	}
}

// What a registry does not say, or says no more, changes nothing.
func TestNothingGoesDown(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	was := w.head(branch).Commit
	w.registry.fails = &registry.Error{Class: registry.Busy, Of: image, Err: errors.New("429")}
	if r := w.runs(); r.Found.Verdicts[0].Why != updates.NotAnswered || !w.forge.all[0].Open || w.head(branch).Commit != was {
		t.Errorf("nobody answers, and it is %+v", r.Found.Verdicts[0])
	}
	w.registry.fails = nil
	w.registry.tags[image] = []string{"0.9.0"}
	w.runs(closed) // the version is not there any more
	if got := w.memory().Repositories[image].Seen; len(got) != 3 {
		t.Errorf("seen is %v", got)
	}
}

// As soon as somebody else's commit is on the branch, nothing is written to it; when it is gone, it is written again.
func TestAPersonsCommit(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.repo.Write(branch, "mine", twin.Tree{"x": twin.File([]byte("x"))}.Folder())
	mine := w.head(branch).Commit
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.runs(theirs)
	if w.head(branch).Commit != mine {
		t.Error("a person's commit is lost")
	}
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.2.0"), value(image+":1.2.0")
	w.commit()
	w.runs(theirs)
	if !w.forge.all[0].Open {
		t.Error("a person's pull request was closed")
	}
	// A commit by Waybill's author that Waybill did not make is not its own, either.
	other := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	other.runs(opened)
	h := other.head(branch)
	tree := twin.Of(h.Tree)
	tree["x"] = twin.File([]byte("x"))
	if _, err := other.repo.Publish(t.Context(), []git.Update{{Branch: branch, Old: h.Commit, Tree: tree.Folder(), Message: h.Message, Author: h.Author, When: other.now}}); err != nil {
		t.Fatal(err)
	}
	other.registry.tags[image] = append(other.registry.tags[image], "1.2.0")
	other.runs(theirs)
	// Neither is a merge, which has another one's commits, whatever it says and holds.
	merged := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	merged.runs(opened)
	h = merged.head(branch)
	merged.repo.Write("theirs", "mine", h.Tree)
	if _, err := merged.repo.Publish(t.Context(), []git.Update{{Branch: branch, Old: h.Commit, Anew: true, After: []files.ID{h.Parent, merged.head("theirs").Commit}, Tree: h.Tree, Message: h.Message, Author: h.Author, When: merged.now}}); err != nil {
		t.Fatal(err)
	}
	merged.registry.tags[image] = append(merged.registry.tags[image], "1.2.0")
	merged.runs(theirs)
}

// tried has the base say a version, and say again what it said before; the roll-out of that is in a phase.
func (w *world) tried(version string, is rollouts.Phase) rollouts.Rollout {
	w.t.Helper()
	base := w.head("main").Commit.String()
	web, job := w.source["apps/web.yaml"], w.source["apps/job.yaml"]
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":"+version), value(image+":"+version)
	target := w.commit().String()
	w.source["apps/web.yaml"], w.source["apps/job.yaml"] = web, job
	w.commit()
	return rollouts.Rollout{Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, Status: rollouts.Status{
		Phase: is, Base: rollouts.Version{Commit: base}, Target: rollouts.Version{Commit: target},
	}}
}

// What was merged and reverted is not proposed again, and neither is what was closed unmerged; newer is.
func TestKeptBack(t *testing.T) {
	for name, give := range map[string]func(*world){
		"reverted": func(w *world) {
			w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.1.0"), value(image+":1.1.0")
			w.forge.all[0].Merged, w.forge.all[0].Open = w.commit().String(), false
			w.runs()
			if w.memory().Policies[web].Proposal.Merged != w.head("main").Commit.String() {
				t.Error("it is not remembered as merged")
			}
			w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.0.0"), value(image+":1.0.0")
			w.commit()
		},
		"closed": func(w *world) { w.forge.all[0].Open = false },
		"stopped": func(w *world) {
			run := w.tried("1.1.0", rollouts.Stopped)
			w.forge.all[0].Merged, w.forge.all[0].Open = run.Status.Target.Commit, false
			w.recorded = []rollouts.Rollout{run}
		},
		"going back": func(w *world) { // while its pull request is open
			w.recorded = []rollouts.Rollout{w.tried("1.1.0", rollouts.Returning)}
			w.runs(closed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
			w.runs(opened)
			give(w)
			w.now = w.now.Add(2 * time.Hour)
			r, err := w.proposer.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(w.memory().Policies[web].KeptBack) != 1 || r.Found.Takes() || len(w.forge.all) != 1 {
				t.Fatalf("remembered is %+v, and next %+v", w.memory().Policies[web], r.Found.Verdicts[0])
			}
			w.registry.tags[image], w.effect.Ends = append(w.registry.tags[image], "1.2.0"), []string{"shop/web"}
			w.runs(opened)
			if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.2.0") {
				t.Errorf("the newer version is %q", got)
			}
			if !strings.Contains(w.forge.drafts[len(w.forge.drafts)-1].Body, "A roll-out is open**: shop/web") {
				t.Errorf("the open run is not named:\n%s", w.forge.drafts[len(w.forge.drafts)-1].Body)
			}
		})
	}
}

// A pull request that meets an open run has a label, until no roll-out is open, or the change meets none; whatever comes of the label
// keeps nothing from being proposed.
func TestALabelWhileARolloutIsOpen(t *testing.T) {
	const label = "waybill-rollout-open"
	w := begin(t, sourceOf(", minimumAge: 1h"), "1.0.0", "1.1.0")
	w.recorded = []rollouts.Rollout{w.tried("1.0.0", rollouts.Updating)}
	w.runs()
	w.now = w.now.Add(time.Hour)
	w.effect.Follows = []string{"shop/web"}
	w.runs(opened)
	if w.forge.labels[1] != label || !strings.Contains(w.forge.drafts[0].Body, "A roll-out is open**: shop/web") {
		t.Fatalf("opened while a roll-out is open it has the labels %v:\n%s", w.forge.labels, w.forge.drafts[0].Body)
	}
	w.runs(stays)
	if w.forge.labels[1] != label || !w.memory().Policies[web].Proposal.Labeled {
		t.Fatalf("while it is open the labels are %v", w.forge.labels)
	}
	w.recorded[0].Status.Phase = rollouts.Done
	w.forge.unlabeled = &forge.Error{Status: http.StatusBadGateway}
	w.runs(stays)
	if !w.memory().Policies[web].Proposal.Labeled {
		t.Fatal("that the label is still there is forgotten")
	}
	w.forge.unlabeled = nil
	w.runs(stays)
	if len(w.forge.labels) != 0 || w.memory().Policies[web].Proposal.Labeled {
		t.Fatalf("when no roll-out is open any more the labels are %v", w.forge.labels)
	}
	w.recorded[0].Status.Phase = rollouts.Updating
	w.source["apps/other.yaml"], w.forge.unlabeled = value(image+":1.0.0"), &forge.Error{Status: http.StatusForbidden}
	w.commit()
	if r := w.runs(edited); !strings.Contains(r.Outcomes[0].Why, label) || w.memory().Policies[web].Proposal.Labeled {
		t.Fatalf("refused is the label with %+v", r.Outcomes)
	}
}

// The newest that is too young does not keep the one before from being taken; age counts from when it was seen first.
func TestAge(t *testing.T) {
	w := begin(t, sourceOf(", minimumAge: 72h"), "1.0.0", "1.1.0")
	w.runs()
	w.now = w.now.Add(72 * time.Hour)
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.runs(opened)
	if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.1.0") {
		t.Errorf("taken is %q", got)
	}
}

// A tag that moves is a change of its digest, where the policy says so.
func TestAMovedTag(t *testing.T) {
	s := sourceOf("")
	s["images.yaml"] += "  digestReflectionPolicy: Always\n"
	s["apps/web.yaml"], s["apps/job.yaml"] = value(image+":1.0.0@"+digest("a")), value(image+":1.0.0@"+digest("a"))
	w := begin(t, s, "1.0.0")
	w.runs()
	w.registry.digests[image+":1.0.0"] = digest("b")
	w.runs(opened)
	if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.0.0@"+digest("b")) {
		t.Errorf("taken is %q", got)
	}
	w.forge.all[0].Open = false
	w.runs()
	w.registry.digests[image+":1.0.0"] = digest("c")
	w.runs(opened)
}

// A digest that is there already is not followed where the policy asks for one only if there is none.
func TestADigestThatIsThere(t *testing.T) {
	s := sourceOf("")
	s["images.yaml"] += "  digestReflectionPolicy: IfNotPresent\n"
	w := begin(t, s, "1.0.0")
	w.runs(opened)
	s["apps/web.yaml"], s["apps/job.yaml"] = value(image+":1.0.0@"+digest("a")), value(image+":1.0.0@"+digest("a"))
	w.forge.all[0].Merged, w.forge.all[0].Open = w.commit().String(), false
	w.registry.digests[image+":1.0.0"] = digest("b")
	w.now = w.now.Add(time.Hour)
	if v := w.runs().Found.Verdicts[0]; v.Why != updates.UpToDate || len(w.forge.all) != 1 {
		t.Errorf("it is %+v", v)
	}
}

// What nobody signed is not proposed.
func TestUnsigned(t *testing.T) {
	s := sourceOf(", verify: [{images: ['ghcr.io/acme/*'], keys: [cosign.pub]}]")
	w := begin(t, s, "1.0.0", "1.1.0")
	if r := w.runs(); r.Found.Verdicts[0].Why != updates.Unverified || !strings.Contains(r.Found.Verdicts[0].Message, "cosign.pub") {
		t.Errorf("without a key it is %+v", r.Found.Verdicts[0])
	}
}

func TestLimits(t *testing.T) {
	two := func(settings string) *world {
		s := sourceOf(settings)
		s["images.yaml"] += "---\n" + strings.NewReplacer("name: web, namespace", "name: api, namespace").Replace(s["images.yaml"][strings.Index(s["images.yaml"], "---\n")+4:])
		s["apps/api.yaml"] = strings.ReplaceAll(value(image+":1.0.0"), "shop:web", "shop:api")
		return begin(t, s, "1.0.0", "1.1.0")
	}
	w := two(", limits: {open: 1}")
	w.runs(waits, "Opened waybill/update/shop/api")
	w.runs(waits, "Stays waybill/update/shop/api")
	w = two(", limits: {perHour: 1}")
	w.runs(waits, "Opened waybill/update/shop/api")
	w.now = w.now.Add(time.Hour)
	w.runs("Stays waybill/update/shop/api", opened)
	if n := len(w.registry.asked); n != 2 {
		t.Errorf("one repository was asked %d times in two runs", n)
	}
	w = two(", schedule: ['0 6 * * *']")
	w.runs("Opened waybill/update/shop/api", opened) // it came about since ever
	w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.forge.all[1].Open = false
	w.runs(waits, "Edited waybill/update/shop/api")
	w.now = w.now.Add(24 * time.Hour)
	w.runs("Stays waybill/update/shop/api", opened)
}

// What a person took by hand, or does not want any more, is closed.
func TestObsolete(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.runs(opened)
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "'*'", "1.0.x", 1)
	w.commit()
	w.runs(closed)
	w.source["images.yaml"] = strings.Replace(w.source["images.yaml"], "1.0.x", "'*'", 1)
	w.commit()
	w.runs(opened) // nobody said that it is not wanted
}

// A mistake, or suspend, leaves what is proposed as it is.
func TestWhatRests(t *testing.T) {
	for _, edit := range []func(map[string]string){
		func(s map[string]string) { s["images.yaml"] = strings.Replace(s["images.yaml"], "'*'", "one", 1) },
		func(s map[string]string) {
			s["images.yaml"] = strings.Replace(s["images.yaml"], "interval: 5m", "suspend: true", 1)
		},
		func(s map[string]string) { s["apps/two.yaml"] = "x: &a y # {\"$imagepolicy\": \"shop:web\"}\n" },
		func(s map[string]string) { s["images.yaml"] += "---\na: [\n" },
		func(s map[string]string) { s["images.yaml"] = "a: [\n" },
	} {
		w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
		w.runs(opened)
		edit(w.source)
		w.commit()
		w.runs()
		if !w.forge.all[0].Open || w.memory().Policies[web].Proposal == nil {
			t.Error("a pull request was closed")
		}
	}
}

// A marker that is a mistake keeps all values of its policy, and is named; another policy goes on.
func TestABadMarker(t *testing.T) {
	s := sourceOf("")
	s["apps/two.yaml"] = "image: " + image + ":1.0.0 # {\"$imagepolicy\": \"shop:web\"} {\"$imagepolicy\": \"shop:api\"}\n"
	s["apps/none.yaml"] = "image: " + image + ":1.0.0 # {\"$imagepolicy\": \"shop:wep\"}\n"
	w := begin(t, s, "1.0.0", "1.1.0")
	r := w.runs()
	if r.Found.Verdicts[0].Why != updates.MarkerBad || len(r.Found.Source.Diags) != 2 {
		t.Fatalf("it is %+v, and said is %v", r.Found.Verdicts[0], r.Found.Source.Diags)
	}
	if d := r.Found.Source.Diags[0]; d.Pos.String() != "apps/none.yaml:1" || d.Hint != `did you mean "shop:web"?` {
		t.Errorf("said is %v", d)
	}
}

// raced lets somebody else be faster once.
type raced struct {
	*twin.Repo

	before func()
}

func (r *raced) Publish(ctx context.Context, all []git.Update) ([]files.ID, error) {
	if f := r.before; f != nil {
		r.before = nil
		f()
	}
	return r.Repo.Publish(ctx, all)
}

// Somebody who is faster makes it look again, and nothing is lost.
func TestALostRace(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.proposer.Repository = &raced{w.repo, func() {
		w.repo.Write(updates.MemoryBranch, "theirs", twin.Tree{"format": twin.File([]byte("1\n")), "policies/shop/other.json": twin.File([]byte(`{"keptBack":{"1":"why"}}`))}.Folder())
	}}
	w.runs(opened)
	if got := w.memory().Policies; len(got) != 2 || len(w.forge.all) != 1 {
		t.Errorf("remembered is %v", got)
	}
}

// Memory that this version does not read is an error: to go on would propose again what was kept back.
func TestMemoryOfAnotherVersion(t *testing.T) {
	w := begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.repo.Write(updates.MemoryBranch, "newer", twin.Tree{"format": twin.File([]byte("2\n"))}.Folder())
	if _, err := w.proposer.Run(t.Context()); err == nil || !strings.Contains(err.Error(), `the format is "2\n"`) {
		t.Errorf("the error is %v", err)
	}
}

// With updates.mode off nothing is done.
func TestOff(t *testing.T) {
	s := sourceOf("")
	s["waybill.yaml"] = ""
	w := begin(t, s, "1.0.0", "1.1.0")
	if _, err := w.proposer.Run(t.Context()); err == nil || len(w.registry.asked) > 0 {
		t.Errorf("the error is %v", err)
	}
}
