package render_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/test/twin"
)

// builder builds a Kustomize root to a ConfigMap that is called as the folder, and fails at one that is called broken.
type builder struct{}

func (builder) Render(_ context.Context, _ sources.Snapshot, jobs []engine.Job) (all []engine.Rendered, err error) {
	for _, j := range jobs {
		dir := j.Kustomize.Dir
		r := engine.Rendered{}
		if path.Base(dir) == "broken" {
			r.Diags = []diag.Diagnostic{{Code: diag.Kustomize, Severity: diag.Error, Message: "it does not build"}}
		} else {
			r.Manifests = []engine.Manifest{{Object: object.Decode("built", []byte(configMap(strings.NewReplacer("/", "-", ".", "top").Replace(dir)))).Objects[0]}}
		}
		all = append(all, r)
	}
	return all, nil
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: a}\n"
}

// special is a snapshot in which some paths are no files.
type special struct {
	twin.Texts
	are map[string]sources.File
}

func (s special) Files() []sources.File {
	all := s.Texts.Files()
	for name, f := range s.are {
		f.Path = name
		all = slices.DeleteFunc(all, func(f sources.File) bool { return f.Path == name })
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b sources.File) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// loaded reads files, and returns what is read as NAME@FILE, what is broken, and what is said.
func loaded(t *testing.T, s sources.Snapshot, w render.With) (src render.Source, objs, broken, said string) {
	t.Helper()
	w.Engine = builder{}
	src, err := render.Load(t.Context(), s, w)
	if err != nil {
		t.Fatal(err)
	}
	var read, bad, all []string
	for _, o := range src.Objects {
		name := o.Ref().Name + "@" + o.Pos().File
		if o.IsBase() {
			name += " as a base"
		}
		read = append(read, name)
	}
	for _, cluster := range slices.Sorted(maps.Keys(src.Bound)) {
		for _, o := range src.Bound[cluster] {
			read = append(read, cluster+":"+o.Ref().Name+"@"+o.Pos().File)
		}
	}
	for _, b := range src.Broken {
		bad = append(bad, b.String())
	}
	slices.Sort(bad)
	for _, d := range src.Diags {
		line, _, _ := strings.Cut(d.String(), "\n")
		all = append(all, line)
	}
	return src, strings.Join(read, " "), strings.Join(bad, " "), strings.Join(all, "\n")
}

const kustomization = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"

// TestWhichFilesAreRead holds what is a manifest, by its name and by what a source says of itself.
func TestWhichFilesAreRead(t *testing.T) {
	const config = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {scan: %s}\n"
	for _, tt := range []struct {
		name  string
		files twin.Texts
		want  string
		stats render.Stats
	}{
		{"by the end of the name", twin.Texts{"a.yaml": configMap("a"), "b.yml": configMap("b"), "c.json": `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "a"}}`, "d.txt": configMap("d"), "yaml": configMap("e")}, "a@a.yaml b@b.yml c@c.json", render.Stats{Files: 3, Objects: 3}},
		{"not what is hidden", twin.Texts{".a.yaml": configMap("a"), ".github/b.yaml": configMap("b"), "x/.c/c.yaml": configMap("c"), "x.d/d.yaml": configMap("d")}, "d@x.d/d.yaml", render.Stats{Files: 1, Objects: 1}},
		{"not what is ignored", twin.Texts{".waybillignore": "docs/\n*.tmp.yaml\n", "docs/a.yaml": configMap("a"), "b.tmp.yaml": configMap("b"), "c.yaml": configMap("c")}, "c@c.yaml", render.Stats{Files: 1, Objects: 1, Ignored: 2}},
		{"what the config includes", twin.Texts{"waybill.yaml": fmt.Sprintf(config, "{include: [apps/**]}"), "a.yaml": configMap("a"), "apps/b.yaml": configMap("b")}, "b@apps/b.yaml", render.Stats{Files: 1, Objects: 1, Ignored: 1}},
		{"not what it excludes", twin.Texts{"waybill.yaml": fmt.Sprintf(config, "{exclude: [apps/**]}"), "a.yaml": configMap("a"), "apps/b.yaml": configMap("b")}, "a@a.yaml", render.Stats{Files: 1, Objects: 1, Ignored: 1}},
		{"not what is no manifest", twin.Texts{"a.yaml": "just: values\n---\n" + configMap("a"), "b.yaml": "- 1\n"}, "a@a.yaml", render.Stats{Files: 2, Objects: 1, NotManifests: 2}},
		{"not what is in a chart", twin.Texts{"web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "web/templates/a.yaml": "{{ .Values.x }}", "web/values.yaml": "x: 1\n", "web-2/b.yaml": configMap("b")}, "b@web-2/b.yaml", render.Stats{Files: 1, Objects: 1}},
		{"not what Waybill wrote", twin.Texts{"out/eu/waybill.metadata": "{}", "out/eu/manifests/a.yaml": configMap("a"), "out/b.yaml": configMap("b")}, "b@out/b.yaml", render.Stats{Files: 1, Objects: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, objs, broken, _ := loaded(t, tt.files, render.With{})
			if objs != tt.want || broken != "" {
				t.Errorf("it reads %s, broken is %q\nwant %s", objs, broken, tt.want)
			}
			if src.Stats != tt.stats {
				t.Errorf("it counts %+v, want %+v", src.Stats, tt.stats)
			}
		})
	}
}

// TestPatternsThatAreTooMuchWork: what they ignore is not known, so that the file that has them counts as broken.
func TestPatternsThatAreTooMuchWork(t *testing.T) {
	const config = "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {scan: {%s: ['%s']}}\n"
	pattern := "b?" + strings.Repeat("[a]", 100_000)
	for name, tt := range map[string]struct{ file, text string }{
		"that are ignored":  {render.IgnoreFile, pattern + "\n"},
		"that are included": {render.ConfigFile, fmt.Sprintf(config, "include", pattern)},
		"that are excluded": {render.ConfigFile, fmt.Sprintf(config, "exclude", pattern)},
	} {
		files := twin.Texts{tt.file: tt.text}
		for n := range 120 {
			files[strings.Repeat("b", 220)+strconv.Itoa(n)+".yaml"] = configMap("a" + strconv.Itoa(n))
		}
		_, _, broken, said := loaded(t, files, render.With{})
		if broken != tt.file || !strings.Contains(said, string(diag.BadConfig)) {
			t.Errorf("of files %s broken is %q, and it says %q", name, broken, said)
		}
	}
}

// TestKustomizationsOfASource holds what is built, and what kustomizations take in or leave out.
func TestKustomizationsOfASource(t *testing.T) {
	lists := func(resources string) string { return kustomization + "resources: [" + resources + "]\n" }
	const component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
	const cluster = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu, annotations: {waybill.dev/path: %s}}\nspec: {syncMode: Push}\n"
	for _, tt := range []struct {
		name               string
		files              twin.Texts
		want, broken, said string
	}{
		{"a root", twin.Texts{"web/kustomization.yaml": lists("a.yaml"), "web/a.yaml": configMap("a"), "b.yaml": configMap("b")}, "b@b.yaml web@web/kustomization.yaml", "", ""},
		{"a root of all", twin.Texts{"kustomization.yaml": lists("a.yaml"), "a.yaml": configMap("a"), "x/b.yaml": configMap("b")}, "top@kustomization.yaml b@x/b.yaml", "", ""},
		{"what another one builds on is no root", twin.Texts{"base/kustomization.yaml": lists("a.yaml"), "base/a.yaml": configMap("a"), "eu/kustomization.yaml": lists("../base")}, "eu@eu/kustomization.yaml", "", ""},
		{"a component is no root", twin.Texts{"part/kustomization.yaml": component, "eu/kustomization.yaml": kustomization + "components: [../part]\n"}, "eu@eu/kustomization.yaml", "", ""},
		{"nor one that nobody uses", twin.Texts{"part/kustomization.yaml": component, "a.yaml": configMap("a")}, "a@a.yaml", "", ""},
		{"two that use each other", twin.Texts{"a/kustomization.yaml": lists("../b"), "b/kustomization.yaml": lists("../a")}, "a@a/kustomization.yaml", "a/kustomization.yaml b/kustomization.yaml", ""},
		{"what is not listed", twin.Texts{"web/kustomization.yaml": lists("a.yaml"), "web/a.yaml": configMap("a"), "web/x/b.yaml": configMap("b"), "web/c.yaml": configMap("c")}, "web@web/kustomization.yaml", "", "web/kustomization.yaml:1: notice: 2 files with manifests are not listed here, and not read: web/c.yaml, web/x/b.yaml [not-listed]"},
		{"a policy that is not listed counts", twin.Texts{"web/kustomization.yaml": lists("a.yaml"), "web/a.yaml": configMap("a"), "web/p.yaml": strings.Replace(fmt.Sprintf(cluster, "clusters/eu"), "waybill.dev/path", "x", 1)}, "web@web/kustomization.yaml eu@web/p.yaml", "", ""},
		{"beside one at the top", twin.Texts{"kustomization.yaml": lists(""), "b.yaml": configMap("b"), "x/c.yaml": configMap("c")}, "top@kustomization.yaml c@x/c.yaml", "", "kustomization.yaml:1: notice: 1 file with manifests is not listed here, and not read: b.yaml [not-listed]"},
		{"one that does not build", twin.Texts{"broken/kustomization.yaml": lists("a.yaml"), "broken/a.yaml": configMap("a"), "b.yaml": configMap("b")}, "b@b.yaml", "broken/kustomization.yaml", "broken/kustomization.yaml:1: error: it does not build [kustomize]"},
		{"one that cannot be read", twin.Texts{"web/kustomization.yaml": "resources: [\n", "web/a.yaml": configMap("a"), "b.yaml": configMap("b")}, "b@b.yaml web@web/kustomization.yaml", "web/ web/kustomization.yaml", ""},
		{"one that is ignored", twin.Texts{".waybillignore": "web/\n", "web/kustomization.yaml": lists("a.yaml"), "b.yaml": configMap("b")}, "b@b.yaml", "", ""},
		{"what a Kustomization of Flux builds", twin.Texts{
			"sync.yaml":               "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}\n",
			"apps/kustomization.yaml": lists("a.yaml"), "apps/a.yaml": configMap("a"), "apps-2/b.yaml": configMap("b"),
		}, "b@apps-2/b.yaml apps@sync.yaml", "", ""},

		{"a base that a policy names", twin.Texts{
			"base/kustomization.yaml": lists("a.yaml"), "base/a.yaml": configMap("a"), "eu/kustomization.yaml": lists("../base"),
			"p.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: p, annotations: {waybill.dev/paths: base/}}\nspec: {}\n",
		}, "base@base/kustomization.yaml as a base eu@eu/kustomization.yaml p@p.yaml", "", ""},
		{"a base that a policy may mean", twin.Texts{
			"base/kustomization.yaml": lists("a.yaml"), "base/a.yaml": configMap("a"), "eu/kustomization.yaml": lists("../base"),
			"p.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: p, annotations: {waybill.dev/paths: b*/}}\nspec: {}\n",
		}, "eu@eu/kustomization.yaml p@p.yaml", "", ""},

		{"a folder of a cluster", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "clusters/eu/a.yaml": configMap("a"), "clusters/eu-2/b.yaml": configMap("b")}, "b@clusters/eu-2/b.yaml eu@eu.yaml eu:a@clusters/eu/a.yaml", "", ""},
		{"a folder of a cluster, in another spelling", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "./clusters/../clusters/eu/"), "clusters/eu/a.yaml": configMap("a")}, "eu@eu.yaml eu:a@clusters/eu/a.yaml", "", ""},
		{"an inner kustomization of it is no root", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "clusters/eu/kustomization.yaml": lists("a.yaml"), "clusters/eu/a.yaml": configMap("a"), "clusters/eu/in/kustomization.yaml": lists("b.yaml"), "clusters/eu/in/b.yaml": configMap("b")}, "eu@eu.yaml eu:clusters-eu@clusters/eu/kustomization.yaml", "", "clusters/eu/kustomization.yaml:1: notice: 1 file with manifests is not listed here, and not read: clusters/eu/in/kustomization.yaml [not-listed]"},
		{"nothing takes out of it what is not its own", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "clusters/eu/a.yaml": configMap("a"), "all/kustomization.yaml": lists("../clusters/eu/a.yaml")}, "all@all/kustomization.yaml eu@eu.yaml eu:a@clusters/eu/a.yaml", "", ""},
		{"a folder that is not there", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu")}, "eu@eu.yaml", "", "eu.yaml:3: warning: the folder clusters/eu holds nothing for Cluster eu: it is not in the source [empty-folder]"},
		{"a folder without manifests", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "clusters/eu/README.md": ""}, "eu@eu.yaml", "", "eu.yaml:3: warning: the folder clusters/eu holds nothing for Cluster eu: no manifest is in it [empty-folder]"},
		{"a folder that is broken", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "clusters/eu/a.yaml": "kind: [\n"}, "eu@eu.yaml", "clusters/eu/a.yaml", "clusters/eu/a.yaml:2: error: "},
		{"a folder outside", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "../eu")}, "eu@eu.yaml", "eu.yaml", `eu.yaml:3: error: Cluster eu: waybill.dev/path is "../eu", which leads out of the source [bad-path]`},
		{"a folder of the machine", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "/eu")}, "eu@eu.yaml", "eu.yaml", `eu.yaml:3: error: Cluster eu: waybill.dev/path is "/eu", which begins with a slash [bad-path]`},
		{"all of the source", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "./")}, "eu@eu.yaml", "eu.yaml", `eu.yaml:3: error: Cluster eu: waybill.dev/path is "./", which is all of the source [bad-path]`},

		{"one that is defined twice", twin.Texts{"a.yaml": configMap("a"), "x/b.yaml": configMap("a"), "c.yaml": configMap("c")}, "c@c.yaml", "ConfigMap/a/a", "x/b.yaml:1: error: ConfigMap/a/a is defined here and at a.yaml:1 [duplicate-object]"},
		{"one that is defined for two clusters", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "us.yaml": strings.ReplaceAll(fmt.Sprintf(cluster, "clusters/us"), "name: eu", "name: us"), "clusters/eu/a.yaml": configMap("a"), "clusters/us/a.yaml": configMap("a")}, "eu@eu.yaml us@us.yaml eu:a@clusters/eu/a.yaml us:a@clusters/us/a.yaml", "", ""},
		{"the Cluster of a folder is defined twice", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "x.yaml": fmt.Sprintf(cluster, "clusters/eu"), "clusters/eu/a.yaml": configMap("a")}, "eu:a@clusters/eu/a.yaml", "Cluster.cluster.karmada.io/eu", "x.yaml:1: error: "},
		{"one that is defined twice for one", twin.Texts{"eu.yaml": fmt.Sprintf(cluster, "clusters/eu"), "clusters/eu/a.yaml": configMap("a"), "clusters/eu/b.yaml": configMap("a")}, "eu@eu.yaml", "cluster eu/ConfigMap/a/a", "clusters/eu/b.yaml:1: error: ConfigMap/a/a is defined here and at clusters/eu/a.yaml:1 [duplicate-object]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, objs, broken, said := loaded(t, tt.files, render.With{})
			if objs != tt.want || broken != tt.broken {
				t.Errorf("it reads %s, broken is %q\nwant %s, and %q", objs, broken, tt.want, tt.broken)
			}
			if tt.said != "" && !strings.HasPrefix(said, tt.said) {
				t.Errorf("it says\n%s\nwant %s", said, tt.said)
			}
		})
	}
}

