package propose_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/registry"
	"github.com/waybill-dev/waybill/test/twin"
)

// registries has tags, by repositories, and what fails.
type registries struct {
	tags    map[string][]string
	digests map[string]string // by references; others have one of their own
	fails   error
	unkept  error // of signatures
	// verified are the references of which it was asked who signed them.
	verified []string
	asked    []string
	built    func() // is called when it said what an image is; nil: nothing is
}

func (r *registries) Tags(_ context.Context, repository string, known registry.Known) (registry.Known, error) {
	r.asked = append(r.asked, repository)
	if r.fails != nil {
		return known, r.fails
	}
	return registry.Known{ETag: fmt.Sprint(r.tags[repository]), Tags: r.tags[repository]}, nil
}

func (r *registries) Digest(_ context.Context, ref string) (string, error) {
	if d := r.digests[ref]; d != "" {
		return d, r.fails
	}
	return digest("a"), r.fails
}

func (r *registries) Image(ctx context.Context, ref string) (registry.Image, error) {
	d, err := r.Digest(ctx, ref)
	if r.built != nil {
		r.built()
	}
	return registry.Image{Digest: d, Source: "https://example.com/src", Changelog: "https://example.com/log"}, err
}

func (r *registries) Verify(_ context.Context, ref string, _ []registry.Key) error {
	r.verified = append(r.verified, ref)
	return r.unkept
}

func digest(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }

// pulls is a forge with pull requests.
type pulls struct {
	forge.Forge // what is not asked

	all    []forge.PullRequest
	drafts []forge.Draft
	repo   *twin.Repo
	edits  int
	asked  int // for pull requests by their numbers
	// statuses are those of every commit, refuses why nothing is merged, and merge merges a branch.
	statuses []forge.Status
	refuses  error
	merge    func(branch string) string
}

func (p *pulls) PullRequest(ctx context.Context, number int) (forge.PullRequest, error) {
	p.asked++
	is := p.all[number-1]
	head, _, err := p.repo.Branch(ctx, is.Branch)
	is.Head = head.Commit.String()
	return is, err
}

func (p *pulls) Statuses(context.Context, string) ([]forge.Status, error) { return p.statuses, nil }

func (p *pulls) MergePullRequest(ctx context.Context, number int, head string) error {
	is, err := p.PullRequest(ctx, number)
	switch {
	case err != nil:
		return err
	case p.refuses != nil:
		return p.refuses
	case is.Head != head:
		return &forge.Error{Status: http.StatusConflict}
	}
	p.all[number-1].Open, p.all[number-1].Merged = false, p.merge(is.Branch)
	return nil
}

func (p *pulls) PullRequestsOf(ctx context.Context, commit string) (found []forge.PullRequest, err error) {
	for _, is := range p.all {
		if head, _, _ := p.repo.Branch(ctx, is.Branch); is.Open && head.Commit.String() == commit {
			found = append(found, is)
		}
	}
	return found, nil
}

func (p *pulls) OpenPullRequest(_ context.Context, branch, base string, d forge.Draft) (forge.PullRequest, error) {
	n := len(p.all) + 1
	p.all = append(p.all, forge.PullRequest{Number: n, Branch: branch, Base: base, Open: true, URL: fmt.Sprint("https://forge.example/pulls/", n)})
	p.drafts = append(p.drafts, d)
	return p.all[n-1], nil
}

func (p *pulls) EditPullRequest(_ context.Context, number int, d forge.Draft) error {
	p.edits++
	p.drafts[number-1] = d
	return nil
}

func (p *pulls) ClosePullRequest(_ context.Context, number int) error {
	p.all[number-1].Open = false
	return nil
}

// world is a repository with a source, and what is around it.
type world struct {
	t        *testing.T
	repo     *twin.Repo
	source   map[string]string
	registry *registries
	forge    *pulls
	recorded []rollouts.Rollout
	now      time.Time
	proposer propose.Proposer
	catalog  *catalog
	charts   updates.Charts // that the source names
	// effect is what every change does, and judged are the files that were judged.
	effect updates.Effect
	judged []string
}

const image = "ghcr.io/acme/web"

// sourceOf is a source with two values of one policy, and settings below updates.
func sourceOf(settings string) map[string]string {
	return map[string]string{
		"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec:\n  updates: {mode: pullRequest" + settings + "}\n",
		"images.yaml": "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImageRepository\nmetadata: {name: web, namespace: shop}\nspec: {image: " + image + ", interval: 5m}\n---\n" +
			"apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\nmetadata: {name: web, namespace: shop}\nspec:\n  imageRepositoryRef: {name: web}\n  policy: {semver: {range: '*'}}\n",
		"apps/web.yaml": value("ghcr.io/acme/web:1.0.0"),
		"apps/job.yaml": value("ghcr.io/acme/web:1.0.0"),
	}
}

func value(image string) string { return "image: " + image + " # {\"$imagepolicy\": \"shop:web\"}\n" }

