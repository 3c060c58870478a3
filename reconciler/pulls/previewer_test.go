package pulls_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/post"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/forge"
	"github.com/waybill-dev/waybill/sources/forge/forgetest"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/lock"
)

// requested is a source that is published, and a pull request to it.
type requested struct {
	t         *testing.T
	src, bare string
	fake      *forgetest.Fake
	previewer *pulls.Previewer
	now       time.Time
	sandboxes int // that were asked for
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: %}\n"

func newRequested(t *testing.T, config string) *requested {
	t.Helper()
	p := &requested{t: t, src: t.TempDir(), bare: filepath.Join(t.TempDir(), "bare.git"), fake: forgetest.NewFake(), now: forgetest.Epoch.Add(time.Minute)}
	run(t, ".", "init", "-q", "--bare", p.bare)
	run(t, ".", "init", "-q", "-b", "main", p.src)
	change(t, p.src, map[string]string{
		"fleet.yaml": fleet, "a.yaml": strings.ReplaceAll(configMap, "%", "one"),
		"waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {" + config + "}\n",
	})
	now := func() time.Time { return p.now }
	r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: open(t.Context(), t, p.src), Target: open(t.Context(), t, p.bare), Cache: cache.Memory(), Now: now}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	source := open(t.Context(), t, p.src)
	p.previewer = &pulls.Previewer{
		Comparer: &pulls.Comparer{
			Reconciler: &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: source, Target: open(t.Context(), t, p.bare), Cache: cache.Memory(), Now: now},
			Rev:        "main", MergeBase: source.MergeBase, Now: now, Random: rand.Reader, Log: slog.New(slog.DiscardHandler),
			Sandbox: func(*render.ConfigSpec, ...lock.Lock) (render.Engine, error) { p.sandboxes++; return nil, nil },
		},
		Forge: p.fake, PerAuthor: 2,
	}
	return p
}

// push gives the pull request a commit with files, from where main is.
func (p *requested) push(fork bool, files map[string]string) (head string) {
	p.t.Helper()
	run(p.t, p.src, "checkout", "-q", "-B", "change", "main")
	change(p.t, p.src, files)
	head = run(p.t, p.src, "rev-parse", "HEAD")
	run(p.t, p.src, "update-ref", "refs/pull/7/head", head)
	run(p.t, p.src, "checkout", "-q", "main")
	p.fake.PushCommit(head)
	p.fake.SetFork(fork)
	return head
}

