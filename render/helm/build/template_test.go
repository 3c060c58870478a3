package build_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/helm"
	"github.com/waybill-dev/waybill/render/helm/build"
)

const umbrella = `
-- Chart.yaml --
apiVersion: v2
name: c
version: 1.0.0
appVersion: "7"
dependencies:
- {name: s, version: 1.x, alias: one, condition: one.enabled}
- {name: s, version: 1.x, alias: two, tags: [extra]}
- {name: lib, version: 1.x}
- {name: s, version: 1.x, import-values: [{child: export, parent: imported}]}
-- values.yaml --
one: {enabled: true, who: first}
tags: {extra: false}
global: {zone: z}
-- templates/x.yaml --
{{ include "lib.labels" . }}
imported: {{ .Values.imported.a }}
-- charts/s/Chart.yaml --
apiVersion: v2
name: s
version: 1.2.3
-- charts/s/values.yaml --
who: nobody
export: {a: b}
-- charts/s/templates/y.yaml --
who: {{ .Values.who }}
zone: {{ .Values.global.zone }}
chart: {{ .Chart.Name }}
-- charts/lib/Chart.yaml --
apiVersion: v2
name: lib
version: 1.0.0
type: library
-- charts/lib/templates/_l.tpl --
{{ define "lib.labels" }}release: {{ .Release.Name }}{{ end }}
-- charts/lib/templates/no.yaml --
no: library charts render nothing
`

