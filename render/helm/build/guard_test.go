package build_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/helm"
)

func TestRefusedFunctionsFailWhereTheyAreExecuted(t *testing.T) {
	tests := []struct {
		name, chart string
		values      helm.Values
		want        string
	}{
		{name: "as a command", chart: line(`now`), want: "c/templates/x.yaml:1: the function now"},
		{name: "in the second line", chart: "-- templates/x.yaml --\na: b\nx: {{ now }}\n", want: "c/templates/x.yaml:2: the function now"},
		{name: "with operands", chart: line(`randAlphaNum 10 | b64enc`), want: "randAlphaNum"},
		{name: "in a pipe", chart: line(`"u" | htpasswd "p"`), want: "htpasswd"},
		{name: "as an operand", chart: line(`default now .Values.t`), want: "the function now"},
		{name: "in parentheses", chart: line(`(now).Unix`), want: "the function now"},
		{name: "with a field", chart: line(`now.Unix`), want: "the function now"},
		{name: "in a condition", chart: "-- templates/x.yaml --\n{{ if uuidv4 }}x: 1{{ end }}\n", want: "uuidv4"},
		{name: "in an else", chart: "-- templates/x.yaml --\n{{ if .Values.no }}a: 1{{ else }}x: {{ uuidv4 }}{{ end }}\n", want: "uuidv4"},
		{name: "in a range", chart: "-- templates/x.yaml --\n{{ range shuffle \"ab\" | list }}x: {{ . }}{{ end }}\n", want: "shuffle"},
		{name: "in a with", chart: "-- templates/x.yaml --\n{{ with genCA \"a\" 1 }}x: 1{{ end }}\n", want: "genCA"},
		{name: "in a variable", chart: "-- templates/x.yaml --\n{{ $x := randInt 1 5 }}x: {{ $x }}\n", want: "randInt"},
		{name: "in the data of a template", chart: "-- templates/x.yaml --\n{{ define \"d\" }}{{ . }}{{ end }}x: {{ template \"d\" now }}\n", want: "the function now"},
		{name: "in a block", chart: "-- templates/x.yaml --\nx: {{ block \"b\" . }}{{ now }}{{ end }}\n", want: "the function now"},
		{name: "in a helper", chart: "-- templates/_h.tpl --\n{{- define \"h\" -}}\n{{ randBytes 3 }}\n{{- end -}}\n" + line(`include "h" .`), want: "c/templates/_h.tpl:2: the function randBytes"},
		{
			name: "in the notes, for others to use", want: "c/templates/NOTES.txt:1: the function uuidv4",
			chart: "-- templates/NOTES.txt --\n{{ set .Values \"id\" uuidv4 }}\n-- templates/A.yaml --\nx: {{ .Values.id | b64enc }}\n",
		},
		{
			name: "in a test, for others to use", want: "c/templates/z.yaml:1: the function uuidv4",
			chart: "-- templates/z.yaml --\n{{ $_ := set .Values \"id\" uuidv4 }}\nkind: Pod\nmetadata: {annotations: {helm.sh/hook: test}}\n" +
				"-- templates/a.yaml --\nx: {{ .Values.id | sha256sum }}\n",
		},
		{
			name: "beside a test", want: "c/templates/x.yaml:3: the function uuidv4",
			chart: "-- templates/x.yaml --\nmetadata: {annotations: {helm.sh/hook: test}}\n---\nx: {{ uuidv4 }}\n",
		},
		{name: "for its length alone", chart: line(`uuidv4 | len`), want: "uuidv4"},
		{name: "of which the result is used", chart: line(`(genCA "a" 1).Cert`), want: "genCA"},
		{name: "in a file that another includes", chart: "-- templates/a.yaml --\nx: {{ include (print .Template.BasePath \"/NOTES.txt\") . }}\n-- templates/NOTES.txt --\n{{ now }}", want: "c/templates/NOTES.txt:1:"},
		{
			name: "in a sub-chart with an alias", want: "c/charts/s/templates/y.yaml:1: the function now",
			chart: "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: s, version: 1.x, alias: other}]\n" +
				"-- charts/s/Chart.yaml --\napiVersion: v2\nname: s\nversion: 1.0.0\n-- charts/s/templates/y.yaml --\nx: {{ now }}\n",
		},
		{
			name: "in a sub-chart", want: "c/charts/s/templates/y.yaml:1: the function bcrypt",
			chart: "-- charts/s/Chart.yaml --\napiVersion: v2\nname: s\nversion: 1.0.0\n-- charts/s/templates/y.yaml --\nx: {{ bcrypt \"a\" }}\n",
		},
		{name: "in a text for tpl", chart: line(`tpl "{{ now }}" .`), want: "c/templates/x.yaml:1: line 1 of a text for tpl calls the function now"},
		{name: "in a value for tpl", chart: line(`tpl .Values.v .`), values: helm.Values{"v": "a\n{{ now }}"}, want: "line 2 of a text for tpl calls the function now"},
		{name: "in a text that is put together", chart: line(`tpl (printf "{{ %s }}" "now") .`), want: "the function now"},
		{name: "in a text of a piped tpl", chart: line(`. | tpl "{{ now }}"`), want: "the function now"},
		{name: "in a text of a text for tpl", chart: line("tpl `{{ tpl \"{{ uuidv4 }}\" . }}` ."), want: "uuidv4"},
		{name: "in a definition of a text for tpl", chart: line("tpl `{{ define \"d\" }}{{ now }}{{ end }}{{ include \"d\" . }}` ."), want: "the function now"},
		{name: "in an operand of tpl", chart: line(`tpl (now | toString) .`), want: "the function now"},
		{name: "a date of what is no time", chart: line(`date "2006" "x"`), want: "the function date"},
		{name: "an age", chart: line(`ago "x"`), want: "the function ago"},
		{name: "a look into the cluster", chart: line(`(lookup "v1" "Secret" "ns" "n").data`), want: "the function lookup"},
		{name: "a look into the network", chart: line(`getHostByName "localhost"`), want: "the function getHostByName"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := template(tt.chart, helm.Release{Values: tt.values})
			var located *helm.Error
			if !errors.As(err, &located) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an *Error with %q", err, tt.want)
			}
			if !strings.Contains(located.Hint, "set the value that makes the call needless") {
				t.Errorf("the hint %q does not say what to do", located.Hint)
			}
		})
	}
}

