package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/kustomize/api/krusty"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/kustomize"
)

// canary stands where kustomize would leave the process: a git on the PATH and an HTTP
// transport. Both count.
type canary struct {
	marks string
	http  atomic.Int64
}

func (c *canary) RoundTrip(*http.Request) (*http.Response, error) {
	c.http.Add(1)
	return nil, errors.New("the canary answers no request")
}

func newCanary(tb testing.TB) *canary {
	tb.Helper()
	bin, c := tb.TempDir(), &canary{marks: tb.TempDir()}
	script := fmt.Sprintf("#!/bin/sh\n: > '%s'/$$\nexit 1\n", c.marks)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		tb.Fatal(err)
	}
	tb.Setenv("PATH", bin+":/bin:/usr/bin")
	before := http.DefaultTransport
	http.DefaultTransport = c
	tb.Cleanup(func() { http.DefaultTransport = before })
	return c
}

// calls is how often something left the process.
func (c *canary) calls(tb testing.TB) int {
	tb.Helper()
	marks, err := os.ReadDir(c.marks)
	if err != nil {
		tb.Fatal(err)
	}
	return len(marks) + int(c.http.Load())
}

// remoteFields are all places of a kustomization that may name a location, with %s for
// its JSON string.
var remoteFields = map[string]string{
	"resources":                          `resources: [%s]`,
	"resources in another case":          `Resources: [%s]`,
	"bases":                              `bases: [%s]`,
	"components":                         `components: [%s]`,
	"crds":                               `crds: [%s]`,
	"configurations":                     `configurations: [%s]`,
	"openapi":                            `openapi: {path: %s}`,
	"generators":                         `generators: [%s]`,
	"transformers":                       `transformers: [%s]`,
	"validators":                         `validators: [%s]`,
	"patchesStrategicMerge":              `patchesStrategicMerge: [%s]`,
	"patchesJson6902":                    `patchesJson6902: [{target: {version: v1, kind: ConfigMap, name: a}, path: %s}]`,
	"patches":                            `patches: [{path: %s}]`,
	"replacements":                       `replacements: [{path: %s}]`,
	"configMapGenerator.files":           `configMapGenerator: [{name: b, files: [%s]}]`,
	"configMapGenerator.files with key":  `configMapGenerator: [{name: b, files: [%s]}]`,
	"configMapGenerator.envs":            `configMapGenerator: [{name: b, envs: [%s]}]`,
	"configMapGenerator.env":             `configMapGenerator: [{name: b, env: %s}]`,
	"secretGenerator.files":              `secretGenerator: [{name: b, files: [%s]}]`,
	"secretGenerator.envs":               `secretGenerator: [{name: b, envs: [%s]}]`,
	"secretGenerator.env":                `secretGenerator: [{name: b, env: %s}]`,
	"helmCharts.repo":                    `helmCharts: [{name: c, repo: %s}]`,
	"helmCharts.valuesFile":              `helmCharts: [{name: c, repo: "https://x.example.com", valuesFile: %s}]`,
	"helmCharts.additionalValuesFiles":   `helmCharts: [{name: c, repo: "https://x.example.com", additionalValuesFiles: [%s]}]`,
	"helmGlobals.chartHome":              `{helmGlobals: {chartHome: %s}, helmCharts: [{name: c}]}`,
	"helmChartInflationGenerator":        `helmChartInflationGenerator: [{chartName: c, chartRepoUrl: %s}]`,
	"plugin ConfigMapGenerator":          plugin1("generators", "ConfigMapGenerator", `"files": [%s]`),
	"plugin ConfigMapGenerator envs":     plugin1("generators", "ConfigMapGenerator", `"envs": [%s]`),
	"plugin SecretGenerator":             plugin1("generators", "SecretGenerator", `"files": [%s]`),
	"plugin HelmChartInflationGenerator": plugin1("generators", "HelmChartInflationGenerator", `"name": "c", "repo": %s`),
	"plugin PatchTransformer":            plugin1("transformers", "PatchTransformer", `"path": %s`),
	"plugin PatchTransformer, validator": plugin1("validators", "PatchTransformer", `"path": %s`),
	"plugin PatchJson6902Transformer":    plugin1("transformers", "PatchJson6902Transformer", `"target": {"name": "a"}, "path": %s`),
	"plugin PatchStrategicMerge":         plugin1("transformers", "PatchStrategicMergeTransformer", `"paths": [%s]`),
	"plugin ReplacementTransformer":      plugin1("transformers", "ReplacementTransformer", `"replacements": [{"path": %s}]`),
	"plugin ValueAddTransformer":         plugin1("transformers", "ValueAddTransformer", `"value": "x", "targetFilePath": %s`),
}

// plugin1 is a kustomization with one inline configuration of a plugin.
func plugin1(list, kind, config string) string {
	return list + ": ['{\"apiVersion\": \"builtin\", \"kind\": \"" + kind + "\", \"metadata\": {\"name\": \"p\"}, " + config + "}']"
}