func TestTemplate(t *testing.T) {
	tests := []struct {
		name, chart string
		release     helm.Release
		want        string
	}{
		{
			name: "sub-charts with aliases, conditions, tags, imported values, globals and a library", chart: umbrella,
			want: "# c/charts/one/templates/y.yaml\nwho: first\nzone: z\nchart: one\n" +
				"# c/charts/s/templates/y.yaml\nwho: nobody\nzone: z\nchart: s\n" +
				"# c/templates/x.yaml\nrelease: r\nimported: b\n",
		},
		{
			name: "a value switches a sub-chart off", chart: umbrella,
			release: helm.Release{Values: helm.Values{"one": map[string]any{"enabled": false}, "tags": map[string]any{"extra": true}}},
			want: "# c/charts/s/templates/y.yaml\nwho: nobody\nzone: z\nchart: s\n" +
				"# c/charts/two/templates/y.yaml\nwho: nobody\nzone: z\nchart: two\n" +
				"# c/templates/x.yaml\nrelease: r\nimported: b\n",
		},
		{
			name:  "what templates see",
			chart: line(`printf "%s %s %d %t %s %s %s" .Release.Name .Release.Namespace .Release.Revision .Release.IsInstall .Release.Service .Capabilities.KubeVersion.Version .Capabilities.HelmVersion.Version`),
			want:  "# c/templates/x.yaml\nx: r default 1 true Helm v1.37.0 v3.22.0\n",
		},
		{
			name:    "capabilities of a cluster",
			chart:   line(`printf "%s %t/%t" .Capabilities.KubeVersion.Minor (.Capabilities.APIVersions.Has "x.io/v1") (.Capabilities.APIVersions.Has "apps/v1")`),
			release: helm.Release{KubeVersion: "1.31.2", APIVersions: []string{"x.io/v1"}},
			want:    "# c/templates/x.yaml\nx: 31 true/true\n",
		},
		{
			name:  "numbers are as Helm has them",
			chart: "-- values.yaml --\na: 1000000\nb: 8080\n" + line(`printf "%v %v %v %v %v" .Values.a .Values.b .Values.c .Values.d .Values.e`),
			release: helm.Release{Values: helm.Values{
				"c": float64(1000000), "d": int64(1000000), "e": float64(1.5),
			}},
			want: "# c/templates/x.yaml\nx: 1e+06 8080 1e+06 1000000 1.5\n",
		},
		{
			name:    "a null deletes a default",
			chart:   "-- values.yaml --\na: {b: 1, c: 2}\n" + line(`.Values.a | toJson`),
			release: helm.Release{Values: helm.Values{"a": map[string]any{"b": nil}}},
			want:    "# c/templates/x.yaml\nx: {\"c\":2}\n",
		},
		{
			name:  "files of the chart",
			chart: "-- f/a.txt --\nA\n-- f/b.txt --\nB\n" + line(`.Files.Get "f/a.txt" | trim }}{{ range $n, $_ := .Files.Glob "f/*" }} {{ $n }}{{ end`),
			want:  "# c/templates/x.yaml\nx: A f/a.txt f/b.txt\n",
		},
		{
			name:  "what .helmignore names is not there",
			chart: "-- .helmignore --\n*.txt\nbad/\n-- f/a.txt --\nA\n-- bad/b --\nB\n-- templates/.x.yaml --\nno: 1\n" + line(`printf "%d %d" (.Files.Get "f/a.txt" | len) (.Files.Get "bad/b" | len)`),
			want:  "# c/templates/x.yaml\nx: 0 0\n",
		},
		{
			name: "files of values take the place of values.yaml",
			chart: "-- values.yaml --\na: 1\nb: 1\n-- v1.yaml --\nb: 2\nm: {x: 1, z: 1}\n-- v2.yaml --\nm: {z: 2}\n" +
				line(`.Values | toJson`),
			release: helm.Release{ValuesFiles: []string{"v1.yaml", "./missing.yaml", "./v2.yaml"}, IgnoreMissingValuesFiles: true},
			want:    "# c/templates/x.yaml\nx: {\"b\":2,\"m\":{\"x\":1,\"z\":2}}\n",
		},
		{
			name: "documents are split, empty ones dropped, and all sorted by kind, hooks last",
			chart: "-- crds/a.yaml --\nkind: CustomResourceDefinition\n---\n# only a comment\n---\nkind: CustomResourceDefinition\nn: 2\n" +
				"-- templates/NOTES.txt --\nHello\n-- templates/_p.tpl --\nno\n" +
				"-- templates/a.yaml --\nkind: Deployment\n---\n# nothing\n---\nkind: Namespace\n" +
				"-- templates/b.yaml --\nkind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\n---\nkind: Service\n" +
				"-- templates/c.yaml --\n{{ if false }}x{{ end }}\n",
			want: "# c/crds/a.yaml\nkind: CustomResourceDefinition\n# c/crds/a.yaml\nkind: CustomResourceDefinition\nn: 2\n" +
				"# c/templates/a.yaml\nkind: Namespace\n# c/templates/b.yaml\nkind: Service\n# c/templates/a.yaml\nkind: Deployment\n" +
				"# c/templates/b.yaml\nkind: Job\nmetadata: {annotations: {helm.sh/hook: pre-install}}\n",
		},
		{
			name:    "definitions are left out on demand",
			chart:   "-- crds/a.yaml --\nkind: CustomResourceDefinition\n" + line("1"),
			release: helm.Release{CRDs: helm.Skip},
			want:    "# c/templates/x.yaml\nx: 1\n",
		},
		{
			name:  "a block of text at the end of a document keeps its last newline",
			chart: "-- templates/x.yaml --\nx: |\n  first\n---\nx: |\n  last\n",
			want:  "# c/templates/x.yaml\nx: |\n  first\n# c/templates/x.yaml\nx: |\n  last\n",
		},
		{
			name:  "a file that includes another",
			chart: "-- templates/a.yaml --\nsum: {{ include (print .Template.BasePath \"/b.yaml\") . | sha256sum | trunc 6 }}\n-- templates/b.yaml --\nx: 1\n",
			want:  "# c/templates/a.yaml\nsum: d09eda\n# c/templates/b.yaml\nx: 1\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rendered(t, tt.chart, tt.release)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFilesOfValuesOfARepository: those of a chart of a GitRepository are named from the root of that, and stand nowhere else.
func TestFilesOfValuesOfARepository(t *testing.T) {
	const chart = "-- values.yaml --\na: chart\n-- env/eu.yaml --\na: of the chart\n"
	repository := files("-- env/eu.yaml --\na: of the repository\n-- env/null.yaml --\nb:\n-- large.yaml --\na: " + strings.Repeat("x", 6<<20) + "\n-- none.yaml --\n[\n")
	for _, tt := range []struct {
		name, file string
		ignore     bool
		want, err  string
	}{
		{"a file", "env/eu.yaml", false, `{"a":"of the repository"}`, ""},
		{"a file from the root", "/env/../env/eu.yaml", false, `{"a":"of the repository"}`, ""},
		{"a file from here", "./env/eu.yaml", false, `{"a":"of the repository"}`, ""},
		{"a file that is not there", "values.yaml", false, "", `the repository has no file "values.yaml", which valuesFiles names`},
		{"a file that need not be there", "values.yaml", true, `{}`, ""},
		{"a file outside", "../eu.yaml", false, "", `the repository has no file "../eu.yaml"`},
		{"a folder", "env", false, "", "reading env of the repository"},
		{"a file that is too large", "large.yaml", true, "", "reading large.yaml of the repository: large.yaml has 6291460 bytes"},
		{"a file that is no YAML", "none.yaml", true, "", "reading none.yaml of the repository"},
	} {
		release := helm.Release{Source: repository, ValuesFiles: []string{tt.file}, IgnoreMissingValuesFiles: tt.ignore}
		got, err := template(chart+line(".Values | toJson"), release)
		switch {
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		case tt.err == "" && (err != nil || show(got) != "# c/templates/x.yaml\nx: "+tt.want+"\n"):
			t.Errorf("%s: %v, it is\n%s\nwant %s", tt.name, err, show(got), tt.want)
		}
	}
}

func TestTemplateFails(t *testing.T) {
	tests := []struct {
		name, chart string
		release     helm.Release
		want        string
	}{
		{name: "no Chart.yaml in a sub-chart", chart: "-- charts/s/values.yaml --\na: 1\n", want: "Chart.yaml file is missing"},
		{name: "a library", chart: "-- Chart.yaml --\napiVersion: v2\nname: l\nversion: 1.0.0\ntype: library\n", want: `the chart l is of type "library"`},
		{
			name:  "a dependency that is not there",
			chart: "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: redis, version: 1.x, repository: https://x.test}]\n",
			want:  "c/Chart.yaml: dependencies that are not in charts/: redis",
		},
		{name: "another Kubernetes", chart: "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\nkubeVersion: '>=1.30'\n", release: helm.Release{KubeVersion: "1.29.0"}, want: "made for Kubernetes >=1.30, not for v1.29.0"},
		{name: "no version of Kubernetes", release: helm.Release{KubeVersion: "new"}, want: `the Kubernetes version "new"`},
		{name: "a bad name", release: helm.Release{Name: "No_Name"}, want: `the release name "No_Name"`},
		{name: "a file of values that is not there", release: helm.Release{ValuesFiles: []string{"x.yaml"}}, want: `the chart c has no file "x.yaml"`},
		{name: "a file of values outside", release: helm.Release{ValuesFiles: []string{"../x.yaml"}}, want: `the chart c has no file "../x.yaml"`},
		{name: "a template that does not parse", chart: line("if"), want: "c/templates/x.yaml:1"},
		{name: "a required value", chart: line(`required "say who" .Values.who`), want: "say who"},
		{name: "what is no YAML", chart: "-- templates/x.yaml --\na: b: c\n", want: "c/templates/x.yaml"},
		{name: "an unknown function", chart: line("env \"HOME\""), want: `function "env" not defined`},
		{name: "chance", chart: line(`values (dict "a" 1 "b" 2 "c" 3 "d" 4 "e" 5 "f" 6 "g" 7 "h" 8 "i" 9 "j" 10 "k" 11 "l" 12)`), want: "c/templates/x.yaml: two renderings of this file differ"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := template(tt.chart, tt.release)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestAChartIsParsedOnceForManyReleases(t *testing.T) {
	chart := "-- values.yaml --\na: {b: 1}\n-- templates/x.yaml --\nx: {{ .Values.a | toJson }} {{ $_ := set .Values.a \"b\" 9 }}\n"
	c, err := build.Load(files(chart))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, r := range []helm.Release{
			{Name: "r"},
			{Name: "r", Values: helm.Values{"a": map[string]any{"c": "d"}}},
		} {
			got, err := c.Template(r)
			if err != nil {
				t.Fatal(err)
			}
			want, err := build.Template(files(chart), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-loaded anew +loaded once):\n%s", diff)
			}
		}
	}
}

func TestHooks(t *testing.T) {
	out, err := template("-- templates/x.yaml --\nkind: Job\nmetadata:\n  annotations:\n    helm.sh/hook: pre-install,pre-upgrade\n"+
		"    helm.sh/hook-weight: \"-5\"\n    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded\n"+
		"-- templates/t.yaml --\nkind: Pod\nmetadata: {annotations: {helm.sh/hook: test-success}}\n"+
		"-- templates/u.yaml --\nkind: Pod\nmetadata: {annotations: {helm.sh/hook: test-failure}}\n", helm.Release{})
	if err != nil {
		t.Fatal(err)
	}
	want := []*helm.Hook{
		{Events: []string{"test"}},
		{Events: []string{"pre-install", "pre-upgrade"}, Weight: -5, DeletePolicies: []string{"before-hook-creation", "hook-succeeded"}},
	}
	var got []*helm.Hook
	for _, m := range out.Manifests {
		got = append(got, m.Hook)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !got[0].Test() || got[1].Test() {
		t.Error("the first is a test, the second is not")
	}
}
