package propose_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/subscribe"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// committing is a world with mode: commit, and no forge.
func committing(t *testing.T, settings string, tags ...string) *world {
	t.Helper()
	s := sourceOf(settings)
	s["waybill.yaml"] = strings.Replace(s["waybill.yaml"], "pullRequest", "commit", 1)
	w := begin(t, s, tags...)
	w.proposer.Forge = nil
	return w
}

// pulled reads the source as the base has it by now.
func (w *world) pulled() *world {
	w.t.Helper()
	for name := range w.source {
		s, err := w.repo.Snapshot(w.t.Context(), "main", "")
		if err != nil {
			w.t.Fatal(err)
		}
		data, err := s.ReadFile(name)
		if err != nil {
			w.t.Fatal(err)
		}
		w.source[name] = string(data)
	}
	return w
}

const committed = "Committed main"

// A new version is a commit on the branch that is followed, with its trailer, of its values and nothing else.
func TestCommit(t *testing.T) {
	w := committing(t, "", "1.0.0", "1.1.0")
	base := w.head("main").Commit
	w.runs(committed)
	h := w.head("main")
	if got := w.changes("main"); len(got) != 2 || got["apps/web.yaml"] != value(image+":1.1.0") || h.Parent != base {
		t.Errorf("the commit changes %v", got)
	}
	if !strings.HasSuffix(h.Message, "\n\nWaybill-Update: image ghcr.io/acme/web 1.1.0\n") || h.Author.Name != "Waybill" {
		t.Errorf("the commit is by %v, and says\n%s", h.Author, h.Message)
	}
	if p := w.memory().Policies[web].Proposal; p.Merged != h.Commit.String() || len(w.judged) != 1 || w.judged[0] != value(image+":1.1.0") {
		t.Errorf("remembered is %+v, and judged was %v", p, w.judged)
	}
	w.runs()
	if w.head("main").Commit != h.Commit {
		t.Error("it was committed again")
	}
}

// What was reverted is kept back, whenever that was noticed; newer is committed.
func TestACommitThatIsReverted(t *testing.T) {
	for name, push := range map[string]func(*world) error{
		"after it was noticed": func(w *world) error { _, err := w.proposer.Run(w.t.Context()); return err },
		"before anything was noticed": func(w *world) error { // whoever pushed was killed behind the push
			w.proposer.Repository = &killing{Repo: w.repo, after: "main"}
			defer func() { w.proposer.Repository = w.repo }()
			defer func() { _ = recover() }()
			_, err := w.proposer.Run(w.t.Context())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := committing(t, ", limits: {perHour: 9}", "1.0.0", "1.1.0")
			if err := push(w); err != nil {
				t.Fatal(err)
			}
			if got := w.changes("main"); got["apps/web.yaml"] != value(image+":1.1.0") {
				t.Fatalf("the commit changes %v", got)
			}
			w.commit() // 1.0.0 again
			w.runs()
			if got := w.memory().Policies[web].KeptBack; len(got) != 1 || got["1.1.0"] == "" {
				t.Fatalf("kept back is %v", got)
			}
			w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
			w.runs(committed)
		})
	}
}

// killing is a repository at which whoever pushes a branch is killed: behind the push, or, if only the others go, before it.
type killing struct {
	*twin.Repo

	after, before string
}

func (k *killing) Publish(ctx context.Context, all []git.Update) ([]files.ID, error) {
	named := func(u git.Update) bool { return u.Branch == k.after || u.Branch == k.before }
	if !slices.ContainsFunc(all, named) {
		return k.Repo.Publish(ctx, all)
	}
	if k.before != "" {
		all = slices.DeleteFunc(slices.Clone(all), named)
	}
	if _, err := k.Repo.Publish(ctx, all); err != nil {
		return nil, err
	}
	panic(kill{})
}