// looks has the previewer look, and returns what the pull request says then.
func (p *requested) looks() string {
	p.t.Helper()
	if err := p.previewer.Look(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	all, err := p.fake.Comments(p.t.Context(), forgetest.Number)
	if err != nil {
		p.t.Fatal(err)
	}
	var said []string
	for _, c := range all {
		if c.Mine {
			said = append(said, c.Body)
		}
	}
	if len(said) > 1 {
		p.t.Errorf("there are %d comments", len(said))
	}
	return strings.Join(said, "\n")
}

func to(value string) map[string]string {
	return map[string]string{"a.yaml": strings.ReplaceAll(configMap, "%", value)}
}

// TestPreviewer: a pull request shows what its head does, once, and nothing of what came to main.
func TestPreviewer(t *testing.T) {
	p := newRequested(t, "")
	head := p.push(false, to("two"))
	change(t, p.src, map[string]string{"b.yaml": strings.ReplaceAll(strings.ReplaceAll(configMap, "name: a", "name: later"), "%", "x")})
	said := p.looks()
	if !strings.Contains(said, "ConfigMap") || !strings.Contains(said, head[:12]) || strings.Contains(said, "later") {
		t.Errorf("it says\n%s", said)
	}
	if s := p.fake.Shown(head, post.Context); s.State != forge.Success || s.Description != "1 object in 1 cluster" {
		t.Errorf("the status is %+v", s)
	}
	p.fake.Fail = func(method string) error {
		if method == "EditComment" || method == "Comment" || method == "SetStatus" {
			t.Errorf("%s, although nothing changed", method)
		}
		return nil
	}
	p.looks()
	p.fake.Fail = nil
	second := p.push(false, to("three"))
	if said := p.looks(); !strings.Contains(said, second[:12]) || strings.Contains(said, head[:12]) {
		t.Errorf("of another head it says\n%s", said)
	}
	if p.sandboxes > 0 {
		t.Error("the change of a member is taken for a stranger's")
	}
}

// TestARedBranchTurnsNothingRed: an error that the branch has already is said apart, and one that the change adds
// is what fails.
func TestARedBranchTurnsNothingRed(t *testing.T) {
	p := newRequested(t, "")
	broken := strings.Replace(configMap, "metadata", "metadata: [", 1)
	change(t, p.src, map[string]string{"broken.yaml": broken})
	head := p.push(false, to("two"))
	said := p.looks()
	if s := p.fake.Shown(head, post.Context); s.State != forge.Success || !strings.Contains(said, "There without this change, too: 1 error") || !strings.Contains(said, "broken.yaml") {
		t.Errorf("the status is %+v; it says\n%s", s, said)
	}
	files := to("three")
	files["another.yaml"] = broken
	head = p.push(false, files)
	said = p.looks()
	if s := p.fake.Shown(head, post.Context); s.State != forge.Failure || !strings.Contains(said, "**1 error in the source**") || !strings.Contains(said, "There without this change, too: 1 error") {
		t.Errorf("of an error of its own: the status is %+v; it says\n%s", s, said)
	}
}

// TestPreviewerLooksAgainWhenTheBranchMoves: what shows a hold is made again when the branch moves, once, and
// what shows none is not.
func TestPreviewerLooksAgainWhenTheBranchMoves(t *testing.T) {
	p := newRequested(t, "")
	publish := func() {
		t.Helper()
		r := &reconciler.Reconciler{Seen: reconciler.NewCache(), Source: open(t.Context(), t, p.src), Target: open(t.Context(), t, p.bare), Cache: cache.Memory(), Now: p.previewer.Now}
		if _, err := r.Publish(t.Context(), "main"); err != nil {
			t.Fatal(err)
		}
	}
	moves := func(name string) {
		t.Helper()
		change(t, p.src, map[string]string{name + ".yaml": strings.ReplaceAll(strings.ReplaceAll(configMap, "name: a", "name: "+name), "%", "x")})
		publish()
	}
	run(t, p.src, "rm", "-q", "a.yaml")
	run(t, p.src, "commit", "-qm", "all of it goes")
	publish()
	head := p.push(false, map[string]string{"b.yaml": strings.ReplaceAll(strings.ReplaceAll(configMap, "name: a", "name: b"), "%", "x")})
	if said := p.looks(); !strings.Contains(said, "Held without this change, too") {
		t.Fatalf("it says\n%s", said)
	}
	run(t, p.src, "revert", "--no-edit", "HEAD")
	moves("c")
	shown := 0
	p.fake.Fail = func(method string) error {
		if method == "SetStatus" {
			shown++
		}
		return nil
	}
	p.now = p.now.Add(time.Hour)
	p.looks()
	p.looks()
	if s := p.fake.Shown(head, post.Context); shown != 1 || s.State == "" {
		t.Errorf("it is shown %d times more: %+v", shown, s)
	}
	p.fake.Close()
	moves("d")
	p.looks()
	if shown != 1 {
		t.Error("what is closed is shown again")
	}
}

// TestPreviewerNeedsApprovalOfAFork: only the head that a maintainer named is looked at.
func TestPreviewerNeedsApprovalOfAFork(t *testing.T) {
	p := newRequested(t, "")
	head := p.push(true, to("two"))
	if said := p.looks(); said != "" || p.sandboxes > 0 {
		t.Errorf("without approval it says\n%s", said)
	}
	if s := p.fake.Shown(head, post.StrangersContext); s.State != forge.Pending || !strings.Contains(s.Description, "/waybill preview "+head) {
		t.Errorf("the status is %+v", s)
	}
	handler := &pulls.CommandHandler{Forge: p.fake, Target: open(t.Context(), t, p.bare), Now: p.previewer.Now, Log: slog.New(slog.DiscardHandler), Changed: func() {}}
	p.fake.SayAs(forgetest.Writer, commands.Parsed{Verb: commands.Preview, Head: head}.String())
	if err := handler.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said := p.looks(); !strings.Contains(said, head[:12]) || !strings.Contains(said, "From a fork") || p.sandboxes != 1 {
		t.Errorf("with approval, by %d sandboxes, it says\n%s", p.sandboxes, said)
	}
	other := p.push(true, to("three"))
	if said := p.looks(); strings.Contains(said, other[:12]) {
		t.Errorf("the next head was not approved, and it says\n%s", said)
	}
	if s := p.fake.Shown(other, post.StrangersContext); s.State != forge.Pending {
		t.Errorf("the status of the next head is %+v", s)
	}
}

// TestPreviewerTakesForAStrangersWhatIsOnNoBranch: of a head that is in the repository, but not where its branch
// is, or that somebody opened who may not write, nothing is rendered unasked.
func TestPreviewerTakesForAStrangersWhatIsOnNoBranch(t *testing.T) {
	for name, change := range map[string]func(*requested){
		"a branch of the name at another commit": func(p *requested) { run(t, p.src, "branch", "-f", "change", "main") },
		"no branch of the name":                  func(p *requested) { run(t, p.src, "branch", "-D", "change") },
		"an author who may not write":            func(p *requested) { p.fake.Permit(forgetest.Author, forge.Read) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newRequested(t, "")
			head := p.push(false, to("two"))
			change(p)
			if said := p.looks(); said != "" || p.sandboxes > 0 {
				t.Errorf("it says\n%s", said)
			}
			if s := p.fake.Shown(head, post.StrangersContext); s.State != forge.Pending || s.Description != "from a stranger: a maintainer may comment /waybill preview "+head {
				t.Errorf("the status is %+v", s)
			}
		})
	}
}