func TestRefusedFunctionsDoNoHarmWhereNothingOfThemIsDelivered(t *testing.T) {
	tests := []struct{ name, chart, want string }{
		{"a branch that is not taken", line(`"a" }}{{ if .Values.no }}{{ now }}{{ end`), "a"},
		{"a definition that nobody includes", "-- templates/_h.tpl --\n{{ define \"h\" }}{{ now }}{{ end }}\n" + line(`"a"`), "a"},
		{"a name in a string", line(`"now lookup tpl keys"`), "now lookup tpl keys"},
		{"a field", line(`.Values.now | default "a"`), "a"},
		{"a comment", "-- templates/x.yaml --\nx: {{/* now */}}a\n", "a"},
		{"a file of which nothing comes", "-- templates/y.yaml --\n{{ $x := now }}\n" + line(`"a"`), "a"},
		{"the notes", "-- templates/NOTES.txt --\n{{ now }}\n" + line(`"a"`), "a"},
		{"a sub-chart that is disabled", "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: s, version: 1.x, condition: s.enabled}]\n" +
			"-- values.yaml --\ns: {enabled: false}\n-- charts/s/Chart.yaml --\napiVersion: v2\nname: s\nversion: 1.0.0\n-- charts/s/templates/y.yaml --\nx: {{ now }}\n" + line(`"a"`), "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rendered(t, tt.chart, helm.Release{})
			if want := "# c/templates/x.yaml\nx: " + tt.want + "\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestHintsLeadToWhatCanBeBuiltAgain holds that only what always gives the same is
// proposed to be allowed.
func TestHintsLeadToWhatCanBeBuiltAgain(t *testing.T) {
	tests := []struct{ call, want string }{
		{`lookup "v1" "Secret" "ns" "n"`, "waybill.dev/allow-functions: lookup"},
		{`getHostByName "a"`, "waybill.dev/allow-functions: getHostByName"},
		{`now`, "needless"},
		{`randAlphaNum 8`, "ExternalSecret"},
		{`shuffle "abc"`, "existingSecret"},
		{`genCA "a" 1`, "cert-manager"},
		{`htpasswd "u" "p"`, "cert-manager"},
		{`encryptAES "k" "p"`, "cert-manager"},
	}
	for _, tt := range tests {
		_, err := template(line(tt.call), helm.Release{})
		e, ok := errors.AsType[*helm.Error](err)
		if !ok {
			t.Errorf("%s: got %v, want an *Error", tt.call, err)
			continue
		}
		if !strings.Contains(e.Hint, tt.want) || strings.Contains(e.Hint, helm.AllowAnnotation) != strings.Contains(tt.want, helm.AllowAnnotation) {
			t.Errorf("%s: the hint is %q, want one with %q", tt.call, e.Hint, tt.want)
		}
	}
}

func TestAllowedFunctions(t *testing.T) {
	out, err := template(line(`lookup "v1" "Secret" "ns" "n" | toJson`), helm.Release{Allow: []string{"lookup"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := show(out); !strings.Contains(got, "x: {}") {
		t.Errorf("lookup gave %s, want nothing", got)
	}
	want := []string{"lookup of v1 Secret gives nothing: there is no cluster to ask when a chart is rendered"}
	if diff := cmp.Diff(want, out.Notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if _, err := template(line(`(lookup "v1" "Secret" "ns" "").items | empty`), helm.Release{Allow: []string{"lookup"}}); err != nil {
		t.Errorf("a list: %v", err)
	}
	if _, err := template(line(`now | date "2006"`), helm.Release{Allow: []string{"now", "date"}}); err != nil {
		t.Errorf("now: %v", err)
	}
}

func TestGuardedTextsRenderAsHelmRendersThem(t *testing.T) {
	tests := []struct{ name, expression, want string }{
		{"tpl with a literal", `tpl "{{ .Release.Name }}" .`, "r"},
		{"tpl with a raw string", "tpl `{{ .Release.Name }}` .", "r"},
		{"tpl with a quote in a string", `tpl "{{ \"a)b\" }}" .`, "a)b"},
		{"tpl without an action", `tpl "plain" .`, "plain"},
		{"tpl with an empty text", `tpl "" . | quote`, `""`},
		{"tpl with parentheses", `tpl (printf "%s" (list "a" "b" | join ")")) .`, "a)b"},
		{"tpl with a field", `tpl .Values.t .`, "v"},
		{"tpl with a variable", `with $t := .Values.t }}{{ tpl $t $ }}{{ end`, "v"},
		{"tpl with a chain", `tpl (dict "a" .Values.t).a .`, "v"},
		{"tpl in a pipe", `. | tpl .Values.t | upper`, "V"},
		{"tpl in tpl", "tpl `{{ tpl .Values.t . }}{{ tpl .Values.t . }}` .", "vv"},
		{"tpl more often than it may be nested", "range until 150 }}{{ tpl `{{ 1 }}` $ }}{{ end", strings.Repeat("1", 150)},
		{"tpl that trims", "tpl `a {{- 1 -}} ` .", "a1"},
		{"tpl that ends in a comment", "tpl `a{{/* b */}}` .", "a"},
		{"keys are sorted", `keys (dict "b" 1 "a" 2 "c" 3) | join ","`, "a,b,c"},
		{"keys of two maps", `keys (dict "b" 1) (dict "a" 2) | join ","`, "a,b"},
		{"keys in parentheses", `join "," (keys (dict "b" 1 "a" 2))`, "a,b"},
		{"keys in a pipe", `dict "b" 1 "a" 2 | keys | first`, "a"},
		{"keys before a trim", "keys (dict \"b\" 1 \"a\" 2) -}} {{- print", "[a b]"},
		{"keys over two lines", "keys\n  (dict \"b\" 1 \"a\" 2)\n  | join \",\"", "a,b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rendered(t, line(tt.expression), helm.Release{Values: helm.Values{"t": `{{ "v" }}`}})
			if want := "# c/templates/x.yaml\nx: " + tt.want + "\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestTplThatCallsItselfEnds(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	go func() {
		_, err := template(line(`tpl .Values.x .`), helm.Release{Values: helm.Values{"x": "{{ tpl .Values.x . }}"}})
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "more than 100 deep") {
			t.Errorf("got %v, want the limit", err)
		}
	case <-time.After(time.Minute):
		t.Error("it comes to no end")
	}
}

func TestErrorsDoNotShowTheTextOfTpl(t *testing.T) {
	for _, text := range []string{`s3cret {{ fail "no" }}`, `s3cret {{ .a.b.c.d | nofunc }}`, `s3cret {{ index .Values "x" "y" "z" }}`} {
		_, err := template(line(`tpl .Values.x .`), helm.Release{Values: helm.Values{"x": text}})
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want an error without the text", text, err)
		}
	}
}
