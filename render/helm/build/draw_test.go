package build_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/render/draw"
	"github.com/waybill-dev/waybill/render/helm"
)

// drawing is a release that may draw whatever can be drawn, from the key that begins with
// first.
func drawing(t *testing.T, first byte) helm.Release {
	t.Helper()
	secret := make([]byte, 32)
	for i := range secret {
		secret[i] = first + byte(i)
	}
	key, err := draw.NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	of := key.For("source", "eu", "HelmRelease a/r")
	return helm.Release{
		Draw:   &of,
		Allow:  []string{"randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt", "randNumeric", "shuffle", "uuidv4"},
		Values: helm.Values{"n": 6.0, "text": `{{ randAlpha 6 }}-{{ randAlpha 6 }}`, "nested": "{{ tpl .Values.text . }}"},
	}
}

func TestDrawsStandWhereTheCallStood(t *testing.T) {
	tests := []struct{ name, expression, want string }{
		{"a command", `randAlphaNum 6`, `[A-Za-z0-9]{6}`},
		{"without blanks", `print "("}}{{randAlpha 6}}{{print ")"`, `\([A-Za-z]{6}\)`},
		{"before a trim", `randNumeric 6 -}} {{- print "-"`, `[0-9]{6}-`},
		{"a pipe behind it", `randAlphaNum 6 | lower | quote`, `"[a-z0-9]{6}"`},
		{"a pipe before it", `.Values.n | int | randAlpha`, `[A-Za-z]{6}`},
		{"parentheses", `print (randAlpha 2) (randNumeric 2)`, `[A-Za-z]{2}[0-9]{2}`},
		{"an operand in parentheses", `randAlpha (add 2 4 | int)`, `[A-Za-z]{6}`},
		{"a variable", `$x := randAlpha 6 }}{{ print $x "=" $x`, `([A-Za-z]{6})=([A-Za-z]{6})`},
		{"an operand", `print uuidv4`, `[0-9a-f-]{36}`},
		{"an operand of one that draws", `shuffle uuidv4`, `[0-9a-f-]{36}`},
		{"one in another", `shuffle (randAlpha 6)`, `[A-Za-z]{6}`},
		{"a number", `randInt 5 6 | add 1`, `6`},
		{"a range", `range until (randInt 3 4)}}{{ . }}{{ end`, `012`},
		{"a piped second operand", `6 | randInt 5`, `5`},
		{"bytes", `randBytes 6 | b64dec | len`, `6`},
		{"characters that print", `randAscii 6 | len`, `6`},
		{"over lines", "randAlpha\n  6\n  | lower", `[a-z]{6}`},
		{"a condition", `if uuidv4 }}a{{ else if randAlpha 3 }}b{{ end`, `a`},
		{"a text for tpl", `tpl .Values.text .`, `[A-Za-z]{6}-[A-Za-z]{6}`},
		{"a text in a text for tpl", `tpl .Values.nested .`, `[A-Za-z]{6}-[A-Za-z]{6}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := drawing(t, 1)
			got := rendered(t, line(tt.expression), r)
			if want := regexp.MustCompile(`^# c/templates/x.yaml\nx: ` + tt.want + `\n$`); !want.MatchString(got) {
				t.Errorf("got %q, want %s", got, want)
			}
			if again := rendered(t, line(tt.expression), r); again != got {
				t.Errorf("rendered again it is %q, and was %q", again, got)
			}
		})
	}
}

func TestAnotherKeyDrawsAnotherText(t *testing.T) {
	chart := line(`randAlphaNum 20`)
	if a, b := rendered(t, chart, drawing(t, 1)), rendered(t, chart, drawing(t, 2)); a == b {
		t.Errorf("two keys give %s", a)
	}
}

// drawn lists the texts of twelve letters in what a chart renders to.
func drawn(t *testing.T, chart string) []string {
	t.Helper()
	return regexp.MustCompile(`\b[A-Za-z]{12}\b`).FindAllString(rendered(t, chart, drawing(t, 1)), -1)
}

func TestEachDrawIsAnother(t *testing.T) {
	const helper = "-- templates/_h.tpl --\n{{ define \"h\" }}{{ randAlpha 12 }}{{ end }}\n"
	tests := []struct {
		name, chart string
		want        int
	}{
		{"two calls in a line", line(`randAlpha 12 }} {{ randAlpha 12`), 2},
		{"a call in a range", line(`range until 5 }} {{ randAlpha 12 }}{{ end`), 5},
		{"a helper, included twice", helper + line(`include "h" . }} {{ include "h" .`), 2},
		{"a helper, included in two files", helper + line(`include "h" .`) + "-- templates/y.yaml --\ny: {{ include \"h\" . }}\n", 2},
		{"a file that another includes", "-- templates/a.yaml --\na: {{ randAlpha 12 }}\n-- templates/b.yaml --\nb: {{ include (print .Template.BasePath \"/a.yaml\") . | quote }}\n", 2},
		{"a text for tpl, given twice", line("tpl `{{ randAlpha 12 }}` . }} {{ tpl `{{ randAlpha 12 }}` ."), 2},
		{"a text for tpl in a range", line("range until 3 }} {{ tpl `{{ randAlpha 12 }}` $ }}{{ end"), 3},
		{"one file for two aliases", "-- Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: s, version: 1.x, alias: one}, {name: s, version: 1.x, alias: two}]\n" +
			"-- charts/s/Chart.yaml --\napiVersion: v2\nname: s\nversion: 1.0.0\n-- charts/s/templates/y.yaml --\nx: {{ randAlpha 12 }}\n", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			different := map[string]bool{}
			for _, text := range drawn(t, tt.chart) {
				different[text] = true
			}
			if len(different) != tt.want {
				t.Errorf("%d different draws, want %d: %v", len(different), tt.want, different)
			}
		})
	}
}