// TestWhatIsNoFile holds what is said of links, submodules and what cannot be read, and that it is not taken for empty.
func TestWhatIsNoFile(t *testing.T) {
	link, module := sources.File{Kind: sources.Symlink}, sources.File{Kind: sources.Submodule}
	lost, folder := sources.File{Kind: sources.Unreadable, Why: "it is not here"}, sources.File{Kind: sources.Unreadable, Why: "it is not here", Folder: true}
	for _, tt := range []struct {
		name         string
		files        twin.Texts
		are          map[string]sources.File
		want, broken string
		said         string
	}{
		{"a link that is called as a manifest", nil, map[string]sources.File{"a.yaml": link}, "", "a.yaml", "a.yaml: error: the file is a symbolic link, which is not followed [symlink]"},
		{"a link to whatever", nil, map[string]sources.File{"apps": link}, "", "apps/", "apps: warning: a symbolic link is not followed; manifests behind it are not read [symlink]"},
		{"a link that is ignored", twin.Texts{".waybillignore": "apps\n"}, map[string]sources.File{"apps": link}, "", "", ""},
		{"a submodule", nil, map[string]sources.File{"vendor": module}, "", "vendor/", "vendor: warning: a submodule, or another repository, is not followed; manifests in it are not read [submodule]"},
		{"a submodule that is ignored as a folder", twin.Texts{".waybillignore": "vendor/\n"}, map[string]sources.File{"vendor": module}, "", "", ""},
		{"a manifest that cannot be read", twin.Texts{"b.yaml": configMap("b")}, map[string]sources.File{"a.yaml": lost}, "b@b.yaml", "a.yaml", "a.yaml: error: it cannot be read: it is not here [unreadable]"},
		{"another file that cannot be read", nil, map[string]sources.File{"a.txt": lost}, "", "", ""},
		{"a folder that cannot be read", nil, map[string]sources.File{"apps": folder}, "", "apps/", "apps: error: it cannot be read: it is not here [unreadable]"},
		{"a kustomization that is a link", twin.Texts{"web/a.yaml": configMap("a"), "b.yaml": configMap("b")}, map[string]sources.File{"web/kustomization.yaml": link}, "b@b.yaml", "web/ web/kustomization.yaml", "web/kustomization.yaml: error: the file is a symbolic link"},
		{"a chart that cannot be read", twin.Texts{"web/templates/a.yaml": "{{ .Values.x }}"}, map[string]sources.File{"web/Chart.yaml": lost}, "", "", ""},
		{"the config is a link", twin.Texts{"b.yaml": configMap("b")}, map[string]sources.File{"waybill.yaml": link}, "b@b.yaml", "waybill.yaml", "waybill.yaml: error: the file is a symbolic link, which is not followed [bad-config]"},
		{"the config is a submodule", nil, map[string]sources.File{".waybillignore": module}, "", ".waybillignore", ".waybillignore: error: it is a submodule, which is not followed [bad-config]"},
		{"the config is too large", nil, map[string]sources.File{"waybill.yaml": {Size: object.MaxFile + 1}}, "", "waybill.yaml", "waybill.yaml: error: the file has "},
		{"the lock cannot be read", nil, map[string]sources.File{"waybill.lock": lost}, "", "", "waybill.lock: error: it cannot be read: it is not here [bad-lock]"},
		{"the lock is none", twin.Texts{"waybill.lock": "apiVersion: waybill.dev/v1alpha1\nversion: 1\n"}, nil, "", "", "waybill.lock:2: error: line 2: there is no field \"version\" here [bad-lock]"},
		{"a manifest that is too large", nil, map[string]sources.File{"a.yaml": {Size: object.MaxCRDFile + 1}}, "", "a.yaml", "a.yaml: error: the file has "},
		{"what Waybill wrote, which cannot be read", twin.Texts{"out/a.yaml": configMap("a")}, map[string]sources.File{"out/waybill.metadata": lost}, "", "", "out/waybill.metadata: notice: the folder holds what Waybill wrote, and is not read [written]"},
		{"what Waybill wrote for several", twin.Texts{"out/us/waybill.metadata": "", "out/eu/waybill.metadata": "", ".x/waybill.metadata": "", "waybill.metadata": ""}, nil, "", "", "out/eu/waybill.metadata: notice: the folder and 1 more hold what Waybill wrote, and are not read [written]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, objs, broken, said := loaded(t, special{tt.files, tt.are}, render.With{})
			if objs != tt.want || broken != tt.broken {
				t.Errorf("it reads %s, broken is %q\nwant %s, and %q", objs, broken, tt.want, tt.broken)
			}
			if (said == "") != (tt.said == "") || !strings.HasPrefix(said, tt.said) {
				t.Errorf("it says\n%s\nwant %s", said, tt.said)
			}
		})
	}
}

