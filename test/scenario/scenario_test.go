// Package scenario runs text scenarios: a source and what every cluster should
// hold, in one file.
//
// A scenario is a txtar file in testdata. Its first paragraph says what it shows.
// Files are the source, but for those below "previous/", which are an earlier
// version of the source that was published first. Sections whose names begin with
// "@" are golden output, and "go test ./test/scenario -update" rewrites them:
//
//	@diagnostics          every diagnostic, always there, even empty
//	@decisions            where each template goes, by which policy, with replicas
//	@<cluster>/<path>     a file of a cluster; list the ones that matter
//	@held                 the clusters that the guard holds
//
// Each scenario runs with its files in order and shuffled, with a cold and a warm
// cache, and on one processor, and must give the same bytes. A folder of examples
// is a scenario, too: its golden output is testdata/example-NAME.golden.
package scenario

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/renderer"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

var update = flag.Bool("update", false, "rewrite golden sections")

// memory is a snapshot in memory.
type memory struct {
	rev   sources.Revision
	files []sources.File
	data  map[string][]byte
}

func (m *memory) Revision() sources.Revision { return m.rev }
func (m *memory) Files() []sources.File      { return m.files }

func (m *memory) ReadFile(path string) ([]byte, error) {
	data, ok := m.data[path]
	if !ok {
		return nil, fmt.Errorf("reading %s: %w", path, fs.ErrNotExist)
	}
	return data, nil
}

func snapshot(commit string, data map[string][]byte, order func([]sources.File)) *memory {
	m := &memory{rev: sources.Revision{Repo: "scenario", Commit: commit, When: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), Subject: commit}, data: data}
	for p, d := range data {
		m.files = append(m.files, sources.File{Path: p, Size: int64(len(d)), Digest: files.Sum("blob", d).String()})
	}
	slices.SortFunc(m.files, func(a, b sources.File) int { return strings.Compare(a.Path, b.Path) })
	order(m.files)
	return m
}

// scenario is a parsed scenario.
type scenario struct {
	source, previous map[string][]byte
	golden           []string // names of golden sections, in order
	memo             *plan.Memo
}

func parse(ar *txtar.Archive) scenario {
	s := scenario{source: map[string][]byte{}}
	for _, f := range ar.Files {
		if strings.HasPrefix(f.Name, "@") {
			s.golden = append(s.golden, f.Name)
		} else if p, ok := strings.CutPrefix(f.Name, "previous/"); ok {
			if s.previous == nil {
				s.previous = map[string][]byte{}
			}
			s.previous[p] = f.Data
		} else {
			s.source[f.Name] = f.Data
		}
	}
	return s
}

// run plans a scenario and returns the golden sections it asks for.
func (s scenario) run(t *testing.T, c render.Cache, order func([]sources.File)) map[string]string {
	t.Helper()
	p, _ := s.plan(t, c, order)
	return s.sections(t, &p)
}

// plan plans a scenario and returns the plan's input as well.
func (s scenario) plan(t *testing.T, c render.Cache, order func([]sources.File)) (plan.Plan, plan.Input) {
	t.Helper()
	in := plan.Input{Memo: s.memo, Medium: plan.Branch, Now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), LastGood: map[string]render.Source{}, Published: map[string]tree.Published{}}
	var previous *memory
	if s.previous != nil {
		previous = snapshot("previous", s.previous, order)
		in.Source = load(t, previous, c, nil)
		in = published(t, in, build(t, in, previous))
	}
	m := snapshot("head", s.source, order)
	in.Source = load(t, m, c, previous)
	return build(t, in, m), in
}

// published is what the next plan finds when a plan of the input was published.
func published(t *testing.T, in plan.Input, p plan.Plan) plan.Input {
	t.Helper()
	st, err := state.Decode(p.State, nil)
	if err != nil {
		t.Fatal(err)
	}
	commit := in.Source.Revision.Commit
	st.Commit, st.SourceCommit = "0000000000000000000000000000000000000001", commit
	in.State, in.LastGood = st, maps.Clone(in.LastGood)
	in.LastGood[commit] = in.Source
	in.Published = maps.Clone(in.Published)
	for _, c := range p.Clusters {
		if c.Held == nil {
			in.Published[c.Name] = tree.Published{Built: c.Tree}
		}
	}
	return in
}

