package build

import (
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/helm"
)

// endless matches texts that Helm would be at for long, or that have no one result.
var endless = regexp.MustCompile(`\d{3}|values|until|repeat|seq|[a-z]*Decimal|\bkeys\b`)

// plain renders one template with Helm's engine and nothing of ours.
func plain(t *testing.T, text string) (string, error) {
	t.Helper()
	c := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "c", Version: "1.0.0"}}
	c.Templates = []*chart.File{{Name: "templates/x", Data: []byte(text)}}
	values, err := chartutil.ToRenderValues(c, fuzzValues(), chartutil.ReleaseOptions{Name: "r", Namespace: "default", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(c, values)
	return files["c/templates/x"], err
}

func fuzzValues() map[string]any {
	return map[string]any{"t": `{{ "v" }}`, "m": map[string]any{"a": "b"}}
}

// A template that calls nothing that is refused renders as if there were no guard, and
// fails if it would fail without one.
func FuzzGuard(f *testing.F) {
	for _, text := range []string{
		"x: {{ tpl .Values.t . }}",
		"{{- /* c */ -}} a {{- tpl (printf \"%s)\" .Values.t) $ | upper -}} b",
		"{{ define \"d\" }}{{ tpl `{{ include \"e\" . }}` . }}{{ end }}{{ define \"e\" }}e{{ end }}{{ include \"d\" . }}",
		"{{ range $k, $v := .Values.m }}{{ tpl $v $ }}{{ break }}{{ end }}",
		"{{ with tpl \"{{ .a }}\" .Values.m }}{{ . }}{{ else with 1 }}{{ end }}",
		"{{ (tpl .Values.t .) | len }}{{ tpl '\\'' . }}",
		"{{ .Values.m.a }}{{ $x := tpl\n\t.Values.t\n. }}{{ $x }}",
		"{{ if eq (tpl .Values.t .) \"v\" }}yes{{ end }}{{\"}}\"}}{{`)`}}",
		"{{ block \"b\" . }}{{ tpl .Values.t . }}{{ end }}{{ template \"b\" . }}",
		"{{ tpl `{{ 1 }}{` . }}{",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if endless.MatchString(text) || strings.Contains(text, "lookup") {
			return
		}
		c := &Chart{root: &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "c", Version: "1.0.0"}}}
		file := &chart.File{Name: "templates/x", Data: []byte(text)}
		c.root.Templates = []*chart.File{file}
		c.calls = map[*chart.File][]call{file: calls(text)}
		got, err := c.render(helm.Release{Name: "r", KubeVersion: "1.20.0", Values: fuzzValues()}, "stub")
		if len(got.refusals) > 0 || strings.Contains(text, "HelmVersion") || strings.Contains(text, "Capabilities") || strings.Contains(got.files["c/templates/x"], "0x") { // an address
			return
		}
		want, plainErr := plain(t, text)
		if (err == nil) != (plainErr == nil) {
			t.Fatalf("%q: got the error %v, want %v", text, err, plainErr)
		}
		if err == nil && got.files["c/templates/x"] != want {
			t.Errorf("%q: got %q, want %q", text, got.files["c/templates/x"], want)
		}
	})
}

// A template that draws renders to the same as in Helm, but for which letters and digits
// are drawn, and draws the same again.
func FuzzDraws(f *testing.F) {
	for _, text := range []string{
		"x: {{ randAlpha 5 }}",
		"{{- print uuidv4 (randAlpha 2) | b64enc -}} b",
		"{{ define \"d\" }}{{ randAlpha (int 3) | quote }}{{ end }}{{ include \"d\" . }}{{ template \"d\" uuidv4 }}",
		"{{ range $k, $v := .Values.m }}{{ $x := randAlpha\n\t(len $v)\n| upper}}{{ $x }}{{ end }}",
		"{{ with 4 | randAlpha }}{{ . }}{{ else with uuidv4 }}{{ end }}",
		"{{(randAlpha 3)}}{{ tpl `{{ randAlpha 2 }}` . }}{{ shuffle uuidv4 | len }}",
		"{{ if eq uuidv4 \"v\" }}yes{{ end }}{{`)`}}{{shuffle (randAlpha 4)}}",
	} {
		f.Add(text)
	}
	key, err := draw.NewKey([]byte("0123456789abcdefghijklmnopqrstuv"))
	if err != nil {
		f.Fatal(err)
	}
	of := key.For("s", "c", "r")
	alnum := regexp.MustCompile(`[A-Za-z0-9]`)
	f.Fuzz(func(t *testing.T, text string) {
		if endless.MatchString(text) || strings.Contains(text, "lookup") || strings.Contains(text, "Capabilities") {
			return
		}
		c := &Chart{root: &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "c", Version: "1.0.0"}}}
		file := &chart.File{Name: "templates/x", Data: []byte(text)}
		c.root.Templates = []*chart.File{file}
		c.calls = map[*chart.File][]call{file: calls(text)}
		r := helm.Release{Name: "r", KubeVersion: "1.20.0", Values: fuzzValues(), Draw: &of, Allow: []string{"randAlpha", "shuffle", "uuidv4"}}
		got, err := c.render(r, "stub")
		if len(got.refusals) > 0 || err != nil || strings.Contains(got.files["c/templates/x"], "0x") { // an address
			return
		}
		want, err := plain(t, text)
		if err != nil {
			return // of a number that Helm would have as another type
		}
		if shape := alnum.ReplaceAllString(got.files["c/templates/x"], "x"); shape != alnum.ReplaceAllString(want, "x") && len(shape) != len(want) {
			t.Errorf("%q: got %q, want the shape of %q", text, got.files["c/templates/x"], want)
		}
		again, err := c.render(r, "stub")
		if err != nil || again.files["c/templates/x"] != got.files["c/templates/x"] {
			t.Errorf("%q: got %q, and then %q, %v", text, got.files["c/templates/x"], again.files["c/templates/x"], err)
		}
	})
}