// TestPreviewerOfAForkGoesByTheBase: what a stranger writes into waybill.yaml does not count.
func TestPreviewerOfAForkGoesByTheBase(t *testing.T) {
	files := to("two")
	files["waybill.yaml"] = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {scan: {exclude: [a.yaml]}, secrets: allow}\n"
	p := newRequested(t, "previews: {forks: open}")
	p.push(true, files)
	if said := p.looks(); !strings.Contains(said, "ConfigMap") || strings.Contains(said, "disappear") {
		t.Errorf("it says\n%s", said)
	}
	files["c.yaml"] = strings.ReplaceAll(strings.ReplaceAll(configMap, "name: a", "name: c"), "%", "x")
	p.push(false, files)
	if said := p.looks(); !strings.Contains(said, "held") {
		t.Errorf("of a member it says\n%s", said)
	}
}

// TestPreviewerOfAMemberGoesByItsConfig: a member's config counts, but for what it may not settle before it is
// merged: what the guard lets through, what becomes of plain Secrets, and whose changes are looked at.
func TestPreviewerOfAMemberGoesByItsConfig(t *testing.T) {
	config := func(spec string) map[string]string {
		files := to("two")
		files["waybill.yaml"] = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {" + spec + "}\n"
		return files
	}
	later := func(fields string) string {
		return "What `waybill.yaml` says of " + fields + " counts once it is merged: this goes by `main`, too."
	}
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: shop}\nstringData: {k: hunter2}\n"
	for _, tt := range []struct {
		name  string
		files map[string]string
		state forge.State
		says  string
		not   string
	}{
		{"as it is", config("guard: {maxRemoved: 0, maxRemovedPercent: 0}"), forge.Success, "ConfigMap", "counts once it is merged"},
		{"another field of it", config("scan: {exclude: [b.yaml]}, guard: {maxRemoved: 0, maxRemovedPercent: 0}"), forge.Failure, "held", "counts once it is merged"},
		{"the guard", config("scan: {exclude: [b.yaml]}, guard: {maxRemoved: 100, maxRemovedPercent: 100, protect: []}"), forge.Failure, later("`guard`"), ""},
		{"plain Secrets", func() map[string]string {
			files := config("secrets: allow, previews: {forks: open}, guard: {maxRemoved: 0, maxRemovedPercent: 0}")
			files["secret.yaml"] = secret
			return files
		}(), forge.Failure, later("`previews`, `secrets`"), "hunter2"},
		{"what cannot be read", config("guard: {maxRemoved: x}"), forge.Failure, "bad-config", "counts once it is merged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newRequested(t, "guard: {maxRemoved: 0, maxRemovedPercent: 0}")
			change(t, p.src, map[string]string{"b.yaml": strings.ReplaceAll(strings.ReplaceAll(configMap, "name: a", "name: b"), "%", "x")})
			publisher := *p.previewer.Reconciler
			if _, err := publisher.Publish(t.Context(), "main"); err != nil {
				t.Fatal(err)
			}
			head := p.push(false, tt.files)
			said := p.looks()
			if s := p.fake.Shown(head, post.Context); s.State != tt.state || !strings.Contains(said, tt.says) || tt.not != "" && strings.Contains(said, tt.not) {
				t.Errorf("the status is %+v; it says\n%s", s, said)
			}
		})
	}
}