// fixed reports where a plan that was published is not the plan of its own results.
func (s scenario) fixed(t *testing.T) {
	t.Helper()
	first, in := s.plan(t, nil, asWritten)
	again := build(t, published(t, in, first), snapshot("head", s.source, asWritten))
	for i, c := range first.Clusters {
		if a := again.Clusters[i]; a.Tree.ID() != c.Tree.ID() {
			t.Errorf("published and planned again, %s gets another tree", c.Name)
		}
	}
	if again.State.ID() != first.State.ID() {
		t.Errorf("published and planned again, the state is another")
	}
}

// build plans, with what the plan wants rendered.
func build(t *testing.T, in plan.Input, m *memory) plan.Plan {
	t.Helper()
	in.Rendered = map[string]engine.Rendered{}
	for {
		p := plan.Build(in)
		if len(p.Wanted) == 0 {
			return p
		}
		results, err := renderer.New(&renderer.Local{}, nil).Render(t.Context(), m, p.Wanted)
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range p.Wanted {
			in.Rendered[j.Key()] = results[i]
		}
	}
}

func load(t *testing.T, m *memory, c render.Cache, earlier *memory) render.Source {
	t.Helper()
	src, err := render.Load(t.Context(), m, render.With{
		Cache: c, Engine: renderer.New(&renderer.Local{}, nil),
		Earlier: func(string) (sources.Snapshot, bool) { return earlier, earlier != nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func (s scenario) sections(t *testing.T, p *plan.Plan) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range s.golden {
		switch name {
		case "@diagnostics":
			for _, d := range p.Diags {
				out[name] += d.String() + "\n"
			}
		case "@decisions":
			for _, d := range p.Decisions {
				out[name] += decision(d)
			}
		case "@held":
			for _, c := range p.Clusters {
				if c.Held != nil {
					out[name] += c.Name + ": " + c.Held.Reason + "\n"
					for _, r := range c.Held.Removals {
						out[name] += "  " + r.Object.String() + ": " + r.Cause + "\n"
					}
				}
			}
		default:
			out[name] = file(t, p, strings.TrimPrefix(name, "@"))
		}
	}
	out["@all"] = everything(t, p)
	return out
}

// decision prints a decision on a line.
func decision(d plan.Decision) string {
	var where []string
	for _, c := range d.Targets {
		w := c.Name
		if c.Replicas > 0 {
			w += fmt.Sprintf(":%d", c.Replicas)
		}
		where = append(where, w)
	}
	line := fmt.Sprintf("%s %s [%s]", d.Template.Ref(), d.Outcome, strings.Join(where, " "))
	if d.Policy != nil {
		line += " by " + d.Policy.String()
	}
	needed := make([]string, 0, len(d.RequiredBy))
	for _, r := range d.RequiredBy {
		needed = append(needed, " for "+r.Name)
	}
	line += strings.Join(needed, "")
	if d.Reason != "" && d.Reason != "Success" {
		line += " (" + d.Reason + ": " + d.Message + ")"
	}
	return line + "\n"
}

// file returns a file of a cluster, or says that there is none.
func file(t *testing.T, p *plan.Plan, name string) string {
	t.Helper()
	cluster, path, _ := strings.Cut(name, "/")
	for _, c := range p.Clusters {
		if c.Name != cluster {
			continue
		}
		if path == "" {
			var list strings.Builder
			for at := range c.Tree.All() {
				list.WriteString(at + "\n")
			}
			return list.String()
		}
		if e, ok := c.Tree.Lookup(path); ok && e.Blob != nil {
			data, err := e.Blob.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			return string(data)
		}
	}
	return "(none)\n"
}

// everything prints all that a plan would write, to compare runs.
func everything(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b strings.Builder
	for _, c := range p.Clusters {
		fmt.Fprintf(&b, "%s %s %v\n", c.Name, c.Tree.ID(), c.Held)
	}
	fmt.Fprintln(&b, p.State.ID(), p.FleetDigest, p.Removals)
	for _, d := range p.Diags {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

func asWritten([]sources.File) {}

// runAll runs a scenario in every way that must make no difference.
func runAll(t *testing.T, s scenario) map[string]string {
	t.Helper()
	want := s.run(t, nil, asWritten)
	warm := cache.Memory()
	r := rand.New(rand.NewPCG(7, 7))
	shuffled := func(fs []sources.File) { r.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] }) }
	for _, way := range []struct {
		name  string
		cache render.Cache
		order func([]sources.File)
		procs int
	}{
		{"cold cache", warm, asWritten, 0},
		{"warm cache", warm, asWritten, 0},
		{"shuffled", nil, shuffled, 0},
		{"shuffled again", nil, shuffled, 0},
		{"one processor", nil, asWritten, 1},
	} {
		was := runtime.GOMAXPROCS(way.procs)
		got := s.run(t, way.cache, way.order)
		runtime.GOMAXPROCS(was)
		if d := cmp.Diff(want["@all"], got["@all"]); d != "" {
			t.Errorf("%s gives something else: %s", way.name, d)
		}
	}
	s.fixed(t)
	s.memo = plan.NewMemo()
	for range 2 {
		if d := cmp.Diff(want["@all"], s.run(t, warm, asWritten)["@all"]); d != "" {
			t.Errorf("with a memory of plans it gives something else: %s", d)
		}
	}
	return want
}

func TestScenarios(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s := parse(ar)
			if len(bytes.TrimSpace(ar.Comment)) == 0 || !slices.Contains(s.golden, "@diagnostics") || len(s.golden) < 2 {
				t.Fatal("a scenario says what it shows, and has @diagnostics and another golden section")
			}
			check(t, name, ar, runAll(t, s))
		})
	}
}

