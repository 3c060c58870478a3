package walk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/twin"
)

// The branches of clusters, and the one that they share.
const (
	prefix = "waybill/cluster/"
	shared = "waybill/clusters"
)

// walker is on a walk.
type walker struct {
	world world
	repo  *twin.Repo
	r     *reconciler.Reconciler
	// remembers says that one process publishes all steps.
	remembers bool
	cache     render.Cache
	source    map[string]string
	counts    *counts
	// folders says that clusters were published to folders of a branch last.
	folders bool
	// verified are the heads that were verified.
	verified map[files.ID]bool
	// released are the clusters of which the last publication allowed what the guard held.
	released map[string]bool
	// now is the time, and stages what is known of what goes out in stages; nil in a walk without strategies.
	now    time.Time
	stages *stages

	trace, scenario strings.Builder
}

// run walks until a law is broken; nil if none is.
func run(t *testing.T, walk []step, seed uint64, c *counts) *failure {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	guard, _ := pick(r, []string{"", "{maxRemoved: 1, maxRemovedPercent: 10}"})
	w := &walker{
		world: world{guard: guard}, repo: twin.New("walk"), remembers: r.IntN(2) == 0,
		cache: cache.Memory(), source: map[string]string{}, counts: c, verified: map[files.ID]bool{}, now: began,
	}
	if way := wayOf(seed); way.isStaged {
		w.world.isStaged, w.world.isCalm, w.stages = true, way.isCalm, newStages()
	}
	w.r = w.over(w.repo)
	fmt.Fprintf(&w.scenario, "Walk %d.\n\n", seed)
	for i, st := range walk {
		kind, law := w.step(t.Context(), i+1, st)
		if kind != "" {
			return &failure{i + 1, kind, fmt.Sprintf("step %d: %s: %s", i+1, kind, law), w.trace.String(), w.scenario.String()}
		}
	}
	if w.stages != nil && len(walk) > 0 {
		if kind, law := w.end(t.Context(), len(walk)+1); kind != "" {
			return &failure{len(walk), kind, fmt.Sprintf("after step %d: %s: %s", len(walk), kind, law), w.trace.String(), w.scenario.String()}
		}
	}
	return nil
}

// began is when walks begin.
var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// over returns what publishes a repository to itself.
func (w *walker) over(repo *twin.Repo) *reconciler.Reconciler {
	return &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: repo, Cache: w.cache, Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil),
		Version: "test", Now: func() time.Time { return w.now },
	}
}

// step does a step, publishes, and returns the law that is broken then, with how.
func (w *walker) step(ctx context.Context, n int, st step) (kind, law string) {
	fmt.Fprintf(&w.trace, "step %d: %s\n", n, st)
	for _, o := range st.ops {
		if did := deedOf(o.kind)(&w.world, rand.New(rand.NewPCG(o.seed, 2))); did != "" {
			fmt.Fprintf(&w.trace, "  %s\n", did)
		}
	}
	if st.move {
		w.world.folders = !w.world.folders
		w.counts.Moved++
	}
	commands := w.commit(n)
	commands = append(commands, w.happen(ctx, st)...)
	r := rand.New(rand.NewPCG(st.seed, 3))
	if st.edit {
		w.edit(ctx, n, r)
	}
	if c, ok := pick(r, slices.Sorted(maps.Keys(evaluate(w.world.meant()).cells))); ok && st.refuse {
		refused := prefix + c
		if w.folders {
			refused = shared
		}
		if st.move {
			refused = state.Branch
		}
		w.repo.Refuse(refused)
		commands = append(commands, "refuse "+refused)
		w.counts.Refused++
	}
	if w.r.Allow = ""; st.allow {
		w.r.Allow = guard.AllowAll
		commands = append(commands, "publish --allow-prune")
	}
	if len(commands) > 0 {
		fmt.Fprintf(&w.scenario, "-- %d --\n%s\n", n, strings.Join(commands, "\n"))
	}
	fmt.Fprintf(&w.scenario, "-- %d/@diagnostics --\n-- %[1]d/@branches --\n", n)
	if !w.remembers {
		allow := w.r.Allow
		w.r = w.over(w.repo)
		w.r.Allow = allow
	}
	before, err := w.held(ctx)
	if err != nil {
		return "reading", err.Error()
	}
	looked, err := w.look(ctx, before)
	if err != nil {
		return "reading", err.Error()
	}
	res, refused := w.r.Publish(ctx, "main")
	w.folders = w.world.folders
	if kind, law := w.expected(refused, st); kind != "" {
		return kind, law
	}
	w.note(res, st)
	after, err := w.held(ctx)
	if err != nil {
		return "reading", err.Error()
	}
	if kind, law := w.goneOut(ctx, looked, &res, after, refused == nil); kind != "" {
		return kind, law
	}
	return w.judge(ctx, st, before, after)
}