// TestADrawOutlastsEdits holds that what a template draws stays when something else of the
// chart is edited.
func TestADrawOutlastsEdits(t *testing.T) {
	const helper = "-- templates/_h.tpl --\n{{ define \"h\" }}{{ randAlpha 12 }}{{ end }}\n"
	base := helper + line(`randAlpha 12 }} {{ include "h" .`)
	want := strings.Join(drawn(t, base), " ")
	tests := []struct{ name, chart string }{
		{"lines above it", helper + "-- templates/x.yaml --\n# a comment\n{{- $a := 1 }}\n\nx: {{   randAlpha 12 }} {{ include \"h\" . }}\n"},
		{"other functions before it", helper + "-- templates/x.yaml --\na: {{ uuidv4 }}{{ randNumeric 3 }}\nx: {{ randAlpha 12 }} {{ include \"h\" . }}\n"},
		{"a text for tpl before it", helper + "-- templates/x.yaml --\na: {{ tpl `{{ randAlpha 12 | len }}` . }}\nx: {{ randAlpha 12 }} {{ include \"h\" . }}\n"},
		{"other helpers before it", "-- templates/_a.tpl --\n{{ define \"a\" }}{{ randAlpha 11 }}{{ end }}\n" + base},
		{"a file before it that includes the helper", base + "-- templates/a.yaml --\na: {{ include \"h\" . | len }}\n"},
		{"a sub-chart", base + "-- charts/s/Chart.yaml --\napiVersion: v2\nname: s\nversion: 1.0.0\n-- charts/s/templates/y.yaml --\nx: {{ randAlpha 12 | len }}\n"},
	}
	for _, tt := range tests {
		if got := strings.Join(drawn(t, tt.chart), " "); got != want {
			t.Errorf("with %s it draws %s, and without %s", tt.name, got, want)
		}
	}
}

func TestNothingIsDrawnThatIsNotAllowedOrHasNoKey(t *testing.T) {
	r := drawing(t, 1)
	r.Allow = []string{"randAlpha"}
	if _, err := template(line(`randAlphaNum 6`), r); err == nil || !strings.Contains(err.Error(), "randAlphaNum is not allowed") {
		t.Errorf("not allowed: got %v", err)
	}
	r.Draw = nil
	_, err := template("-- templates/x.yaml --\na: b\nx: {{ tpl \"{{ randAlpha 6 }}\" . }}\n", r)
	e, ok := errors.AsType[*helm.Error](err)
	if !ok || e.Error() != "c/templates/x.yaml:2: line 1 of a text for tpl calls the function randAlpha, which draws from a random key, and none is given" {
		t.Fatalf("without a key: got %v", err)
	}
	for _, want := range []string{"existingSecret", "ExternalSecret", "--random-key-file"} {
		if !strings.Contains(e.Hint, want) {
			t.Errorf("the hint %q does not name %s", e.Hint, want)
		}
	}
	r = drawing(t, 1)
	r.Allow = append(r.Allow, "genCA", "bcrypt")
	for _, call := range []string{`(genCA "a" 1).Cert`, `bcrypt "a"`} {
		if _, err := template(line(call), r); err == nil || !strings.Contains(err.Error(), "is not allowed") {
			t.Errorf("%s: got %v", call, err)
		}
	}
}

func TestMessagesDoNotShowDraws(t *testing.T) {
	secret := drawn(t, line(`randAlpha 12`))[0]
	for _, expression := range []string{
		`fail (randAlpha 12)`, `fail (randAlpha 12 | quote)`, `required (randAlpha 12) .Values.no`, `index (dict) (randAlpha 12) "a" "b"`,
		`randAlpha 12 | toDate`, "randAlpha 12 }}\n\ty: : {{ print 1",
	} {
		_, err := template(line(expression), drawing(t, 1))
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want an error that does not show the draw", expression, err)
		}
	}
	out, err := template(line(`randAlpha 12`), drawing(t, 1))
	if err != nil || len(out.Drawn) != 1 || out.Drawn[0] != secret {
		t.Errorf("it lists %d draws: %v", len(out.Drawn), err)
	}
}

func TestWhatADrawIsToldWrongIsSaidAtItsPlace(t *testing.T) {
	tests := []struct{ expression, want string }{
		{`randAlpha`, "c/templates/x.yaml:1: the function randAlpha draws nothing: it has 0 operands"},
		{`print randAlpha`, "it has 0 operands"},
		{`randAlpha 1 2`, "it has 2 operands"},
		{`randAlpha "six"`, "no whole number"},
		{`randInt 5 5`, "the second the greater one"},
		{`tpl "{{ shuffle 5 }}" .`, "line 1 of a text for tpl calls the function shuffle, which draws nothing: its operand is no text"},
	}
	for _, tt := range tests {
		_, err := template(line(tt.expression), drawing(t, 1))
		if e, ok := errors.AsType[*helm.Error](err); !ok || !strings.Contains(e.Error(), tt.want) {
			t.Errorf("%s: got %v, want an *Error with %q", tt.expression, err, tt.want)
		}
	}
}
