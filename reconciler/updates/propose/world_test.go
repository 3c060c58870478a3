package propose_test

import (
	"cmp"
	"context"
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
	labels map[int]string
	repo   *twin.Repo
	edits  int
	asked  int // for pull requests by their numbers
	// statuses are those of every commit, refuses why nothing is merged, and merge merges a branch.
	statuses []forge.Status
	refuses  error
	merge    func(branch string) string
	// hidden is why no pull request is shown by its number, and closed why none is listed.
	hidden, closed error
	unlabeled      error // why no label is set
	// shows is the head that pull requests are shown with; empty: that of their branch.
	shows string
}

func (p *pulls) PullRequest(ctx context.Context, number int) (forge.PullRequest, error) {
	if p.asked++; p.hidden != nil {
		return forge.PullRequest{}, p.hidden
	}
	is := p.all[number-1]
	head, _, err := p.repo.Branch(ctx, is.Branch)
	is.Head = cmp.Or(p.shows, head.Commit.String())
	return is, err
}

func (p *pulls) OpenPullRequests(context.Context, time.Time) ([]forge.PullRequest, error) {
	return nil, p.closed
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

func (p *pulls) AddLabel(_ context.Context, number int, name string) error {
	if p.unlabeled == nil {
		p.labels[number] = name
	}
	return p.unlabeled
}

func (p *pulls) RemoveLabel(_ context.Context, number int, _ string) error {
	if p.unlabeled == nil {
		delete(p.labels, number)
	}
	return p.unlabeled
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
	w.forge, w.catalog = &pulls{repo: w.repo, labels: map[int]string{}}, &catalog{versions: map[string][]string{}}
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
		Preview: func(context.Context, string, string, int) (string, updates.Effect, error) {
			return "what it does to every cluster\n", w.effect, nil
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

type (
	pull  = forge.PullRequest
	draft = forge.Draft
)

type (
	judgement = propose.Judgement
	snapshot  = sources.Snapshot
)
