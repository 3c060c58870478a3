package compare_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/preview/compare"
	"github.com/waybill-dev/waybill/reconciler/versions"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/test/twin"
)

var update = flag.Bool("update", false, "rewrite what is wanted of each file of testdata")

// fixture is two versions of a source, and what is said of going from one to the other.
type fixture struct {
	base, head twin.Tree
	archive    *txtar.Archive
}

func fixtureOf(t *testing.T, path string) fixture {
	t.Helper()
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{base: twin.Tree{}, head: twin.Tree{}, archive: a}
	for _, file := range a.Files {
		side, name, _ := strings.Cut(file.Name, "/")
		switch side {
		case "base":
			f.base[name] = twin.File(file.Data)
		case "head":
			f.head[name] = twin.File(file.Data)
		case "both":
			f.base[name], f.head[name] = twin.File(file.Data), twin.File(file.Data)
		}
	}
	return f
}

// compared is what is said of them.
func (f *fixture) compared(t *testing.T, within compare.Scope) preview.Comparison {
	t.Helper()
	c, err := f.asked(t, within)
	if err != nil {
		t.Fatal(err)
	}
	c.Base, c.Head = "", ""
	return c
}

// asked publishes the first version, and compares the second one with it.
func (f *fixture) asked(t *testing.T, within compare.Scope) (preview.Comparison, error) {
	t.Helper()
	repo := twin.New("fleet")
	repo.Write("main", "base", f.base.Folder())
	r := &reconciler.Reconciler{
		Seen: reconciler.NewCache(), Source: repo, Target: repo, Cache: cache.Memory(), Engine: renderer.New(&worker.Local{Handler: renders}, nil),
		Now: func() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) },
	}
	if _, err := r.Publish(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	repo.Write("change", "head", f.head.Folder())
	head, err := repo.Snapshot(t.Context(), "change", "")
	if err != nil {
		t.Fatal(err)
	}
	return versions.Preview(t.Context(), r, versions.Question{Base: "main", Head: head, Within: within})
}

// scope is what a section is about: "all", "cluster eu" or "namespace other".
func scope(section string) (within compare.Scope) {
	switch what, name, _ := strings.Cut(section, " "); what {
	case "cluster":
		within.Clusters = []string{name}
	case "namespace":
		within.Namespaces = []string{name}
	}
	return within
}

// TestPlans: what is said of going from one version of a source to another one: of all, of a cluster, and of a namespace.
func TestPlans(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there is nothing to compare: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			f := fixtureOf(t, path)
			for n, file := range f.archive.Files {
				if strings.Contains(file.Name, "/") {
					continue
				}
				got, err := yaml.Marshal(f.compared(t, scope(file.Name)))
				if err != nil {
					t.Fatal(err)
				}
				if *update {
					f.archive.Files[n].Data = got
				} else if d := cmp.Diff(string(file.Data), string(got)); d != "" {
					t.Errorf("%s: %s", file.Name, d)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(f.archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestAClusterThatNeitherVersionHas is a mistake, and the names that are most like it come first.
func TestAClusterThatNeitherVersionHas(t *testing.T) {
	f := fixtureOf(t, "testdata/unregistered.txtar")
	for name, want := range map[string]string{
		"eu": "", "us": "", "me": "",
		"use": `no version of the source has a cluster "use"; there are us, me, eu`,
		"mee": `no version of the source has a cluster "mee"; there are me, eu, us`,
	} {
		got := ""
		if _, err := f.asked(t, compare.Scope{Clusters: []string{name}}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("of %s it says %q, want %q", name, got, want)
		}
	}
}