// asked is an engine that renders nothing, and notes which charts are asked for.
type asked struct{ digests []string }

func (a *asked) Render(_ context.Context, _ sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	for _, j := range jobs {
		if c := j.Chart(); c != nil && c.Locked != nil {
			a.digests = append(a.digests, c.Locked.Digest)
		}
	}
	return make([]engine.Rendered, len(jobs)), nil
}

// TestPreviewerOfAMemberTakesTheChartsOfItsLock: a member's chart is the one that the lock of its head names, by
// digest, and the branch's is that of the branch.
func TestPreviewerOfAMemberTakesTheChartsOfItsLock(t *testing.T) {
	locked := func(digit string) map[string]string {
		ref := lock.Ref{Kind: lock.Helm, Repository: "https://charts.example.com", Name: "web", Constraint: "1.x"}
		l := lock.Lock{}.With(lock.Entry{Ref: ref, Version: "1.0.0", URL: "https://charts.example.com/web.tgz", Digest: "sha256:" + strings.Repeat(digit, 64)})
		return map[string]string{lock.FileName: string(l.Encode())}
	}
	p := newRequested(t, "")
	var noted asked
	p.previewer.Reconciler.Engine = &noted
	files := locked("1")
	files["release.yaml"] = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: shop}\nspec: {url: https://charts.example.com}\n---\n" +
		"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\n" +
		"spec: {interval: 1h, chart: {spec: {chart: web, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}}\n"
	change(t, p.src, files)
	p.push(false, locked("2"))
	p.looks()
	want := []string{"sha256:" + strings.Repeat("1", 64), "sha256:" + strings.Repeat("2", 64)}
	if !slices.Equal(slices.Compact(noted.digests), want) {
		t.Errorf("the charts are %v, want %v", noted.digests, want)
	}
}

// spent is an engine that has nothing left.
type spent struct{ render.Engine }

func (spent) Render(context.Context, sources.Snapshot, []engine.Job) ([]engine.Rendered, error) {
	return nil, worker.ErrBudget
}

// TestPreviewerHasABudget: each preview has one, and what is more than that says so.
func TestPreviewerHasABudget(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	change(t, p.src, map[string]string{"app/kustomization.yaml": "resources: [cm.yaml]\n", "app/cm.yaml": configMap})
	budgets := 0
	p.previewer.Bound = func(e render.Engine) render.Engine { budgets++; return spent{e} }
	for i, fork := range []bool{false, true} {
		head := p.push(fork, to(strings.Repeat("x", i+2)))
		said := p.looks()
		if s := p.fake.Shown(head, []string{post.Context, post.StrangersContext}[i]); s.State != forge.Broken || !strings.Contains(s.Description, "too much has to be rendered") || !strings.Contains(said, "waybill diff") {
			t.Errorf("the status is %+v; it says\n%s", s, said)
		}
		if budgets != i+1 {
			t.Errorf("%d previews have %d budgets", i+1, budgets)
		}
	}
	p.push(false, to("approved")) // an approval of what it removes is refused, and not asked for again and again
	if adds, why, err := p.previewer.Adds(t.Context(), p.fake.Pull()); len(adds) > 0 || err != nil || !strings.Contains(why, "too much has to be rendered") {
		t.Errorf("it adds %v, %q, %v", adds, why, err)
	}
}