// check holds golden sections against what came out, or rewrites them.
func check(t *testing.T, name string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	changed := false
	for i, f := range ar.Files {
		if !strings.HasPrefix(f.Name, "@") || string(f.Data) == got[f.Name] {
			continue
		}
		if *update {
			ar.Files[i].Data, changed = []byte(got[f.Name]), true
		} else {
			t.Errorf("%s: %s", f.Name, cmp.Diff(string(f.Data), got[f.Name]))
		}
	}
	if changed {
		if err := os.WriteFile(name, txtar.Format(ar), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExamples runs every folder of examples as a scenario.
func TestExamples(t *testing.T) {
	entries, err := os.ReadDir("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		name := e.Name()
		dir := filepath.Join("../../examples", name)
		t.Run(name, func(t *testing.T) {
			s := scenario{source: map[string][]byte{}, golden: []string{"@diagnostics", "@decisions"}}
			err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				rel, err := filepath.Rel(dir, p)
				if err != nil {
					return err
				}
				s.source[filepath.ToSlash(rel)], err = os.ReadFile(p)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range s.clusters(t) {
				s.golden = append(s.golden, "@"+c)
			}
			golden := "testdata/example-" + name + ".golden"
			ar, err := txtar.ParseFile(golden)
			if err != nil {
				ar = &txtar.Archive{Comment: []byte("What examples/" + name + " gives.\n\n")}
			}
			got := runAll(t, s)
			for _, section := range s.golden {
				if !slices.ContainsFunc(ar.Files, func(f txtar.File) bool { return f.Name == section }) {
					ar.Files = append(ar.Files, txtar.File{Name: section, Data: []byte("(not recorded)\n")})
				}
			}
			check(t, golden, ar, got)
		})
	}
}

// clusters lists every file of every cluster, as names of golden sections.
func (s scenario) clusters(t *testing.T) []string {
	t.Helper()
	p := plan.Build(plan.Input{Source: load(t, snapshot("head", s.source, asWritten), nil, nil), Medium: plan.Branch})
	var names []string
	for _, c := range p.Clusters {
		for path := range c.Tree.All() {
			if strings.HasPrefix(path, tree.ManifestDir+"/") {
				names = append(names, c.Name+"/"+path)
			}
		}
	}
	return names
}

// TestARuleThatIsNewTakesNothingAway plans a source of which an earlier version published a
// policy that this one refuses: it looks as if it never had been sound.
func TestARuleThatIsNewTakesNothingAway(t *testing.T) {
	const policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: %s, namespace: shop}\nspec:\n" +
		"  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: %[1]s}]\n  placement: {}\n"
	source := map[string][]byte{
		"clusters.yaml": []byte("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\nspec: {syncMode: Pull}\n"),
		"a.yaml":        fmt.Appendf(nil, policy, "a"), "b.yaml": fmt.Appendf(nil, policy, "b"),
		"objects.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}\n"),
	}
	then, _ := scenario{source: source}.plan(t, nil, asWritten)
	refused := maps.Clone(source)
	refused["a.yaml"] = []byte(strings.Replace(string(source["a.yaml"]), "spec:", "spec:\n  refused: by this version", 1))
	now := load(t, snapshot("head", refused, asWritten), nil, nil)
	in := published(t, plan.Input{Source: now, Medium: plan.Branch, LastGood: map[string]render.Source{}, Published: map[string]tree.Published{}}, then)
	p := build(t, in, snapshot("head", refused, asWritten))
	if c := p.Clusters[0]; c.Held == nil || !strings.Contains(c.Held.Reason, "had it when it was published last") {
		t.Errorf("cluster %s is held for %v", c.Name, c.Held)
	}
}
