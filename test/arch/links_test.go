package arch

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// shell is who may be linked with a library: packages, and those whose tests alone may. A path that ends in /... is all below it.
type shell struct{ packages, tests []string }

// shells lists what renders and what talks to clusters. Who decides is linked with none of it, so that a room's tests are there soon.
var shells = map[string]shell{
	"helm.sh/helm/v3": {
		packages: []string{"render/helm/build", "render/engine/engines", "cmd/waybill", "cmd/waybill/newagent", "test/..."},
		tests:    []string{"render/flux", "render/renderer", "reconciler", "reconciler/pulls", "reconciler/versions"},
	},
	"sigs.k8s.io/kustomize/api": { // kubectl brings it, too
		packages: []string{
			"render/kustomize/build", "render/engine/engines",
			"reconciler/agent", "reconciler/applier", "reconciler/clusters", "reconciler/clusters/survey", "reconciler/endpoints/push", "reconciler/members",
			"reconciler/observe", "reconciler/report", "reconciler/report/listing", "reconciler/report/problem", "reconciler/serve", "reconciler/ui",
			"cmd/waybill", "cmd/waybill/terminal", "cmd/waybill/updating", "test/...",
		},
		tests: []string{
			"render/flux", "render/fluxsync", "render/renderer",
			"reconciler", "reconciler/members/english", "reconciler/pulls", "reconciler/status/writer", "reconciler/versions",
		},
	},
	"k8s.io/client-go": {
		packages: []string{
			"render/helm/build", "render/engine/engines", // the lookup of templates, which is refused
			"reconciler/agent", "reconciler/applier", "reconciler/clusters", "reconciler/clusters/credential", "reconciler/clusters/endpointslices",
			"reconciler/clusters/pods", "reconciler/clusters/survey", "reconciler/endpoints/push", "reconciler/management", "reconciler/members", "reconciler/observe", "reconciler/replicas",
			"reconciler/report", "reconciler/report/listing", "reconciler/report/problem", "reconciler/serve", "reconciler/ui",
			"cmd/waybill", "cmd/waybill/newagent", "cmd/waybill/terminal", "cmd/waybill/updating", "test/...",
		},
		tests: []string{
			"render/flux", "render/renderer",
			"reconciler", "reconciler/members/english", "reconciler/pulls", "reconciler/status/writer", "reconciler/versions",
		},
	},
}

// light are packages of those libraries that read text, and bring nothing else of them.
var light = []string{
	"helm.sh/helm/v3/pkg/chart",   // the types of Chart.yaml
	"helm.sh/helm/v3/pkg/strvals", // what --set says
	"k8s.io/client-go/util/jsonpath", "k8s.io/client-go/third_party/forked/golang/template",
}

// unlinked are rooms that take what a repository has as values: they are not linked with what reads and writes one. Their tests may be.
var unlinked = []string{
	"policies/...", "render", "render/helm", "render/kustomize", "render/engine", "render/flux",
	"reconciler/plan/...", "reconciler/guard", "reconciler/preview/...", "reconciler/state/...",
}

// links is what each package and each binary of tests, as reconciler/guard.test, imports.
type links map[string][]string

func linking(t *testing.T) links {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := links{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p.Imports
	}
}

// with is how a package comes to be linked with one that matches: the packages from it to there; nil if it is not.
func (l links) with(path string, matches func(path string) bool) []string {
	by, queue := map[string]string{path: ""}, []string{path}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if matches(untested(at)) {
			var way []string
			for ; at != ""; at = by[at] {
				way = append(way, plain(at))
			}
			slices.Reverse(way)
			return way
		}
		for _, next := range l[at] {
			if _, seen := by[next]; !seen {
				by[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// untested is the path of a package, without the tests that it is built for.
func untested(path string) string {
	path, _, _ = strings.Cut(path, " ")
	return path
}

// plain is that path within the module.
func plain(path string) string { return strings.TrimPrefix(untested(path), module+"/") }

// names reports that a list has a package, or a folder that it is in.
func names(list []string, path string) bool {
	return slices.ContainsFunc(list, func(listed string) bool {
		tree, isTree := strings.CutSuffix(listed, "/...")
		return path == listed || isTree && below(path, tree)
	})
}

// own are the packages of the module, and with tests their binaries, by what they are called within it.
func (l links) own() map[string]string {
	all := map[string]string{}
	for path := range l {
		if strings.HasPrefix(path, module+"/") && !strings.Contains(path, " ") {
			all[path] = strings.TrimSuffix(plain(path), ".test")
		}
	}
	return all
}

// TestWhoDecidesIsNotLinkedWithWhatActs asks Go once what packages, and binaries of tests, are linked with.
func TestWhoDecidesIsNotLinkedWithWhatActs(t *testing.T) {
	all := linking(t)
	t.Run("libraries", func(t *testing.T) { all.keepToShells(t) })
	t.Run("repositories", func(t *testing.T) { all.keepFromRepositories(t) })
}

func (l links) keepToShells(t *testing.T) {
	t.Helper()
	for _, lib := range slices.Sorted(maps.Keys(shells)) {
		may, used, wrong := shells[lib], map[string]bool{}, [][]string{}
		heavy := func(path string) bool { return below(path, lib) && !slices.Contains(light, path) }
		for path, room := range l.own() {
			way := l.with(path, heavy)
			if way == nil {
				continue
			}
			used[room] = true
			if testsMay := strings.HasSuffix(path, ".test") && names(may.tests, room); !testsMay && !names(may.packages, room) {
				wrong = append(wrong, way)
			}
		}
		said(t, lib, wrong)
		for _, room := range slices.Concat(may.packages, may.tests) {
			if !strings.HasSuffix(room, "/...") && !used[room] {
				t.Errorf("%s is no longer linked with %s: take it from the list", room, lib)
			}
		}
	}
}

// said says how what may not is linked with a library: the shortest ways, which others go through.
func said(t *testing.T, lib string, ways [][]string) {
	t.Helper()
	slices.SortFunc(ways, func(a, b []string) int { return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) })
	for i, way := range ways {
		if i == 3 {
			t.Errorf("and %d more are linked with %s", len(ways)-i, lib)
			return
		}
		t.Errorf("%s is linked with %s, and may not be (links_test.go): %s", way[0], lib, strings.Join(way, " > "))
	}
}

func (l links) keepFromRepositories(t *testing.T) {
	t.Helper()
	var wrong [][]string
	for path, room := range l.own() {
		if strings.HasSuffix(path, ".test") || !names(unlinked, room) {
			continue
		}
		if way := l.with(path, func(p string) bool { return p == module+"/sources/git" }); way != nil {
			wrong = append(wrong, way)
		}
	}
	said(t, "sources/git", wrong)
}
