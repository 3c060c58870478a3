// Package scenario runs text scenarios: what is done to a source, and what every cluster
// should hold then, in one file.
//
// A scenario is a txtar file in testdata. Its first paragraph says what it shows. It has
// steps, at each of which a commit is published to a repository in memory (see package
// twin). The sections of the first step begin with "1/", those of the second with "2/",
// and so on. A scenario of one step needs no numbers, and one of two may do without:
// what is below "previous/" is published first, and then the files without a number take
// the place of all of them.
//
// # What is done
//
//	2/apps/web.yaml               a file that step 2 adds or changes; the others stay
//	2/apps/web.yaml -> ../a.yaml  a symbolic link
//	2/waybill/cluster/eu:PATH     a file that somebody writes to a branch before the step publishes
//	2                             commands, one a line:
//	  git mv OLD NEW                a file or a folder moves
//	  git rm NAME                   a file or a folder goes
//	  git branch -D BRANCH          somebody deletes a branch
//	  report CLUSTER healthy|unhealthy        who applies reports its branch as applied, and all that is on it so
//	  report CLUSTER healthy but OBJECT...    the same, with some objects that are not, as Deployment/shop/web
//	  wait DURATION                 so much time passes before the step; less than nothing: a clock goes back
//	  apply CLUSTER... [KIND/NAME=failed|progressing|refused]   clusters report that they are at the heads of their branches
//	  silence CLUSTER...            clusters are reported not to answer
//	  shallow                       no commit of the source can be read but the last
//	  version VERSION               another version of Waybill publishes from here on
//	  command NAME VERB UNIT [STAGE|CLUSTER]   somebody commands it of the run that is open, and signs unless it is "nobody"
//	  trailer NAME VERB UNIT [STAGE|CLUSTER]   the commit of the step has that trailer, and is signed likewise
//	  refuse BRANCH...              the server takes nothing for these, in this step
//	  publish [--allow-prune] [--random-key-file NAME] [--rotate-random-key]   how the step publishes
//
// # What comes out
//
// Sections whose names begin with "@", or "2/@" for step 2, are golden output, and
// "go test ./test/scenario -update" rewrites them:
//
//	@diagnostics          every diagnostic, there at every step, even empty
//	@decisions            where each template goes, by which policy, with replicas
//	@<cluster>/<path>     a file that the plan gives a cluster; list the ones that matter
//	@<cluster>/           the paths that the plan gives a cluster
//	@held                 the clusters that the guard holds
//	@BRANCH:PATH          a file of a branch, as in @waybill/state:clusters/eu.yaml
//	@branches             the objects on the clusters' branches afterwards, with replicas and bounds of them
//	@rollouts             how far units are that go out in stages; commits have the numbers of their steps
//	@images               what clusters' branches have of workloads and ConfigMaps, a cluster a line
//	@trees                which clusters' branches have the tree, byte for byte, that they had before the step
//	@publish              the exit status of publish, and the branches that it moved
//	@verify               the branches that cannot be verified then; empty without the section
//	@trailers             what the commits of the publication say of clusters
//	@message              what the last commit of the state says above its trailers
//	@recheck              when time alone may change the plan
//	@again                what changes when the same is published again; empty likewise
//
// # In every way
//
// Each scenario runs with its files in order and shuffled, with a cold and a warm cache,
// on one processor, and by one process that remembers and by one a step that does not,
// and must give the same bytes. A folder of examples is a scenario, too: its golden output is
// testdata/example-NAME.golden.
package scenario

import (
	"flag"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

var update = flag.Bool("update", false, "rewrite golden sections")

// runAll runs a scenario in every way that must make no difference.
func runAll(t *testing.T, s *scenario) map[string]string {
	t.Helper()
	want := s.run(t, way{checks: true})
	for _, st := range s.steps {
		for _, name := range []string{"@verify", "@again"} {
			if out := want[st.prefix+name]; out != "" && !slices.Contains(st.golden, name) {
				t.Errorf("%s%s should be empty: %s", st.prefix, name, out)
			}
		}
	}
	warm := cache.Memory()
	r := rand.New(rand.NewPCG(7, 7))
	shuffled := func(fs []sources.File) { r.Shuffle(len(fs), func(i, j int) { fs[i], fs[j] = fs[j], fs[i] }) }
	for _, w := range []struct {
		name  string
		way   way
		procs int
	}{
		{"cold cache", way{cache: warm}, 0},
		{"warm cache", way{cache: warm}, 0},
		{"shuffled", way{order: shuffled}, 0},
		{"shuffled again", way{order: shuffled}, 0},
		{"one processor", way{}, 1},
		{"a process that remembers", way{cache: warm, remembers: true}, 0},
	} {
		was := runtime.GOMAXPROCS(w.procs)
		got := s.run(t, w.way)
		runtime.GOMAXPROCS(was)
		if d := cmp.Diff(want["@all"], got["@all"]); d != "" {
			t.Errorf("%s gives something else: %s", w.name, d)
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
			s, err := parse(ar)
			if err != nil {
				t.Fatal(err)
			}
			check(t, name, ar, runAll(t, &s))
		})
	}
}

// check holds golden sections against what came out, or rewrites them.
func check(t *testing.T, name string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	changed := false
	for i, f := range ar.Files {
		if !isGolden(f.Name) || string(f.Data) == got[f.Name] {
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
		t.Run(e.Name(), func(t *testing.T) {
			source := example(t, filepath.Join("../../examples", e.Name()))
			s := scenario{steps: []step{{files: source, golden: []string{"@diagnostics", "@decisions"}}}}
			all := manifests(t, &s)
			namespacesThere(t, all)
			s.steps[0].golden = append(s.steps[0].golden, all...)
			golden := "testdata/example-" + e.Name() + ".golden"
			ar, err := txtar.ParseFile(golden)
			if err != nil {
				ar = &txtar.Archive{Comment: []byte("What examples/" + e.Name() + " gives.\n\n")}
			}
			got := runAll(t, &s)
			for _, section := range s.steps[0].golden {
				if !slices.ContainsFunc(ar.Files, func(f txtar.File) bool { return f.Name == section }) {
					ar.Files = append(ar.Files, txtar.File{Name: section, Data: []byte("(not recorded)\n")})
				}
			}
			check(t, golden, ar, got)
		})
	}
}

// namespacesThere holds that an example can be applied to empty clusters: the Namespace of
// every manifest goes along.
func namespacesThere(t *testing.T, sections []string) {
	t.Helper()
	for _, section := range sections {
		cluster, path, _ := strings.Cut(section, "/"+tree.ManifestDir+"/")
		namespace, _, _ := strings.Cut(path, "/")
		if namespace == "_cluster" || namespace == "default" {
			continue
		}
		if want := cluster + "/" + tree.Path(object.Ref{Kind: "Namespace", Name: namespace}); !slices.Contains(sections, want) {
			t.Errorf("%s has no Namespace: want %s", section, want)
		}
	}
}

// example reads a folder.
func example(t *testing.T, dir string) twin.Tree {
	t.Helper()
	source := twin.Tree{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, p)
		source[p] = twin.File(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// manifests lists every manifest of every cluster, as names of golden sections.
func manifests(t *testing.T, s *scenario) []string {
	t.Helper()
	repo := twin.New("scenario")
	repo.Write("main", "head", s.steps[0].files.Folder())
	var names []string
	for _, c := range publish(t, reconcilerOver(repo, nil, start)).Plan.Clusters {
		for path := range c.Tree.All() {
			if strings.HasPrefix(path, tree.ManifestDir+"/") {
				names = append(names, "@"+c.Name+"/"+path)
			}
		}
	}
	return names
}
