package references_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/references"
)

// TestWhatAKustomizationNames: what may be a file, and what may be a folder of another kustomization.
func TestWhatAKustomizationNames(t *testing.T) {
	long := strings.Repeat("x", 4096)
	for _, tt := range []struct {
		name, text     string
		files, folders []string
		component      bool
	}{
		{"resources", "resources: [../base, a.yaml]\n", []string{"../base", "a.yaml"}, []string{"../base", "a.yaml"}, false},
		{"bases and components", "bases: [b]\ncomponents: [c]\n", []string{"b", "c"}, []string{"b", "c"}, false},
		{"a field that there is not", "resource: [../base]\n", []string{"../base"}, []string{"../base"}, false},
		{"patches", "patches: [{path: p.yaml, target: {kind: Pod}}]\n", []string{"Pod", "p.yaml"}, nil, false},
		{"generators with a key", "configMapGenerator: [{name: g, files: [key=f.txt, h.txt]}]\n", []string{"f.txt", "g", "h.txt", "key=f.txt"}, nil, false},
		{"a component", "kind: Component\nresources: [a]\n", []string{"a"}, []string{"a"}, true},
		{"another kind", "kind: Kustomization\nresources: [a]\n", []string{"a"}, []string{"a"}, false},
		{"what names no file", "namePrefix: a\nnamespace: b\nimages: [{name: c}]\nlabels: [{pairs: {d: e}}]\ncommonAnnotations: {f: g}\nreplicas: [{name: h, count: 1}]\n", nil, nil, false},
		{"what is outside of the source", "resources: [/etc/passwd]\n", nil, nil, false},
		{"a text", "patches: [{patch: \"a\\nb\"}]\n", nil, nil, false},
		{"a path that is too long", "resources: [" + long + "]\n", nil, nil, false},
		{"the longest path", "resources: [" + long[1:] + "]\n", []string{long[1:]}, []string{long[1:]}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := references.Of("kustomization.yaml", []byte(tt.text))
			if !ok {
				t.Fatal("it is not read")
			}
			slices.Sort(got.Files)
			slices.Sort(got.Folders)
			if diff := cmp.Diff(references.Named{Component: tt.component, Files: tt.files, Folders: tt.folders}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for name, text := range map[string]string{
		"nothing": "", "a list": "- a\n", "no YAML": "a: [\n", "an empty mapping": "{}\n",
		"too much": "resources: [a]\n#" + strings.Repeat("x", object.MaxFile),
	} {
		if got, ok := references.Of("kustomization.yaml", []byte(text)); ok || len(got.Files) > 0 {
			t.Errorf("%s is read as %+v", name, got)
		}
	}
}

// TestWordsOfWhatCannotBeRead may be paths; those that lead out of the source from its root are none.
func TestWordsOfWhatCannotBeRead(t *testing.T) {
	got := references.Words([]byte("resources: [a.yaml, \"../base\"\n- key=f.txt; {x: /etc/passwd}\x00 end:\n"))
	if diff := cmp.Diff([]string{"resources", "a.yaml", "../base", "-", "key=f.txt", "f.txt", "x", "end"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestChartsOfAKustomization, by either field, and where they are looked for first.
func TestChartsOfAKustomization(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []references.Chart
		home       string
	}{
		{"none", "resources: [a]\n", nil, "charts"},
		{"one", "helmCharts: [{name: web, repo: 'https://charts.example.com', version: 1.0.0}]\n", []references.Chart{{Name: "web", Repo: "https://charts.example.com", Version: "1.0.0"}}, "charts"},
		{"in another folder", "helmGlobals: {chartHome: ../charts}\nhelmCharts: [{name: web}]\n", []references.Chart{{Name: "web"}}, "../charts"},
		{"by the older field", "helmChartInflationGenerator: [{chartName: web, chartRepoUrl: 'https://charts.example.com', chartVersion: 1.0.0, chartHome: own}]\n", []references.Chart{{Name: "web", Repo: "https://charts.example.com", Version: "1.0.0"}}, "own"},
		{"by the older field, without a folder", "helmGlobals: {chartHome: ../charts}\nhelmChartInflationGenerator: [{chartName: web}]\n", []references.Chart{{Name: "web"}}, "../charts"},
		{"by the older field, with another folder", "helmGlobals: {chartHome: ../charts}\nhelmChartInflationGenerator: [{chartName: web, chartHome: own}]\n", []references.Chart{{Name: "web"}}, "../charts"},
		{"by the older field, and something else for all", "helmGlobals: {configHome: x}\nhelmChartInflationGenerator: [{chartName: web, chartHome: own}]\n", []references.Chart{{Name: "web"}}, "charts"},
		{"by the older field, the last of which has no folder", "helmChartInflationGenerator: [{chartName: a, chartHome: own}, {chartName: b}]\n", []references.Chart{{Name: "a"}, {Name: "b"}}, "own"},
		{"by both", "helmCharts: [{name: a}]\nhelmChartInflationGenerator: [{chartName: b}]\n", []references.Chart{{Name: "a"}, {Name: "b"}}, "charts"},
		{"what cannot be read", "helmCharts: [\n", nil, ""},
	} {
		got, home := references.Charts([]byte(tt.text))
		if diff := cmp.Diff(tt.want, got); diff != "" || home != tt.home {
			t.Errorf("%s: home %q, want %q (-want +got):\n%s", tt.name, home, tt.home, diff)
		}
	}
}