// TestWhereObjectsAre holds the namespaces that objects get which name none, or must not.
func TestWhereObjectsAre(t *testing.T) {
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {group: example.com, scope: Namespaced, names: {kind: Widget}}\n"
	for _, tt := range []struct {
		name  string
		files twin.Texts
		want  string
		said  string
	}{
		{"one that names none", twin.Texts{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"}, "ConfigMap/default/x", ""},
		{"one that must not", twin.Texts{"a.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: x, namespace: a}\n"}, "ClusterRole.rbac.authorization.k8s.io/x", ""},
		{"one of a kind that is not known", twin.Texts{"a.yaml": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\n"}, "Widget.example.com/x", "a.yaml:1: notice: Widget.example.com/x names no namespace and its kind is not known here; it is taken for cluster-scoped [unknown-scope]"},
		{"one of a kind that is not known, and that names one", twin.Texts{"a.yaml": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, namespace: a}\n"}, "Widget.example.com/a/x", ""},
		{"one whose kind the source defines", twin.Texts{"a.yaml": "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\n", "crd.yaml": crd}, "Widget.example.com/default/x CustomResourceDefinition.apiextensions.k8s.io/widgets.example.com", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src, _, _, said := loaded(t, tt.files, render.With{})
			var got []string
			for _, o := range src.Objects {
				got = append(got, o.Ref().String())
			}
			if got := strings.Join(got, " "); got != tt.want || said != tt.said {
				t.Errorf("it is %s, and it says %s\nwant %s, and %s", got, said, tt.want, tt.said)
			}
		})
	}
}

// TestWithWhatIsKnownFromBefore holds that a config may be given, and that what cannot be read now is where it was.
func TestWithWhatIsKnownFromBefore(t *testing.T) {
	config := render.DefaultConfig()
	config.Scan.Exclude = []string{"docs/**"}
	files := twin.Texts{"waybill.yaml": "spec: [\n", "docs/a.yaml": configMap("a"), "b.yaml": configMap("b")}
	if src, objs, broken, said := loaded(t, files, render.With{Config: &config}); objs != "b@b.yaml" || broken != "" || said != "" || !cmp.Equal(src.Config, config) {
		t.Errorf("with a config of somebody's it reads %s, broken is %q: %s", objs, broken, said)
	}
	const was = "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu, annotations: {waybill.dev/path: clusters/eu}}\nspec: {syncMode: Push}\n"
	now := twin.Texts{"eu.yaml": strings.Replace(was, "clusters/eu", "/clusters/eu", 1), "clusters/eu/a.yaml": configMap("a")}
	earlier := func(p string) (sources.Snapshot, bool) { return twin.Texts{"eu.yaml": was}, p == "eu.yaml" }
	if _, objs, broken, _ := loaded(t, now, render.With{Earlier: earlier}); objs != "eu@eu.yaml eu:a@clusters/eu/a.yaml" || broken != "eu.yaml" {
		t.Errorf("a Cluster whose folder is none has no longer the one before: it reads %s, broken is %q", objs, broken)
	}
	inherited := object.Decode("gone.yaml", []byte(was)).Objects
	if _, objs, _, _ := loaded(t, twin.Texts{"clusters/eu/a.yaml": configMap("a")}, render.With{Inherited: inherited}); objs != "eu:a@clusters/eu/a.yaml" {
		t.Errorf("a Cluster that cannot be read has no longer its folder: it reads %s", objs)
	}
	unlisted := twin.Texts{"web/kustomization.yaml": kustomization, "web/c.yaml": configMap("c"), "x.yaml": configMap("c")}
	if _, objs, broken, _ := loaded(t, unlisted, render.With{Unlisted: true}); objs != "c@web/c.yaml web@web/kustomization.yaml c@x.yaml" || broken != "" {
		t.Errorf("with what is not listed, and twice, it reads %s, broken is %q", objs, broken)
	}
}