// TestPreviewerWithoutWalls: where there is no sandbox a member's change is previewed, and says so.
func TestPreviewerWithoutWalls(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	const note = "Rendered without a sandbox (missing: user namespace, Landlock)"
	p.previewer.Missing = func(context.Context) []string { return []string{"user namespace", "Landlock"} }
	p.push(false, to("two"))
	if said := p.looks(); !strings.Contains(said, note) || !strings.Contains(said, "ConfigMap") {
		t.Errorf("it says\n%s", said)
	}
	p.push(true, to("three"))
	if said := p.looks(); strings.Contains(said, note) {
		t.Errorf("of a stranger's it says\n%s", said)
	}
}

// TestPreviewerFetchesAStrangersWithinBounds: nothing of a stranger's head is read that is not within bounds,
// and why that is so is for the log.
func TestPreviewerFetchesAStrangersWithinBounds(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	var fetched []git.Bounds
	p.previewer.Fetch = func(_ context.Context, _ files.ID, most git.Bounds) error {
		fetched = append(fetched, most)
		return &git.LimitError{What: "bytes of a pack", Limit: most.Pack, Got: most.Pack + 1}
	}
	p.push(false, to("two"))
	if said := p.looks(); len(fetched) > 0 || !strings.Contains(said, "ConfigMap") {
		t.Errorf("of a member %v is fetched; it says\n%s", fetched, said)
	}
	head := p.push(true, to("three"))
	if said := p.looks(); len(fetched) != 1 || fetched[0].Pack > 64<<20 || fetched[0].All > 512<<20 || strings.Contains(said, "pack") || p.sandboxes > 0 {
		t.Errorf("%v is fetched, and it says\n%s", fetched, said)
	}
	if s := p.fake.Shown(head, post.StrangersContext); s.State != forge.Broken {
		t.Errorf("the status is %+v", s)
	}
}

// TestPreviewerBoundsAnAuthor: a stranger has so many heads looked at in an hour.
func TestPreviewerBoundsAnAuthor(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	for i, want := range []forge.State{forge.Success, forge.Success, forge.Pending} {
		head := p.push(true, to(strings.Repeat("x", i+1)))
		p.looks()
		if s := p.fake.Shown(head, post.StrangersContext); s.State != want {
			t.Errorf("head %d: %+v", i, s)
		}
	}
	head := p.fake.Pull().Head
	for _, want := range []forge.State{forge.Pending, forge.Pending, forge.Success} { // nobody touches it meanwhile
		p.now = p.now.Add(25 * time.Minute)
		p.looks()
		if s := p.fake.Shown(head, post.StrangersContext); s.State != want {
			t.Errorf("at %s: %+v", p.now.Format(time.TimeOnly), s)
		}
	}
	p = newRequested(t, "previews: {forks: never}")
	head = p.push(true, to("two"))
	if said := p.looks(); said != "" || !strings.Contains(p.fake.Shown(head, post.StrangersContext).Description, "are not looked at") {
		t.Errorf("of forks that are never looked at it says\n%s", said)
	}
}

// TestPreviewerLooksAtNothingThatWasClosed: one that is closed while it waits is not looked at when its turn
// comes.
func TestPreviewerLooksAtNothingThatWasClosed(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	p.previewer.PerAuthor = 1
	p.push(true, to("two"))
	p.looks()
	head := p.push(true, to("three"))
	p.looks()
	p.fake.Close()
	p.now = p.now.Add(2 * time.Hour)
	p.looks()
	if s := p.fake.Shown(head, post.StrangersContext); s.State != forge.Pending || p.sandboxes != 1 {
		t.Errorf("after %d sandboxes: %+v", p.sandboxes, s)
	}
}

// TestPreviewerPlansOnceWhileTheForgeIsDown: what the forge does not take is shown later, and costs a
// stranger's author no more.
func TestPreviewerPlansOnceWhileTheForgeIsDown(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	head := p.push(true, to("two"))
	p.fake.Fail = func(method string) error {
		if method == "SetStatus" {
			return &forge.Error{Kind: forge.Gitea, Status: 503}
		}
		return nil
	}
	for range 5 {
		p.now = p.now.Add(time.Minute)
		if err := p.previewer.Look(t.Context()); err == nil {
			t.Fatal("a status that is not taken is no error")
		}
	}
	p.fake.Fail = nil
	if said := p.looks(); !strings.Contains(said, head[:12]) || p.sandboxes != 1 {
		t.Errorf("after %d sandboxes it says\n%s", p.sandboxes, said)
	}
}