func begin(t *testing.T, source map[string]string, tags ...string) *world {
	t.Helper()
	w := &world{t: t, repo: twin.New("fleet"), source: source, registry: &registries{tags: map[string][]string{image: tags}, digests: map[string]string{}}, now: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}
	w.forge, w.catalog = &pulls{repo: w.repo}, &catalog{versions: map[string][]string{}}
	w.proposer = propose.Proposer{
		Repository: w.repo, Forge: w.forge, Base: "main", Now: func() time.Time { return w.now },
		Registries: func(render.ConfigSpec) (propose.Registry, propose.Catalog, error) { return w.registry, w.catalog, nil },
		Judge: func(context.Context, string) (propose.Judgement, error) {
			return func(_ context.Context, s sources.Snapshot) (updates.Effect, error) {
				data, err := s.ReadFile("apps/web.yaml")
				w.judged = append(w.judged, string(data))
				return w.effect, err
			}, nil
		},
		Load: func(ctx context.Context, s sources.Snapshot) (render.Source, error) {
			return render.Load(ctx, s, render.With{})
		},
		Preview: func(context.Context, string, string, int) (string, error) {
			return "what it does to every cluster\n", nil
		},
		Rollouts: func(context.Context) ([]rollouts.Rollout, error) { return w.recorded, nil },
		Charts:   func(context.Context, sources.Snapshot) (updates.Charts, error) { return w.charts, nil },
	}
	w.forge.merge = func(branch string) string {
		maps.Copy(w.source, w.changes(branch))
		return w.commit().String()
	}
	w.commit()
	return w
}

// commit commits the source to the base.
func (w *world) commit() files.ID {
	tree := twin.Tree{}
	for name, text := range w.source {
		tree[name] = twin.File([]byte(text))
	}
	return w.repo.Write("main", "a change", tree.Folder())
}

// runs proposes, and requires what is done, as "Opened waybill/update/shop/web".
func (w *world) runs(want ...string) propose.Result {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	r, err := w.proposer.Run(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var did []string
	for _, o := range r.Outcomes {
		did = append(did, string(o.Did)+" "+o.Branch)
	}
	if !slices.Equal(did, want) {
		w.t.Fatalf("done is %v (%+v), want %v", did, r.Outcomes, want)
	}
	return r
}

// head is where a branch is.
func (w *world) head(branch string) git.Head {
	h, _, err := w.repo.Branch(w.t.Context(), branch)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// changes are the files of a branch that are others than on its parent, with their text.
func (w *world) changes(branch string) map[string]string {
	h := w.head(branch)
	before, err := w.repo.Commit(w.t.Context(), h.Parent)
	if err != nil {
		w.t.Fatal(err)
	}
	all := map[string]string{}
	for d := range files.Diff(before.Tree, h.Tree) {
		data, err := d.New.Blob.Bytes()
		if err != nil {
			w.t.Fatal(err)
		}
		all[d.Path] = string(data)
	}
	return all
}

func (w *world) memory() *updates.Memory {
	m, err := updates.Decode(w.head(updates.MemoryBranch).Tree)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

const (
	branch = "waybill/update/shop/web"
	opened = "Opened " + branch
	edited = "Edited " + branch
	stays  = "Stays " + branch
	closed = "Closed " + branch
	theirs = "Theirs " + branch
	waits  = "Waits " + branch
)

var web = images.Name{Namespace: "shop", Name: "web"}

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
	if _, err := merged.repo.Publish(t.Context(), []git.Update{{Branch: branch, Old: h.Commit, After: []files.ID{merged.head("theirs").Commit}, Tree: h.Tree, Message: h.Message, Author: h.Author, When: merged.now}}); err != nil {
		t.Fatal(err)
	}
	merged.registry.tags[image] = append(merged.registry.tags[image], "1.2.0")
	merged.runs(theirs)
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
			base := w.head("main").Commit.String()
			w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.1.0"), value(image+":1.1.0")
			target := w.commit().String()
			w.source["apps/web.yaml"], w.source["apps/job.yaml"] = value(image+":1.0.0"), value(image+":1.0.0")
			w.commit()
			w.forge.all[0].Merged, w.forge.all[0].Open = target, false
			w.recorded = []rollouts.Rollout{{Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, Status: rollouts.Status{Phase: rollouts.Stopped, Base: rollouts.Version{Commit: base}, Target: rollouts.Version{Commit: target}}}}
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
			w.registry.tags[image] = append(w.registry.tags[image], "1.2.0")
			w.runs(opened)
			if got := w.changes(branch)["apps/web.yaml"]; got != value(image+":1.2.0") {
				t.Errorf("the newer version is %q", got)
			}
			if name == "stopped" && !strings.Contains(w.forge.drafts[1].Body, "A roll-out is open**: shop/web") {
				t.Errorf("the open run is not named:\n%s", w.forge.drafts[1].Body)
			}
		})
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

type (
	pull  = forge.PullRequest
	draft = forge.Draft
)

type (
	judgement = propose.Judgement
	snapshot  = sources.Snapshot
)
