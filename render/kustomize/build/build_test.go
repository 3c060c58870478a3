package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/kustomize"
)

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// sourceOf makes a file system of contents by path.
func sourceOf(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range files {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

// refused returns the diagnostics of a build, as text.
func refused(t *testing.T, files fs.FS, o Options) string {
	t.Helper()
	out, err := stream(files, o)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Build: %v, with the output\n%s\nwant an *Error", err, out)
	}
	return e.Error()
}

// bomb is a document of n levels, each ten times the one before.
func bomb(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx0: &x0 [%s]\n", strings.Join(slices.Repeat([]string{"lol"}, 10), ", "))
	for i := range n {
		alias := fmt.Sprintf("*x%d", i)
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i+1, i+1, strings.Join(slices.Repeat([]string{alias}, 10), ", "))
	}
	return b.String()
}

func TestAnAliasBombIsRefusedBeforeKustomizeSeesIt(t *testing.T) {
	inline := func(list string) string {
		return list + ":\n- |\n  " + strings.ReplaceAll(strings.TrimSpace(bomb(8)), "\n", "\n  ") + "\n"
	}
	tests := []struct {
		name, kustomization string
		overlay             *kustomize.Overlay
	}{
		{name: "a resource", kustomization: "resources: [bomb]"},
		{name: "the kustomization itself", kustomization: bomb(8)},
		{name: "a base", kustomization: "resources: [../base]"},
		{name: "a component", kustomization: "components: [../base]"},
		{name: "a file of definitions", kustomization: "crds: [bomb]"},
		{name: "a file of configuration", kustomization: "configurations: [bomb]"},
		{name: "a schema", kustomization: "openapi: {path: bomb}"},
		{name: "a patch", kustomization: "patches: [{path: bomb}]"},
		{name: "a strategic merge patch", kustomization: "patchesStrategicMerge: [bomb]"},
		{name: "a JSON patch", kustomization: "patchesJson6902: [{path: bomb, target: {version: v1, kind: ConfigMap, name: a}}]"},
		{name: "a replacement", kustomization: "replacements: [{path: bomb}]"},
		{name: "a generator", kustomization: "generators: [bomb]"},
		{name: "a transformer in a folder", kustomization: "transformers: [../base]"},
		{name: "an inline strategic merge patch", kustomization: inline("patchesStrategicMerge")},
		{name: "an inline transformer", kustomization: inline("transformers")},
		{name: "an inline patch", kustomization: strings.Replace(inline("patches"), "- |", "- patch: |", 1)},
		{name: "what a chart renders to", kustomization: "helmCharts: [{name: c, repo: 'https://charts.example.com'}]"},
		{name: "values of a chart", kustomization: "helmCharts: [{name: c, repo: 'https://charts.example.com', valuesFile: bomb}]"},
		{name: "a patch of the overlay", kustomization: "resources: [cm.yaml]", overlay: &kustomize.Overlay{Patches: []kustomize.Patch{{Patch: bomb(8)}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := sourceOf(map[string]string{
				"app/kustomization.yaml": tt.kustomization, "app/bomb": bomb(8), "app/cm.yaml": configMap,
				"base/kustomization.yaml": "resources: [bomb]", "base/bomb": bomb(8),
			})
			inflate := func(kustomize.HelmChart) ([]byte, error) { return []byte(bomb(8)), nil }
			start := time.Now()
			if got := refused(t, files, Options{Dir: "app", Overlay: tt.overlay, Inflate: inflate}); !strings.Contains(got, "[yaml-expansion]") {
				t.Fatalf("it is refused for %s; want yaml-expansion", got)
			}
			if took := time.Since(start); took > 5*time.Second { // kustomize would not end
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestABombThatIsOnlyDataIsData(t *testing.T) {
	files := sourceOf(map[string]string{
		"kustomization.yaml": "configMapGenerator: [{name: a, files: [bomb]}]", "bomb": bomb(8),
	})
	out, err := stream(files, Options{Dir: "."})
	if err != nil || !strings.Contains(string(out), "*x7") {
		t.Errorf("Build: %v\n%s", err, out)
	}
}

func TestVariablesCannotMakeABomb(t *testing.T) {
	files := sourceOf(map[string]string{"a.yaml": strings.ReplaceAll(configMap, "{name: a}", "{name: a}\ndata: {a: '${anchor}', b: '${aliases}'}")})
	var nested strings.Builder
	for i := range 8 {
		fmt.Fprintf(&nested, "&x%d [%s],", i+1, strings.Join(slices.Repeat([]string{fmt.Sprintf("*x%d", i)}, 10), ", "))
	}
	got := refused(t, files, Options{Dir: ".", Overlay: &kustomize.Overlay{Substitute: map[string]string{
		"anchor": "&x0 [lol, lol, lol]", "aliases": "[" + nested.String() + "]",
	}}})
	if !strings.Contains(got, "expanded") || strings.Contains(got, "lol") {
		t.Errorf("it is refused for %q; want the expansion, without the values", got)
	}
}

// farm is an app whose patch merges a list by a key only where a schema says so.
func farm(kustomization string) map[string]string {
	return map[string]string{
		"app/kustomization.yaml": kustomization + "\nresources: [farm.yaml]\npatches: [{path: patch.yaml}]\n",
		"app/farm.yaml":          "apiVersion: example.com/v1\nkind: Farm\nmetadata: {name: f}\nspec: {rows: [{id: a, size: 1}, {id: b, size: 2}]}\n",
		"app/patch.yaml":         "apiVersion: example.com/v1\nkind: Farm\nmetadata: {name: f}\nspec: {rows: [{id: b, size: 3}]}\n",
		"app/schema.json": `{"definitions": {"v1.Farm": {"type": "object",
			"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Farm"}],
			"properties": {"spec": {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"},
			"x-kubernetes-patch-merge-key": "id", "x-kubernetes-patch-strategy": "merge"}}}}}}}`,
		"app/broken.json": `{"definitions": 3}`,
	}
}

func TestOneBuildLeavesNothingBehindForTheNext(t *testing.T) {
	for name, overlay := range map[string]*kustomize.Overlay{"as kubectl": nil, "as Flux": {}} {
		t.Run(name, func(t *testing.T) {
			victim := Options{Dir: "app", Overlay: overlay}
			alone, err := stream(sourceOf(farm("")), victim)
			if err != nil || strings.Contains(string(alone), "id: a") {
				t.Fatalf("Build alone: %v\n%s", err, alone)
			}
			for _, hostile := range []string{"openapi: {path: schema.json}", "openapi: {path: broken.json}", "openapi: {version: v1.20.4}"} {
				out, err := stream(sourceOf(farm(hostile)), victim)
				if hostile == "openapi: {path: schema.json}" && !strings.Contains(string(out), "id: a") {
					t.Fatalf("the schema has no effect: %v\n%s", err, out)
				}
				after, err := stream(sourceOf(farm("")), victim)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(alone), string(after)); diff != "" {
					t.Errorf("after %s (-alone +after):\n%s", hostile, diff)
				}
			}
		})
	}
}

// TestASchemaMeansTheSameAfterAnotherBuild: what kubectl builds with a schema of the source knows that schema alone, so that
// containers are replaced by a patch and not merged, whether or not the builtin one was read before.
func TestASchemaMeansTheSameAfterAnotherBuild(t *testing.T) {
	web := func(kustomization string) map[string]string {
		return map[string]string{
			"app/kustomization.yaml": kustomization + "\nresources: [web.yaml]\npatches: [{path: patch.yaml}]\n",
			"app/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\n" +
				"spec: {template: {spec: {containers: [{name: a, image: a:1}, {name: b, image: b:1}]}}}\n",
			"app/patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\n" +
				"spec: {template: {spec: {containers: [{name: b, image: b:2}]}}}\n",
			"app/schema.json": farm("")["app/schema.json"],
		}
	}
	options := Options{Dir: "app"}
	first, err := stream(sourceOf(web("openapi: {path: schema.json}")), options)
	if err != nil || strings.Contains(string(first), "a:1") {
		t.Fatalf("with a schema of its own: %v\n%s", err, first)
	}
	merged, err := stream(sourceOf(web("")), options)
	if err != nil || !strings.Contains(string(merged), "a:1") {
		t.Fatalf("with the builtin schema: %v\n%s", err, merged)
	}
	again, err := stream(sourceOf(web("openapi: {path: schema.json}")), options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(again)); diff != "" {
		t.Errorf("after another build (-first +again):\n%s", diff)
	}
}

func TestAPanicOfKustomizeIsAnError(t *testing.T) {
	got := refused(t, sourceOf(farm("openapi: {path: broken.json}")), Options{Dir: "app"})
	for _, want := range []string{"app/kustomization.yaml: error: building app: ", "[kustomize-"} {
		if !strings.Contains(got, want) {
			t.Errorf("the error is %q; want %q in it", got, want)
		}
	}
}

func TestErrorsShowNoSecrets(t *testing.T) {
	const secret = "hunter2-and-more"
	encoded := "aHVudGVyMi1hbmQtbW9yZQ=="
	tests := []struct {
		name    string
		files   map[string]string
		overlay *kustomize.Overlay
	}{
		{name: "a literal without a key", files: map[string]string{"kustomization.yaml": "secretGenerator: [{name: s, literals: [" + secret + "]}]"}},
		{name: "literals beside a broken one", files: map[string]string{"kustomization.yaml": "secretGenerator: [{name: s, literals: [a=" + secret + ", =x]}]"}},
		{name: "literals of a generator without a name", files: map[string]string{"kustomization.yaml": "secretGenerator: [{literals: [a=" + secret + "], type: [}]"}},
		{name: "an inline generator", files: map[string]string{"kustomization.yaml": "generators:\n- |\n  apiVersion: builtin\n  kind: SecretGenerator\n  metadata: {name: s}\n  literals: [" + secret + "]\n"}},
		{name: "a line that is no text", files: map[string]string{"kustomization.yaml": "secretGenerator: [{name: s, envs: [e]}]", "e": "a=" + secret + "\xff\n"}},
		{name: "what is in a file of a Secret", files: map[string]string{
			"kustomization.yaml": "secretGenerator: [{name: s, files: [e]}]\nconfigMapGenerator: [{name: c, literals: ['" + secret + "']}]", "e": secret,
		}},
		{name: "a Secret with wrong data", files: map[string]string{
			"kustomization.yaml": "resources: [s.yaml]\npatches: [{patch: '{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: {b: c}}}'}]\nnamePrefix: a-",
			"s.yaml":             "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: [" + secret + "]\ndata: " + encoded + "\n",
		}},
		{name: "a JSON patch to a Secret", files: map[string]string{
			"kustomization.yaml": "resources: [s.yaml]\npatches: [{target: {kind: Secret}, patch: '[{op: replace, path: /stringData/a/b, value: " + secret + "}]'}]",
			"s.yaml":             "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
		}},
		{name: "a literal that begins with another one", files: map[string]string{
			"kustomization.yaml": "secretGenerator: [{name: s, literals: [a=swordfish, 'b=swordfish-hunter2', swordfish-hunter2]}]",
		}},
		{name: "a URL with a password", files: map[string]string{"kustomization.yaml": "resources: ['https://user:" + secret + "@evil.example.com/a']"}},
		{name: "a signed URL", files: map[string]string{"kustomization.yaml": "resources: ['https://evil.example.com/a?ref=v1&token=" + secret + "']"}},
		{name: "a patch that is no YAML", files: map[string]string{"kustomization.yaml": "patchesStrategicMerge:\n- |\n  kind: Secret\n  stringData: {a: " + secret + "\n"}},
		{name: "a variable", files: map[string]string{"a.yaml": configMap + "data: ${v}\n"}, overlay: &kustomize.Overlay{Substitute: map[string]string{"v": "[" + secret}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := stream(sourceOf(tt.files), Options{Dir: ".", Overlay: tt.overlay})
			if err == nil {
				t.Fatalf("no error, but\n%s", out)
			}
			if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, encoded) {
				t.Errorf("the error shows the secret: %s", text)
			}
		})
	}
}

func TestBasesAreCountedAsOftenAsTheyAreBuilt(t *testing.T) {
	files := map[string]string{"l0/kustomization.yaml": "resources: [cm.yaml]", "l0/cm.yaml": configMap}
	for i := range 20 {
		for _, side := range []string{"a", "b"} {
			files[fmt.Sprintf("l%d%s/kustomization.yaml", i, side)] = fmt.Sprintf("namePrefix: %s\nresources: [../l%d]", side, i)
		}
		files[fmt.Sprintf("l%d/kustomization.yaml", i+1)] = fmt.Sprintf("resources: [../l%da, ../l%db]", i, i)
	}
	if got := refused(t, sourceOf(files), Options{Dir: "l20"}); strings.Count(got, "[kustomize-too-many]") != 1 {
		t.Errorf("it is refused for %s; want kustomize-too-many, once", got)
	}
	if out, err := stream(sourceOf(files), Options{Dir: "l3"}); err != nil || strings.Count(string(out), "kind: ConfigMap") != 8 {
		t.Errorf("three layers: %v\n%s", err, out)
	}
}

func TestAFolderThatIsAlsoABaseIsScannedForPlugins(t *testing.T) {
	files := sourceOf(map[string]string{
		"app/kustomization.yaml":     "namespace: plugins of app\nresources: [../both]\ntransformers: [../both]",
		"both/kustomization.yaml":    "resources: [patch.yaml]",
		"both/patch.yaml":            "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: https://evil.example.com/p.yaml",
		"app/sub/kustomization.yaml": "transformers: [../../both]",
	})
	for _, dir := range []string{"app", "app/sub"} {
		if got := refused(t, files, Options{Dir: dir}); !strings.Contains(got, "[kustomize-remote]") {
			t.Errorf("%s is refused for %s; want kustomize-remote", dir, got)
		}
	}
}

func TestReportsEnd(t *testing.T) {
	var e *Error
	files := sourceOf(map[string]string{"kustomization.yaml": "resources: [" + strings.Repeat("x,", 5000) + "]"})
	if _, err := stream(files, Options{Dir: "."}); !errors.As(err, &e) || len(e.Diags) != maxFound {
		t.Errorf("Build: %d diagnostics; want %d", len(e.Diags), maxFound)
	}
}

// TestAVariableThatIsEncryptedFailsWhatUsesIt, and nothing else; what keeps itself from substitution does not use it.
func TestAVariableThatIsEncryptedFailsWhatUsesIt(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%s}\ndata: {k: '%s'}\n"
	overlay := &kustomize.Overlay{Substitute: map[string]string{"city": "Oslo"}, Sealed: map[string]string{"token": "Secret shop/keys"}}
	for _, tt := range []struct{ name, metadata, text, want, err string }{
		{"another variable", "", "${city}", "k: Oslo", ""},
		{"none", "", "$token", "k: $token", ""},
		{"it", "", "${token}", "", "the variable token is in the Secret shop/keys, which is encrypted, and only what applies it to a cluster can read it"},
		{"it, with something in its place", "", "${token:-none}", "", "the variable token is in the Secret shop/keys"},
		{"it, where nothing is substituted", ", labels: {kustomize.toolkit.fluxcd.io/substitute: disabled}", "${token}", "k: ${token}", ""},
	} {
		files := fstest.MapFS{"a.yaml": &fstest.MapFile{Data: fmt.Appendf(nil, object, tt.metadata, tt.text)}}
		out, err := stream(files, Options{Dir: ".", Overlay: overlay})
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v and\n%s", tt.name, err, out)
		}
	}
	sealed := &kustomize.Overlay{Sealed: map[string]string{"token": "Secret shop/keys"}}
	files := fstest.MapFS{"a.yaml": &fstest.MapFile{Data: fmt.Appendf(nil, object, "", "${token}")}}
	if out, err := stream(files, Options{Dir: ".", Overlay: sealed}); err == nil {
		t.Errorf("where all variables are encrypted it is\n%s", out)
	}
}

func TestVariablesNestOnlySoDeep(t *testing.T) {
	deep := func(n int) fstest.MapFS {
		return sourceOf(map[string]string{"a.yaml": configMap + "data: {a: '" + strings.Repeat("${a:-", n) + strings.Repeat("}", n) + "'}\n"})
	}
	o := Options{Dir: ".", Overlay: &kustomize.Overlay{Substitute: map[string]string{"b": "c"}}}
	if _, err := stream(deep(maxNesting), o); err != nil {
		t.Error(err)
	}
	if got := refused(t, deep(500_000), o); !strings.Contains(got, "nested over 100 levels") {
		t.Errorf("it is refused for %s", got)
	}
}

func TestCyclesEnd(t *testing.T) {
	files := sourceOf(map[string]string{
		"a/kustomization.yaml": "resources: [../b]", "b/kustomization.yaml": "resources: [../a]",
		"c/kustomization.yaml": "transformers: [.]",
	})
	for _, dir := range []string{"a", "c"} {
		refused(t, files, Options{Dir: dir})
		refused(t, files, Options{Dir: dir, Overlay: &kustomize.Overlay{Components: []string{"."}}})
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	files := sourceOf(map[string]string{"app/kustomization.yaml": "resources: [link.yaml]"})
	files["app/link.yaml"] = &fstest.MapFile{Data: []byte("/etc/passwd"), Mode: fs.ModeSymlink}
	if got := refused(t, linked{files}, Options{Dir: "app"}); !strings.Contains(got, `resources[0]: "link.yaml" is a symbolic link`) {
		t.Errorf("a link is refused for %s", got)
	}
	delete(files, "app/kustomization.yaml")
	files["app/cm.yaml"] = &fstest.MapFile{Data: []byte(configMap)}
	if out, err := stream(linked{files}, Options{Dir: "app", Overlay: &kustomize.Overlay{}}); err != nil || !strings.Contains(string(out), "name: a") {
		t.Errorf("a generated kustomization: %v\n%s", err, out)
	}
}

// linked lists links as what they are, as the files of a Git commit are listed.
type linked struct{ fstest.MapFS }

func (l linked) Stat(name string) (fs.FileInfo, error) { return l.Lstat(name) }

func TestTheFolderMustBeInTheRepository(t *testing.T) {
	files := sourceOf(map[string]string{"app/cm.yaml": configMap})
	for _, dir := range []string{"", "/", "/app", "../app", "app/", "app/../app"} {
		var e *Error
		if out, err := stream(files, Options{Dir: dir}); err == nil || errors.As(err, &e) {
			t.Errorf("%q: %v, %q; want a mistake of the caller's", dir, err, out)
		}
	}
	for _, dir := range []string{"absent", "app/cm.yaml", "app"} {
		refused(t, files, Options{Dir: dir})
	}
	for _, dir := range []string{"absent", "app/cm.yaml"} {
		refused(t, files, Options{Dir: dir, Overlay: &kustomize.Overlay{}})
	}
}

func TestEqualSourcesBuildToEqualBytes(t *testing.T) {
	files := farm("configMapGenerator: [{name: c, literals: [a=1, b=2, c=3]}]\nlabels: [{pairs: {a: b, c: d, e: f}}]")
	overlay := &kustomize.Overlay{CommonMetadata: &kustomize.Metadata{Labels: map[string]string{"x": "1", "y": "2", "z": "3"}}, Substitute: map[string]string{"a": "b"}}
	first, err := stream(sourceOf(files), Options{Dir: "app", Overlay: overlay})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := stream(sourceOf(maps.Clone(files)), Options{Dir: "app", Overlay: overlay})
		if err != nil || cmp.Diff(string(first), string(again)) != "" {
			t.Errorf("again: %v (-first +again):\n%s", err, cmp.Diff(string(first), string(again)))
		}
	}
}

// stream builds, and returns the manifests.
func stream(fsys fs.FS, o Options) ([]byte, error) {
	built, err := Kustomization(fsys, o)
	return built.Stream, err
}