// commit writes the source as it is now, and returns what a scenario does besides its files.
func (w *walker) commit(n int) []string {
	w.world.commit()
	next, t := w.world.files(), twin.Tree{}
	var commands []string
	for _, p := range slices.Sorted(maps.Keys(w.source)) {
		if _, ok := next[p]; !ok {
			commands = append(commands, "git rm "+p)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(next)) {
		t[p] = twin.File([]byte(next[p]))
		if w.source[p] != next[p] {
			fmt.Fprintf(&w.scenario, "-- %d/%s --\n%s", n, p, next[p])
		}
	}
	id := w.repo.Write("main", fmt.Sprint("step ", n), t.Folder())
	if w.source = next; w.stages != nil {
		w.stages.commit(id.String(), w.world.meant())
		fmt.Fprintf(&w.trace, "  commit %.7s\n", w.stages.head)
	}
	return commands
}

// edit adds a comment to a manifest on a branch, as somebody does by hand.
func (w *walker) edit(ctx context.Context, n int, r *rand.Rand) {
	roots, _ := w.roots(ctx)
	cluster, ok := pick(r, slices.Sorted(maps.Keys(roots)))
	if !ok {
		return
	}
	name, folder := prefix+cluster, ""
	if w.folders {
		name, folder = shared, cluster+"/"
	}
	h, _, _ := w.repo.Branch(ctx, name)
	on := twin.Of(h.Tree)
	var manifests []string
	for p := range on {
		if strings.HasPrefix(p, folder+"manifests/") {
			manifests = append(manifests, p)
		}
	}
	slices.Sort(manifests)
	p, ok := pick(r, manifests)
	if !ok {
		return
	}
	data, err := on[p].Blob.Bytes()
	if err != nil {
		return
	}
	text := append(slices.Clone(data), "# a hot fix\n"...)
	on[p] = twin.File(text)
	w.repo.Write(name, "a hot fix", on.Folder())
	w.counts.Edited++
	fmt.Fprintf(&w.trace, "  somebody edits %s of %s\n", p, name)
	fmt.Fprintf(&w.scenario, "-- %d/%s:%s --\n%s", n, name, p, text)
}

// expected says what is wrong with the error of a publication.
func (w *walker) expected(err error, st step) (kind, law string) {
	_, partial := errors.AsType[*git.PartialError](err)
	refused := err != nil && st.refuse && (partial || strings.Contains(err.Error(), "the server refused"))
	if err != nil && !refused {
		return "publishing", err.Error()
	}
	return "", ""
}

// note counts what happened.
func (w *walker) note(res reconciler.Result, st step) {
	w.counts.Steps++
	if w.world.troubled() {
		w.counts.Troubled++
	}
	if st.allow {
		w.counts.Allowed++
	}
	w.released = map[string]bool{}
	for _, d := range res.Diags {
		if is := strings.Fields(d.Message); d.Code == diag.Released && is[0] == "cluster" {
			w.released[is[1]] = true
		}
		if w.stages != nil && slices.Contains([]diag.Code{diag.SelectorSelectsNothing, diag.SelectsNothing, diag.UnknownCluster}, d.Code) {
			continue
		}
		fmt.Fprintf(&w.trace, "    %s\n", strings.Split(d.String(), "\n")[0])
	}
	if isHeld(res) {
		w.counts.Held++
	}
}

func isHeld(res reconciler.Result) bool {
	return slices.ContainsFunc(res.Plan.Clusters, func(c plan.Cluster) bool { return c.Held != nil })
}

// held reads what is published for clusters.
func (w *walker) held(ctx context.Context) (held, error) {
	roots, err := w.roots(ctx)
	if err != nil {
		return nil, err
	}
	out := held{}
	for cluster, root := range roots {
		all, err := twin.Manifests(root)
		if err != nil {
			return nil, err
		}
		out[cluster] = map[string]cell{}
		for _, m := range all {
			out[cluster][m.String()] = cellOf(m)
		}
	}
	return out, nil
}

// roots are the folders in which the files of clusters are.
func (w *walker) roots(ctx context.Context) (map[string]*files.Folder, error) {
	heads, err := w.repo.Heads(ctx)
	if err != nil {
		return nil, err
	}
	roots := map[string]*files.Folder{}
	for name := range heads {
		cluster, isOne := strings.CutPrefix(name, prefix)
		if isOne == w.folders || !isOne && name != shared {
			continue
		}
		h, _, err := w.repo.Branch(ctx, name)
		if err != nil {
			return nil, err
		}
		if isOne {
			roots[cluster] = h.Tree
			continue
		}
		for _, e := range h.Tree.Entries() {
			if e.Dir != nil {
				roots[e.Name] = e.Dir
			}
		}
	}
	return roots, nil
}

// judge returns the first law that is broken.
func (w *walker) judge(ctx context.Context, st step, before, after held) (kind, law string) {
	want := evaluate(w.world.meant())
	for _, objects := range want.cells {
		w.counts.Cells += len(objects)
	}
	w.counts.Divided += len(want.asked)
	least := wants{cells: want.cells, asked: w.least(want.asked, after)}
	if (!st.allow || !w.world.troubled()) && !w.isGoingBack() {
		there, anywhere := w.wantedTwice(want)
		if wrong := lost(there, before, after); wrong != nil {
			return "lost", strings.Join(wrong, "; ")
		}
		if wrong := slices.Concat(nowhere(anywhere, before, after), short(least, w.unreleased(before), after)); wrong != nil && !st.refuse {
			return "short", strings.Join(wrong, "; ")
		}
	}
	w.repo.Refuse()
	w.r.Allow = ""
	if st.refuse {
		if _, kind, law := w.publishAgain(ctx); kind != "" {
			return kind, law
		}
	}
	if kind, law := w.goesOn(ctx); kind != "" {
		return kind, law
	}
	res, err := w.r.Publish(ctx, "main")
	if err == nil && w.saysWhyElse(ctx, res) {
		res, err = w.r.Publish(ctx, "main")
	}
	if err != nil || len(res.Updates) > 0 {
		var moved []string
		for _, u := range res.Updates {
			moved = append(moved, u.Branch)
		}
		return "again", fmt.Sprintf("%v moved, and the error is %v%s", moved, err, w.differences(ctx, res))
	}
	if kind, law := w.verify(ctx); kind != "" {
		return kind, law
	}
	if w.world.troubled() || isHeld(res) || w.isBlocked() || w.isOpen() || len(res.Plan.Moves) > 0 {
		return "", ""
	}
	w.counts.FromScratch++
	if after, err = w.held(ctx); err != nil {
		return "reading", err.Error()
	}
	if wrong := other(want, registered(after, want), false); wrong != nil {
		return "meaning", strings.Join(wrong, "; ")
	}
	return w.fromScratch(ctx)
}

// unreleased leaves out the clusters of which somebody just allowed what the guard held: they may lose it.
func (w *walker) unreleased(h held) held {
	out := maps.Clone(h)
	maps.DeleteFunc(out, func(cluster string, _ map[string]cell) bool { return w.released[cluster] })
	return out
}

// registered leaves out the branches of clusters that are no longer registered: they stay.
func registered(h held, want wants) held {
	out := maps.Clone(h)
	maps.DeleteFunc(out, func(cluster string, _ map[string]cell) bool { return want.cells[cluster] == nil })
	return out
}

// saysWhyElse reports a publication that says, and nothing else, for another reason than the one before that something stays: by that one the
// branch of a cluster moved, and what it had said of its copies is of the commit before. What a held cluster has without a binding is not
// told once no cluster shows a version with it.
func (w *walker) saysWhyElse(ctx context.Context, res reconciler.Result) bool {
	if len(res.Updates) != 1 || res.Updates[0].Branch != state.Branch {
		return false
	}
	was, err := w.repo.Commit(ctx, res.Updates[0].Old)
	if err != nil {
		return false
	}
	for d := range files.Diff(was.Tree, res.Updates[0].Tree) {
		if d.Path == "kept.json" && isHeld(res) {
			continue
		}
		if !strings.HasPrefix(d.Path, "bindings/") || withoutReasons(text(d.Old)) != withoutReasons(text(d.New)) {
			return false
		}
	}
	return true
}

// withoutReasons is a binding that does not say why something stays.
func withoutReasons(binding string) string {
	var kept []string
	for line := range strings.Lines(binding) {
		if is := strings.TrimSpace(line); !strings.HasPrefix(is, "appliedMessage: ") && !strings.HasPrefix(is, "reason: ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// differences says how a state branch differs from the one before.
func (w *walker) differences(ctx context.Context, res reconciler.Result) string {
	var b strings.Builder
	for _, u := range res.Updates {
		was, err := w.repo.Commit(ctx, u.Old)
		if err != nil || u.Branch != state.Branch {
			continue
		}
		for d := range files.Diff(was.Tree, u.Tree) {
			fmt.Fprintf(&b, "\n%s:\n-%s\n+%s", d.Path, text(d.Old), text(d.New))
		}
	}
	return b.String()
}

func text(e files.Entry) string {
	if e.Blob == nil {
		return ""
	}
	data, _ := e.Blob.Bytes()
	return string(data)
}

// isBlocked reports that something is suspended or fails.
func (w *walker) isBlocked() bool {
	return len(w.world.docs(func(d *doc) bool { return d.fails || len(d.suspended) > 0 })) > 0
}

// verify has every branch verified.
func (w *walker) verify(ctx context.Context) (kind, law string) {
	heads, err := w.repo.Heads(ctx)
	if err != nil {
		return "reading", err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		h, _, err := w.repo.Branch(ctx, name)
		if err != nil || w.verified[h.Commit] || h.Author.Name != "Waybill" {
			continue
		}
		w.verified[h.Commit] = true
		subjects := []string{name}
		if name == shared && w.folders {
			roots, err := w.roots(ctx)
			if err != nil {
				return "reading", err.Error()
			}
			for _, cluster := range slices.Sorted(maps.Keys(roots)) {
				subjects = append(subjects, shared+":"+cluster)
			}
		}
		for _, what := range subjects {
			v, err := verify.New(w.r.Planner(), w.r.Published(), w.r.Version).Verify(ctx, what)
			if err != nil && strings.Contains(err.Error(), "Waybill did not write it") {
				continue // somebody edited the folder
			}
			if err != nil || !v.Same {
				return "verify", fmt.Sprintf("%s: %v %v", what, v.Differences, err)
			}
		}
	}
	return "", ""
}

// fromScratch scales all workloads, so that they are divided anew, in a repository of its own,
// and publishes the same to an empty one, which must come to the same.
func (w *walker) fromScratch(ctx context.Context) (kind, law string) {
	if w.stages != nil {
		return "", "" // what is scaled would go out in stages
	}
	ours := walker{world: w.world.scaled(), repo: w.repo.Clone(), cache: w.cache, folders: w.folders, now: w.now}
	fresh := twin.New("walk")
	tree := twin.Tree{}
	for p, text := range ours.world.files() {
		tree[p] = twin.File([]byte(text))
	}
	ours.repo.Write("main", "scaled", tree.Folder())
	fresh.Write("main", "scaled", tree.Folder())
	if _, err := w.over(ours.repo).Publish(ctx, "main"); err != nil {
		return "publishing", err.Error()
	}
	res, err := w.over(fresh).Publish(ctx, "main")
	if err != nil {
		return "publishing", err.Error()
	}
	want := evaluate(ours.world.meant())
	is, err := ours.held(ctx)
	if err != nil {
		return "reading", err.Error()
	}
	if wrong := other(want, registered(is, want), true); wrong != nil {
		return "meaning, scaled", strings.Join(wrong, "; ")
	}
	roots, err := ours.roots(ctx)
	if err != nil {
		return "reading", err.Error()
	}
	for _, c := range res.Plan.Clusters {
		root, ok := roots[c.Name]
		if !ok {
			continue // it was never to hold anything
		}
		for d := range files.Diff(c.Tree, root) {
			if d.Path != "waybill.metadata" && d.Path != "hydrator.metadata" {
				return "from scratch", fmt.Sprintf("%s differs in %s", d.Path, c.Name)
			}
		}
	}
	return "", ""
}
