package render_test

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

const clusterOfFolder = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\n" +
	"metadata: {name: eu, annotations: {waybill.dev/path: clusters/eu}}\nspec: {syncMode: Push}\n"

// barren builds a folder that is called eu to nothing, and others as builder does. It fails if it is told to.
type barren struct {
	builder

	err error
}

func (b barren) Render(ctx context.Context, s sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	all, err := b.builder.Render(ctx, s, jobs)
	for i, j := range jobs {
		if path.Base(j.Kustomize.Dir) == "eu" {
			all[i] = engine.Rendered{}
		}
	}
	return all, errors.Join(err, b.err)
}

// TestWhyAFolderHoldsNothing for its cluster is said, so that somebody finds the mistake.
func TestWhyAFolderHoldsNothing(t *testing.T) {
	for want, more := range map[string]twin.Texts{
		"clusters/eu/kustomization.yaml builds to nothing": {"clusters/eu/kustomization.yaml": kustomization},
		"clusters/eu/kustomization.yaml lists none of its manifests": {
			"clusters/eu/kustomization.yaml": kustomization,
			"clusters/eu/a.yaml":             configMap("a"),
		},
		"no manifest is in it": {
			"clusters/eu/README.md":            "",
			"clusters/eu-2/kustomization.yaml": kustomization,
		},
		"it is not in the source": {"clusters/eu-2/a.yaml": configMap("a")},
		"clusters/eu/kustomization.yaml builds to nothing, all in all": {
			"clusters/eu/kustomization.yaml":   kustomization,
			"clusters/eu-2/kustomization.yaml": kustomization, "clusters/eu-2/b.yaml": configMap("b"),
		},
	} {
		more["eu.yaml"] = clusterOfFolder
		src, err := render.Load(t.Context(), more, render.With{Engine: barren{}})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(src.Diags, func(d diag.Diagnostic) bool { return d.Code == diag.EmptyFolder })
		want, _, _ := strings.Cut(want, ",")
		if i < 0 || src.Diags[i].Message != "the folder clusters/eu holds nothing for Cluster eu: "+want {
			t.Errorf("%v, want that %s", src.Diags, want)
		}
	}
	files := twin.Texts{"web/kustomization.yaml": kustomization}
	down := errors.New("the worker is down")
	if _, err := render.Load(t.Context(), files, render.With{Engine: barren{err: down}}); !errors.Is(err, down) {
		t.Errorf("an engine that fails is %v", err)
	}
	src, err := render.Load(t.Context(), files, render.With{})
	if err != nil || len(src.Broken) != 1 || src.Broken[0].Path != "web/kustomization.yaml" || len(src.Diags) != 1 ||
		src.Diags[0].Code != diag.NotRendered {
		t.Errorf("without an engine broken is %v, and it says %v; %v", src.Broken, src.Diags, err)
	}
}

// TestWhatIsToldToArgoCD is named, each kind by itself, wherever it stands; of another group it is something else.
func TestWhatIsToldToArgoCD(t *testing.T) {
	app := func(kind, name string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: argocd}\n"
	}
	_, objs, _, said := loaded(t, twin.Texts{
		"eu.yaml": clusterOfFolder, "a.yaml": app("Application", "web"), "clusters/eu/b.yaml": app("Application", "api"),
		"s.yaml": app("ApplicationSet", "all"),
		"p.yaml": app("AppProject", "p"), "x.yaml": strings.Replace(app("Application", "x"), "argoproj.io", "app.k8s.io", 1),
	}, render.With{})
	want := strings.Join([]string{
		"clusters/eu/b.yaml:1: notice: Application.argoproj.io/argocd/api, Application.argoproj.io/argocd/web: " +
			"an Application tells Argo CD what to render; " +
			"here it is a manifest like any other, and what it stands for is not rendered [argo-cd]",
		"s.yaml:1: notice: ApplicationSet.argoproj.io/argocd/all: an ApplicationSet tells Argo CD what to render; " +
			"here it is a manifest like any other, and what it stands for is not rendered [argo-cd]",
	}, "\n")
	if said != want || !strings.Contains(objs, "web@a.yaml") {
		t.Errorf("it reads %s, and says\n%s\nwant\n%s", objs, said, want)
	}
}

// digestsOf are those of broken parts, by their names.
func digestsOf(t *testing.T, s sources.Snapshot) map[string]string {
	t.Helper()
	src, _, _, _ := loaded(t, s, render.With{})
	all := map[string]string{}
	for _, b := range src.Broken {
		all[b.String()] = b.Digest
	}
	return all
}