// Whoever is killed after it was remembered what was to be committed, and before it was, loses nothing: it is committed the next time.
func TestKilledBeforeTheCommit(t *testing.T) {
	w := committing(t, ", limits: {perHour: 1}", "1.0.0", "1.1.0")
	w.proposer.Repository = &killing{Repo: w.repo, before: "main"}
	func() {
		defer func() { _ = recover() }()
		_, err := w.proposer.Run(t.Context())
		t.Error("it was not killed", err)
	}()
	w.proposer.Repository = w.repo
	if p := w.memory().Policies[web].Proposal; p == nil || p.Parent != w.head("main").Commit.String() {
		t.Fatalf("remembered is %+v", p)
	}
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	h := w.head("main") // which another update follows
	other := git.Update{
		Branch: "main", Old: h.Commit, Tree: h.Tree, Message: "api 2.0.0\n\nWaybill-Update: image ghcr.io/acme/api 2.0.0\n",
		Author: git.Author{Name: "Waybill", Email: "waybill@waybill.dev"}, When: w.now,
	}
	if _, err := w.repo.Publish(t.Context(), []git.Update{other}); err != nil {
		t.Fatal(err)
	}
	w.runs(committed)
	if got := w.memory().Policies[web]; len(got.KeptBack) > 0 {
		t.Errorf("remembered is %+v", got)
	}
}

// Where the history does not tell whether it was committed, it is not committed again.
func TestKilledAndRewritten(t *testing.T) {
	w := committing(t, "", "1.0.0", "1.1.0")
	w.proposer.Repository = &killing{Repo: w.repo, after: "main"}
	func() {
		defer func() { _ = recover() }()
		_, _ = w.proposer.Run(t.Context())
	}()
	w.proposer.Repository = w.repo
	w.repo.Delete("main")
	w.source["other.yaml"] = "a: b\n"
	w.commit()
	w.runs()
	if got := w.memory().Policies[web]; len(got.KeptBack) != 1 {
		t.Errorf("remembered is %+v", got)
	}
}

// Somebody who is faster makes it look again, and judge what it commits beside what they did.
func TestACommitThatLosesTheRace(t *testing.T) {
	w := committing(t, "", "1.0.0", "1.1.0")
	w.proposer.Repository = &raced{w.repo, func() {
		w.source["apps/job.yaml"] = "# theirs\n" + w.source["apps/job.yaml"]
		w.commit()
	}}
	w.runs(committed)
	if got := w.changes("main"); got["apps/job.yaml"] != "# theirs\n"+value(image+":1.1.0") || len(w.judged) != 2 {
		t.Errorf("it changes %v, and judged was %v", got, w.judged)
	}
}

// A unit with an open run is not updated, unless its strategy lets newer versions wait; what is wrong is not committed.
func TestACommitThatIsHindered(t *testing.T) {
	for _, tt := range []struct {
		name   string
		effect updates.Effect
		want   string // empty: it is committed
	}{
		{"nothing is open", updates.Effect{}, ""},
		{"an open run would end", updates.Effect{Ends: []string{"shop/web"}}, "a roll-out is open: shop/web"},
		{"an open run is waited for", updates.Effect{Follows: []string{"shop/web"}}, ""},
		{"one of each", updates.Effect{Follows: []string{"shop/web"}, Ends: []string{"shop/api"}}, "a roll-out is open: shop/api"},
		{"it brings an error", updates.Effect{Wrong: "the source has 1 error"}, "it would not go through: the source has 1 error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := committing(t, "", "1.0.0", "1.1.0")
			base := w.head("main").Commit
			w.effect = tt.effect
			if tt.want == "" {
				w.runs(committed)
				return
			}
			if r := w.runs("Waits main"); r.Outcomes[0].Why != tt.want || w.head("main").Commit != base {
				t.Errorf("done is %+v", r.Outcomes)
			}
			w.effect = updates.Effect{}
			w.runs(committed)
		})
	}
}

