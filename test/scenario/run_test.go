package scenario

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	publishing "github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/said"
	"github.com/waybill-dev/waybill/test/twin"
)

// start is the time of the first publication.
var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// way is one of the ways to run a scenario.
type way struct {
	cache     render.Cache
	order     func([]sources.File)
	remembers bool // one reconciler publishes all steps
	checks    bool // after each step, what was published is verified, and published again
	// before publishes, or tries to, before a step does; nil for nothing.
	before func(repo *twin.Repo, like *reconciler.Reconciler)
	// after is called with what a step came to; nil for nothing.
	after func(repo *twin.Repo, res *outcome)
}

// outcome is what came of a publication.
type outcome struct {
	reconciler.Result

	err     error
	before  map[string]files.ID // the trees of clusters before it
	commits map[string]string   // the numbers of the steps that made commits of the source
}

// reconcilerOver returns what publishes a repository to itself.
func reconcilerOver(repo published.Repository, c render.Cache, now time.Time) *reconciler.Reconciler {
	return &reconciler.Reconciler{
		Seen:   reconciler.NewCache(),
		Source: repo, Target: repo, Cache: c, Engine: renderer.New(&worker.Local{Handler: engines.Run}, nil),
		Version: "test", Now: func() time.Time { return now },
	}
}

// run runs a scenario and returns the golden sections it asks for, and "@all" for
// everything that came out.
func (s *scenario) run(t *testing.T, w way) map[string]string {
	t.Helper()
	out := map[string]string{}
	repo := twin.New("scenario")
	repo.Order = w.order
	source := twin.Tree{}
	now := start
	r := reconcilerOver(repo, w.cache, now)
	keys := map[string]draw.Key{} // that publishers had so far, by fingerprint
	commits, version, all := map[string]string{}, "test", totals{}
	var last *outcome
	for i, st := range s.steps {
		next, err := st.commit(source)
		if err != nil {
			t.Fatal(err)
		}
		if trailers := st.trailers(); i == 0 || !maps.Equal(next, source) || len(trailers) > 0 {
			repo.Sign = st.signs()
			id := repo.Write("main", strings.Join(append([]string{fmt.Sprint("step ", i+1)}, trailers...), "\n"), next.Folder())
			commits[id.String()] = strconv.Itoa(i + 1)
			repo.Sign = nil
		}
		source = next
		passed, err := st.passes()
		if err != nil {
			t.Fatal(err)
		}
		if now = now.Add(passed); w.remembers && !st.deletes() {
			r.Now = func() time.Time { return now }
		} else {
			r = reconcilerOver(repo, w.cache, now)
			r.Version = version
		}
		if err := st.prepare(t.Context(), repo, r); err != nil {
			t.Fatal(err)
		}
		version = r.Version
		before := treesOf(t, repo)
		if w.before != nil {
			w.before(repo, r)
		}
		res := publish(t, r)
		res.commits, res.before = commits, before
		laws(t, st.prefix, last, &res)
		all.hold(t, st.prefix, repo, &res)
		for _, name := range st.golden {
			out[st.prefix+name] = section(t, name, repo, &res)
		}
		if w.after != nil {
			w.after(repo, &res)
		}
		out["@all"] += everything(t, repo, &res)
		repo.Refuse()
		r.Allow = ""
		keys[r.Random.Key.Fingerprint()] = r.Random.Key
		if w.checks {
			out[st.prefix+"@verify"] = unverified(t, repo, keys, version)
			out[st.prefix+"@again"] = again(t, repo.Clone(), r, &res)
		}
		last = &res
	}
	return out
}

// deletes reports a step that deletes a branch. A process that remembers where that was goes on from there, and publishes
// another commit than one that does not; package reconciler has tests of that.
func (st *step) deletes() bool {
	return slices.ContainsFunc(st.commands, func(c string) bool { return strings.HasPrefix(c, "git branch -D ") })
}

// prepare does what a step does besides its commit.
func (st *step) prepare(ctx context.Context, repo *twin.Repo, r *reconciler.Reconciler) error {
	for branch, edit := range st.edits {
		h, ok, err := repo.Branch(ctx, branch)
		if _, isStatus := status.ClusterOf(branch); !ok && isStatus {
			h.Tree, ok = files.NewFolder(nil), true
		}
		if err != nil || !ok {
			return fmt.Errorf("editing branch %s: there is none", branch)
		}
		root := twin.Of(h.Tree)
		maps.Copy(root, edit)
		repo.Write(branch, "a hot fix", root.Folder())
	}
	r.Random = plan.Random{}
	for _, c := range st.commands {
		f := strings.Fields(c)
		switch {
		case len(f) > 1 && f[0] == "git" && (f[1] == "mv" || f[1] == "rm"):
		case len(f) == 4 && f[1] == "branch" && f[2] == "-D":
			repo.Delete(f[3])
		case len(f) == 2 && f[0] == "wait", len(f) > 0 && f[0] == "trailer":
		case len(f) > 3 && f[0] == "command":
			if err := said.Command(ctx, repo, f[1:], signerOf(f[1]), r.Now()); err != nil {
				return err
			}
		case len(f) > 1 && f[0] == "apply":
			if err := apply(ctx, repo, f[1:], r.Now()); err != nil {
				return err
			}
		case len(f) > 1 && f[0] == "silence":
			if err := silence(ctx, repo, f[1:], r.Now()); err != nil {
				return err
			}
		case len(f) == 1 && f[0] == "shallow":
			repo.Shallow("main")
		case len(f) == 2 && f[0] == "version":
			r.Version = f[1]
		case len(f) > 1 && f[0] == "refuse":
			repo.Refuse(f[1:]...)
		case len(f) > 2 && f[0] == "report":
			if err := report(ctx, repo, f[1], f[2:]); err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
		case len(f) > 0 && f[0] == "publish":
			if err := flags(r, f[1:]); err != nil {
				return err
			}
		default:
			return fmt.Errorf("there is no command %q", c)
		}
	}
	return nil
}