// TestPreviewerDoesNotKnow: why a head cannot be planned is for the log, and no stranger's to read.
func TestPreviewerDoesNotKnow(t *testing.T) {
	p := newRequested(t, "previews: {forks: open}")
	const nowhere = "00000000000000000000000000000000000000ff"
	p.fake.PushCommit(nowhere)
	p.fake.SetFork(true)
	said := p.looks()
	if s := p.fake.Shown(nowhere, post.StrangersContext); s.State != forge.Broken || !strings.Contains(said, "is not known") || strings.Contains(said, p.src) {
		t.Errorf("the status is %+v; it says\n%s", s, said)
	}
	p.fake.Fail = func(string) error { return &forge.Error{Kind: forge.Gitea, Status: 503} }
	if err := p.previewer.Look(t.Context()); err == nil {
		t.Error("a forge that is down is no error")
	}
}

// TestPreviewerAsksAgainWhetherItIsOpen: where the forge does not say whether what waited is open still, it waits on, and is not
// forgotten; one that is there no more is.
func TestPreviewerAsksAgainWhetherItIsOpen(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		fails bool
		shown bool // later
	}{
		{"the forge fails", errors.New("connection refused"), true, true}, {"it is gone", forge.ErrNotFound, false, false},
	} {
		p := newRequested(t, "")
		head := p.push(true, to("two"))
		p.looks()
		handler := &pulls.CommandHandler{Forge: p.fake, Target: open(t.Context(), t, p.bare), Now: p.previewer.Now, Log: slog.New(slog.DiscardHandler), Changed: func() {}}
		p.fake.SayAs(forgetest.Writer, commands.Parsed{Verb: commands.Preview, Head: head}.String())
		if err := handler.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.previewer.Forge = listsNothing{p.fake}
		p.fake.Fail = func(method string) error {
			if method == "PullRequest" {
				return tt.err
			}
			return nil
		}
		if err := p.previewer.Look(t.Context()); (err != nil) != tt.fails || p.sandboxes > 0 {
			t.Errorf("%s: %v, and it is rendered %d times", tt.name, err, p.sandboxes)
		}
		p.fake.Fail = nil
		if said := p.looks(); strings.Contains(said, head[:12]) != tt.shown {
			t.Errorf("%s: later it says\n%s", tt.name, said)
		}
	}
}

// listsNothing is a forge at which nothing changed.
type listsNothing struct{ *forgetest.Fake }

// OpenPullRequests implements forge.Forge.
func (listsNothing) OpenPullRequests(context.Context, time.Time) ([]forge.PullRequest, error) {
	return nil, nil
}

// TestWhatAPullRequestAdds is not told of a stranger's where these are never looked at, nor of one that goes elsewhere or moved on.
func TestWhatAPullRequestAdds(t *testing.T) {
	for _, tt := range []struct {
		name, config string
		fork         bool
		edit         func(*forge.PullRequest)
		why          string
	}{
		{"a stranger's, which are never looked at", "previews: {forks: never}", true, nil, "changes of strangers are not looked at"},
		{"a stranger's", "previews: {forks: approved}", true, nil, ""},
		{"a member's, where strangers' are never looked at", "previews: {forks: never}", false, nil, ""},
		{"one to another branch", "", false, func(pr *forge.PullRequest) { pr.Base = "next" }, "the pull request goes to next, and main is followed"},
	} {
		p := newRequested(t, tt.config)
		p.push(tt.fork, to("two"))
		pr := p.fake.Pull()
		if tt.edit != nil {
			tt.edit(&pr)
		}
		if adds, why, err := p.previewer.Adds(t.Context(), pr); err != nil || why != tt.why || len(adds) > 0 {
			t.Errorf("%s: %v, %q, %v", tt.name, adds, why, err)
		}
	}
}