// Commits count as pull requests do: so many in an hour, each judged beside the one before; and those of a group are one.
func TestHowManyCommits(t *testing.T) {
	each := grouped(t, "each")
	each.source["waybill.yaml"] = strings.Replace(each.source["waybill.yaml"], "pullRequest", "commit", 1)
	each.commit()
	each.runs(committed, committed, "Waits main", "Waits main")
	first := each.head("main")
	if before, err := each.repo.Commit(t.Context(), first.Parent); err != nil || len(each.changes("main")) != 1 || before.Author.Name != "Waybill" {
		t.Errorf("the last commit changes %v, and the one before is by %v: %v", each.changes("main"), before.Author, err)
	}
	each.pulled().now = each.now.Add(time.Hour)
	each.runs(committed, committed)
	all := grouped(t, "all")
	all.source["waybill.yaml"] = strings.Replace(all.source["waybill.yaml"], "pullRequest", "commit", 1)
	all.commit()
	all.runs(committed)
	if got := all.changes("main"); len(got) != 5 || strings.Count(all.head("main").Message, "\nWaybill-Update: ") != 4 {
		t.Errorf("it changes %v", got)
	}
}

// A schedule that is not due commits nothing.
func TestCommitsOnSchedule(t *testing.T) {
	w := committing(t, ", schedule: ['0 6 * * *']", "1.0.0", "1.1.0")
	w.runs(committed)
	w.pulled().registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.runs("Waits main")
	w.now = w.now.Add(24 * time.Hour)
	w.runs(committed)
}

// What is committed does not use the schedule up for what else is due, which is judged beside it in the same run; when all is committed it
// is used up.
func TestAllThatIsDueIsCommitted(t *testing.T) {
	w := grouped(t, "each, schedule: ['0 6 * * *'], limits: {perHour: 9}")
	w.source["waybill.yaml"] = strings.Replace(w.source["waybill.yaml"], "pullRequest", "commit", 1)
	w.commit()
	w.runs(committed, committed, committed, committed)
	w.pulled().registry.tags[image] = append(w.registry.tags[image], "1.2.0")
	w.runs("Waits main", "Waits main", "Waits main")
}

// An automation that names another branch has its versions pushed there, as Flux does, and no pull request.
func TestCommitsToTheBranchOfAnAutomation(t *testing.T) {
	s := automatedSource()
	s["waybill.yaml"] = strings.Replace(s["waybill.yaml"], "pullRequest", "commit", 1)
	s["automation.yaml"] += "  git: {commit: {author: {email: a@b}, messageTemplate: our words}, push: {branch: staging}}\n"
	w := begin(t, s, "1.0.0", "1.1.0")
	w.proposer.Forge = nil
	base := w.head("main").Commit
	w.runs("Pushed staging")
	if h := w.head("staging"); h.Parent != base || w.head("main").Commit != base || !strings.HasPrefix(h.Message, "our words\n\nWaybill-Update: ") || len(w.judged) > 0 {
		t.Errorf("it says\n%s", h.Message)
	}
	w.runs("Stays staging")
	w.source["automation.yaml"] = strings.Replace(w.source["automation.yaml"], "staging", "main", 1)
	w.commit()
	w.runs(committed)
}

// Whoever turns to commits has the open pull requests closed, by a forge that is named.
func TestFromPullRequestsToCommits(t *testing.T) {
	w := begin(t, sourceOf(", limits: {perHour: 9}"), "1.0.0", "1.1.0")
	w.runs(opened)
	w.source["waybill.yaml"] = strings.Replace(w.source["waybill.yaml"], "pullRequest", "commit", 1)
	w.commit()
	w.proposer.Forge = nil
	w.runs(committed)
	if !w.forge.all[0].Open || len(w.memory().Closing) != 1 {
		t.Errorf("remembered is %+v", w.memory().Closing)
	}
	w.proposer.Forge = w.forge
	w.pulled().runs(closed)
	if w.forge.all[0].Open || len(w.memory().Policies[web].KeptBack) > 0 {
		t.Errorf("remembered is %+v", w.memory().Policies[web])
	}
}

// A command that is for the other mode says which one is for this one.
func TestTheOtherMode(t *testing.T) {
	w := committing(t, "", "1.0.0", "1.1.0")
	w.proposer.Mode = subscribe.ModePullRequest
	if _, err := w.proposer.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is commit, which waybill update --commit carries out") {
		t.Errorf("the error is %v", err)
	}
	w = begin(t, sourceOf(""), "1.0.0", "1.1.0")
	w.proposer.Forge = nil
	if _, err := w.proposer.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "give --forge") {
		t.Errorf("the error is %v", err)
	}
}