// passes is how much time passes before a step.
func (st *step) passes() (all time.Duration, err error) {
	for _, c := range st.commands {
		if d, ok := strings.CutPrefix(c, "wait "); ok {
			passed, err := time.ParseDuration(strings.TrimSpace(d))
			if err != nil {
				return 0, fmt.Errorf("%s: %w", c, err)
			}
			all += passed
		}
	}
	return all, nil
}

// flags has a reconciler publish as flags of the command say. The name of a key stands for
// its file.
func flags(r *reconciler.Reconciler, args []string) error {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--allow-prune":
			r.Allow = guard.AllowAll
		case args[i] == "--rotate-random-key":
			r.Random.Rotate = true
		case args[i] == "--random-key-file" && i+1 < len(args):
			i++
			secret := sha256.Sum256([]byte(args[i]))
			var err error
			if r.Random.Key, err = draw.NewKey(secret[:]); err != nil {
				return fmt.Errorf("making the key %s: %w", args[i], err)
			}
		default:
			return fmt.Errorf("publish has no flag %q", args[i])
		}
	}
	return nil
}

// publish publishes. Where nothing can be, the plan is what a report shows.
func publish(t *testing.T, r *reconciler.Reconciler) outcome {
	t.Helper()
	res, err := r.Publish(t.Context(), "main")
	if err == nil || res.Plan.State != nil {
		return outcome{Result: res, err: err}
	}
	head, wrong := r.Source.Snapshot(t.Context(), "main", "")
	if wrong != nil {
		t.Fatal(wrong)
	}
	obs, wrong := r.Look(t.Context(), head, plan.Folder)
	if wrong == nil {
		res.Plan, wrong = r.Planner().Build(t.Context(), &obs.Observation)
	}
	if wrong != nil {
		t.Fatal(wrong)
	}
	res.Diags = res.Plan.Diags
	return outcome{Result: res, err: err}
}

// again publishes what was published last, and lists what changes: nothing should.
func again(t *testing.T, repo *twin.Repo, by *reconciler.Reconciler, last *outcome) string {
	t.Helper()
	var b strings.Builder
	r := reconcilerOver(repo, nil, by.Now())
	r.Random, r.Version = by.Random, by.Version
	if last.err != nil {
		*last = publish(t, r) // what was refused comes with the next one
	}
	next := publish(t, r)
	for _, name := range next.moved() {
		if name == state.Branch && last.ends() {
			continue // that its last step was published is news
		}
		fmt.Fprintf(&b, "branch %s moves\n", name)
	}
	for i, c := range last.Plan.Clusters {
		if next.Plan.Clusters[i].Tree.ID() != c.Tree.ID() {
			fmt.Fprintf(&b, "cluster %s gets another tree\n", c.Name)
		}
	}
	return b.String()
}

// unverified lists the branches that Waybill wrote last and cannot rebuild: none should be.
func unverified(t *testing.T, repo *twin.Repo, keys map[string]draw.Key, version string) string {
	t.Helper()
	var b strings.Builder
	heads, err := repo.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		h, _, err := repo.Branch(t.Context(), name)
		if err != nil || h.Author.Name != "Waybill" {
			continue
		}
		r := reconcilerOver(repo, nil, start) // the time is that of the commit
		r.Version = version
		r.Random.Key = keys[publishing.Trailer(h.Message, publishing.TrailerRandomKey)]
		v, err := verify.New(r.Planner(), r.Published(), r.Version).Verify(t.Context(), name)
		if err != nil {
			fmt.Fprintf(&b, "%s cannot be rebuilt\n", name) // why, names commits
		}
		for _, path := range v.Differences {
			fmt.Fprintf(&b, "%s differs in %s\n", name, path)
		}
	}
	return b.String()
}

// exitStatus is the exit status of the command publish.
func (o *outcome) exitStatus() int {
	_, mistaken := errors.AsType[*render.ConfigError](o.err)
	switch {
	case o.err != nil && !mistaken:
		return 2
	case mistaken || diag.HasErrors(o.Diags):
		return 1
	}
	return 0
}

// moved lists the branches that moved, sorted.
func (o *outcome) moved() []string {
	var names []string
	if partial, ok := errors.AsType[*git.PartialError](o.err); ok {
		names = append(names, partial.Moved...)
	}
	for _, u := range o.Updates {
		names = append(names, u.Branch)
	}
	slices.Sort(names)
	return names
}