var remoteSpellings = []string{
	"https://evil.example.com/a.yaml",
	"http://169.254.169.254/latest/meta-data",
	"HTTPS://EVIL.EXAMPLE.COM/a",
	"hTtP://evil.example.com/",
	"http:evil.example.com/a",
	"https:/evil.example.com/a",
	"http://[::1]:8080/a",
	"https://[2001:db8::1%25eth0]/a",
	"https://user:password@evil.example.com/org/repo",
	"https://github.com/org/repo",
	"https://github.com/org/repo//dir?ref=v1",
	"https://evil.example.com/org/repo.git/dir?timeout=1",
	"https://dev.azure.com/org/project/_git/repo",
	"git::https://evil.example.com/org/repo",
	"GIT::https://evil.example.com/org/repo",
	"git::git@evil.example.com:org/repo",
	"gh:org/repo",
	"github.com/org/repo",
	"GitHub.com/org/repo//dir?ref=main",
	"github.com:org/repo",
	"git@github.com:org/repo.git",
	"git@github.com/org/repo",
	"git@evil.example.com:org/repo//dir?ref=x",
	"org-1234@github.com:org/repo",
	"ssh://git@evil.example.com/org/repo",
	"SSH://evil.example.com/org/repo",
	"ssh://[::1]:22/org/repo",
	"file:///etc",
	"FILE://relative/dir",
	"git::file:///etc//dir",
	"evil.example.com/org/repo//dir?ref=v1",
	"//evil.example.com/org/repo",
	"/etc/passwd",
	"../../../../etc/passwd",
	"..",
	"app/../../x",
	"s3::https://s3.amazonaws.com/bucket",
	"oci://registry.example.com/a",
	"data:text/plain,a",
	" https://evil.example.com/",
	"https://evil.example.com/\n",
	"\thttps://evil.example.com/",
	"a\x00b",
	"%2e%2e/%2e%2e/etc",
	"..\\..\\etc",
}

// withLocation writes a location as a JSON string within what surrounds it.
func withLocation(name, template, location string) string {
	if strings.HasSuffix(name, "with key") {
		location = "key=" + location
	}
	asJSON, err := json.Marshal(location)
	if err != nil {
		return ""
	}
	in := string(asJSON)
	if strings.HasPrefix(name, "plugin ") {
		in = strings.ReplaceAll(in, "'", "''")
	}
	return strings.ReplaceAll(template, "%s", in) + "\n"
}

func TestEveryRemoteLocationIsRefusedInEveryField(t *testing.T) {
	c := newCanary(t)
	for name, template := range remoteFields {
		for _, location := range remoteSpellings {
			for _, dir := range []string{"app", "app/overlay"} {
				files := fstest.MapFS{
					"app/kustomization.yaml":         {Data: []byte(withLocation(name, template, location))},
					"app/overlay/kustomization.yaml": {Data: []byte("resources: [../../lib]\n")},
					"lib/kustomization.yaml":         {Data: []byte(withLocation(name, template, location))},
				}
				out, err := stream(files, Options{Dir: dir})
				var refused *Error
				if !errors.As(err, &refused) || len(out) > 0 {
					t.Errorf("%s %q in %s: %q, %v; want it refused", name, location, dir, out, err)
					continue
				}
				for _, d := range refused.Diags {
					if d.Pos.File == "" || d.Code == diag.KustomizeBuild {
						t.Errorf("%s %q in %s: %v; want the scan to say so, at a file", name, location, dir, d)
					}
				}
			}
		}
	}
	if n := c.calls(t); n > 0 {
		t.Errorf("%d calls left the process", n)
	}
}

// Without the scan kustomize does leave the process: the canary is no decoration.
func TestKustomizeAloneReachesOut(t *testing.T) {
	for _, location := range []string{"https://evil.example.com/a.yaml", "git@evil.example.com:org/repo"} {
		c := newCanary(t)
		v := &view{fsys: fstest.MapFS{"kustomization.yaml": {Data: []byte("resources: ['" + location + "']\n")}}}
		if _, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(v, "/"); err == nil || c.calls(t) == 0 {
			t.Errorf("%s: %v after %d calls; kustomize was expected to call", location, err, c.calls(t))
		}
	}
}

// existing is a file system in which a location exists: as a folder with a
// kustomization, as a file that is no YAML, or not at all.
func existing(kustomization, location string, as uint8) fs.FS {
	files := fstest.MapFS{
		"app/kustomization.yaml": {Data: []byte(kustomization)},
		"app/a.yaml":             {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")},
	}
	name := path.Join("app", location)
	if !fs.ValidPath(name) || name == "app" || name == "." {
		return files
	}
	switch as % 3 {
	case 0:
		files[path.Join(name, "kustomization.yaml")] = &fstest.MapFile{Data: []byte("resources: [b.yaml]\n")}
		files[path.Join(name, "b.yaml")] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")}
	case 1:
		files[name] = &fstest.MapFile{Data: []byte("{ this is: no YAML")}
	}
	return files
}

// FuzzNothingLeavesTheProcess puts any string into any field, where that string may
// even be the path of a file or a folder.
func FuzzNothingLeavesTheProcess(f *testing.F) {
	names := slices.Sorted(maps.Keys(remoteFields))
	for i, location := range remoteSpellings {
		f.Add(uint8(i), uint8(i), location)
		f.Add(uint8(0), uint8(0), location)
		f.Add(uint8(1), uint8(1), location)
	}
	f.Add(uint8(0), uint8(0), "{resources: [https://evil.example.com]}")
	c := newCanary(f)
	f.Fuzz(func(t *testing.T, index, as uint8, location string) {
		name := names[int(index)%len(names)]
		kustomization := withLocation(name, remoteFields[name], location)
		_, _ = stream(existing(kustomization, location, as), Options{Dir: "app"})
		_, _ = stream(existing(kustomization, location, as), Options{Dir: "app", Overlay: &kustomize.Overlay{Components: []string{location}}})
		if n := c.calls(t); n > 0 {
			t.Fatalf("%d calls left the process for\n%s", n, kustomization)
		}
	})
}