// TestADigestIsOfAllThatABrokenPartIsMadeFrom: its own file, what is behind a link, and what a kustomization builds on; and of nothing
// else.
func TestADigestIsOfAllThatABrokenPartIsMadeFrom(t *testing.T) {
	file := func(digest string) sources.File { return sources.File{Digest: digest} }
	texts := twin.Texts{
		"a.yaml": "kind: [\n", "b.yaml": configMap("b"), "c.yaml": configMap("b"), "real/x.yaml": configMap("x"),
		"base/kustomization.yaml": kustomization,
		"base/y.yaml":             configMap("y"), "broken/kustomization.yaml": kustomization + "resources: [../base]\n", "broken/notes.txt": "",
		"other.yaml": configMap("o"), "etc/z.yaml": configMap("z"),
	}
	digests := func(changed string) map[string]string {
		s := special{texts, map[string]sources.File{"link": {Kind: sources.Symlink, Target: "real"}, "away": {
			Kind:   sources.Symlink,
			Target: "/etc",
		}}}
		for name := range texts {
			digest := "1"
			if name == changed {
				digest = "2"
			}
			s.are[name] = file(digest)
		}
		return digestsOf(t, s)
	}
	was := digests("")
	if was["ConfigMap/a/b"] != "" || was["a.yaml"] == "" || was["link/"] == "" || was["broken/kustomization.yaml"] == "" ||
		was["away/"] == "" {
		t.Fatalf("the digests are %v", was)
	}
	for changed, want := range map[string]string{
		"": "", "a.yaml": "a.yaml", "real/x.yaml": "link/", "base/kustomization.yaml": "broken/kustomization.yaml",
		"base/y.yaml":               "broken/kustomization.yaml",
		"broken/kustomization.yaml": "broken/kustomization.yaml", "broken/notes.txt": "broken/kustomization.yaml", "other.yaml": "",
		"etc/z.yaml": "", "b.yaml": "",
	} {
		is := digests(changed)
		for part := range was {
			if (is[part] != was[part]) != (part == want) {
				t.Errorf("when %q changes the digest of %s is %s, and was %s", changed, part, is[part], was[part])
			}
		}
	}
}

// TestWhichObjectsABrokenPartHolds: those of its file, or the one that it names.
func TestWhichObjectsABrokenPartHolds(t *testing.T) {
	a := object.Decode("x/a.yaml", []byte(configMap("a"))).Objects[0]
	for _, tt := range []struct {
		part render.Broken
		want bool
	}{
		{render.Broken{Ref: a.Ref()}, true},
		{render.Broken{Ref: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "b"}}, false},
		{render.Broken{Path: "x/a.yaml"}, true},
		{render.Broken{Path: "x", Dir: true}, true},
		{render.Broken{Path: "y/a.yaml"}, false},
		{render.Broken{Ref: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "b"}, Path: "x/a.yaml"}, false},
	} {
		if tt.part.Holds(a) != tt.want {
			t.Errorf("%+v holds it: %t", tt.part, !tt.want)
		}
	}
}

// remembering is a cache that counts.
type remembering struct {
	known map[string]object.Decoded
	found int
}

// Decoded implements render.Cache.
func (r *remembering) Decoded(key string) (object.Decoded, bool) {
	d, ok := r.known[key]
	if ok {
		r.found++
	}
	return d, ok
}

// Keep implements render.Cache.
func (r *remembering) Keep(key string, d object.Decoded) { r.known[key] = d }

// TestWhatIsRememberedOfFiles is what has the same content at the same place; a file of which that is not known is read each time.
func TestWhatIsRememberedOfFiles(t *testing.T) {
	cache := &remembering{known: map[string]object.Decoded{}}
	read := func(text, digest string) string {
		s := special{twin.Texts{"a.yaml": text, "b.yaml": configMap("b")}, map[string]sources.File{"a.yaml": {Digest: digest}, "b.yaml": {}}}
		_, objs, _, _ := loaded(t, s, render.With{Cache: cache})
		return objs
	}
	for _, step := range []struct {
		text, digest, want string
		found, known       int
	}{
		{configMap("one"), "1", "one@a.yaml b@b.yaml", 0, 1},
		{configMap("two"), "1", "one@a.yaml b@b.yaml", 1, 1}, // by its digest it is the same
		{configMap("two"), "2", "two@a.yaml b@b.yaml", 1, 2},
		{configMap("three"), "", "three@a.yaml b@b.yaml", 1, 2},
	} {
		if got := read(step.text, step.digest); got != step.want || cache.found != step.found || len(cache.known) != step.known {
			t.Errorf("of %q it reads %s; %d are found, and %d known", step.digest, got, cache.found, len(cache.known))
		}
	}
}

// TestObjectsAreInOrder of what they are, and of their places where that is the same.
func TestObjectsAreInOrder(t *testing.T) {
	var all []*object.Object
	for _, name := range []string{"b.yaml", "a.yaml"} {
		all = append(all, object.Decode(name, []byte(configMap("x")+"---\n"+configMap("x")+"---\n"+configMap("a"))).Objects...)
	}
	slices.Reverse(all)
	render.SortObjects(all)
	var got []string
	for _, o := range all {
		got = append(got, o.Ref().Name+"@"+o.Pos().String())
	}
	want := "a@a.yaml:9 a@b.yaml:9 x@a.yaml:1 x@a.yaml:5 x@b.yaml:1 x@b.yaml:5"
	if is := strings.Join(got, " "); is != want {
		t.Errorf("they are %s, want %s", is, want)
	}
}
