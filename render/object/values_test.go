package object

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// spec returns the field spec of the one manifest that text completes.
func spec(t *testing.T, file, text string) any {
	t.Helper()
	d := Decode(file, []byte(text))
	if len(d.Diags) > 0 || len(d.Objects) != 1 {
		t.Fatal(d.Objects, d.Diags)
	}
	return d.Objects[0].Content()["spec"]
}

func TestPlainLettersAreStringsWhereverTheyStand(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     any
	}{
		{"as a value and as a key", "spec: {n: y}\n", map[string]any{"n": "y"}},
		{"behind an anchor, and where it is named again", "spec:\n  a: &x n\n  b: *x\n", map[string]any{"a": "n", "b": "n"}},
		{"as a key behind an anchor", "spec:\n  &x y: 1\n", map[string]any{"y": int64(1)}},
		{"behind a tag that says string", "spec: !!str n\n", "n"},
		{"behind a tag that only a program knows", "spec: !mine n\n", "n"},
		{"but not behind a tag that says boolean", "spec: [!!bool n, !!bool \"y\"]\n", []any{false, true}},
		{"in flow collections over several lines", "spec: [n,\n y, {N: Y, k: n}]\n", []any{"n", "y", map[string]any{"N": "Y", "k": "n"}}},
		{"after a letter of another plane", "spec: {😀: n}\n", map[string]any{"😀": "n"}},
		{"after a line that a next-line character ends", "x: [a,\u0085 b]\nspec: {k: n}\n", map[string]any{"k": "n"}},
		{"after lines that other separators end", "x: \"a\u2028b\u2029c\"\nspec: {k: n}\n", map[string]any{"k": "n"}},
		{"after lines that a carriage return ends", "x: 1\rspec:\r  k: n\r  l: y\n", map[string]any{"k": "n", "l": "y"}},
		{"below a merge", "spec:\n  <<: {k: n}\n", map[string]any{"k": "n"}},
		{"while words stay booleans", "spec: [no, Yes, off, ON, true]\n", []any{false, true, false, true, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, spec(t, "a.yaml", head+tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValuesAreThoseOfKubectl(t *testing.T) {
	for _, tt := range []struct{ name, in string }{
		{"null in every spelling", "[null, ~, Null, NULL, nULL, {a: , b: }]"},
		{"whole numbers", "[0, -1, +5, 1_000, 0x1F, 0b101, -0b11, 0o17, 017, 08, 9223372036854775807, 9223372036854775808, 18446744073709551616, 1_, +, -]"},
		{"fractions", "[1.5, .5, -.5, 1., 1.0, -0.0, 1e3, 1e20, 1e21, 1e400, 4611686018427387904.0, 1_0.5, ._5, .0_0, .1_,  1.2.3]"},
		{"what looks like a number", "[12:30, 1:30:15, 2026-11-21, 2026-11-21T00:00:00Z, 1.2.3.4, 0x, 1k, 100m, 0x1p4]"},
		{"tags", `[!!str 1, !!int "0x10", !!float 1, !!float 1.5, !!null "", !!bool "yes", !!binary aGk=, !!binary /w==, !x 12, !!timestamp 2026-11-21]`},
		{"strings in quotes", `["1", 'yes', "null", "\u2028\u00e9", "a\
   b"]`},
		{"blocks", "|\n  1\n"},
		{"folded blocks", ">-\n  true\n"},
		{"keys that are no strings", "{1: a, 0x10: b, true: c, 1.5: d, 2026-11-21: e, off: f, 100000000.25: g, 4e11: h}"},
		{"a merge, and what stands before and behind it", "{b: 0, <<: {a: 1, b: 1}, a: 2}"},
		{"several merges", "{<<: [{a: 1, b: 1}, {a: 2, c: 3}]}"},
		{"a merge of aliases", "[&x {a: 1}, &y {a: 2, b: 3}, {<<: [*x, *y]}, {<<: *y}]"},
		{"a key that is an alias", "[&x k, {*x : 1}]"},
		{"aliases", "[&x {a: [1]}, *x, &y ~, *y]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := head + "spec: " + tt.in + "\n"
			asJSON, err := sigsyaml.YAMLToJSON([]byte(in))
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := utiljson.Unmarshal(asJSON, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want["spec"], spec(t, "a.yaml", in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatJSONCannotSayIsRefusedWithItsLine(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"no number", "[\n .nan]", "a.yaml:5: error: the document cannot be read: a value is no number in JSON"},
		{"a number without end", "-.inf", "a value is no number in JSON"},
		{"a key that is null", "{~: 1}", "a.yaml:4: error: the document cannot be read: a key of a mapping is no string"},
		{"a key that is a mapping", "{{a: b}: 1}", "a key of a mapping is no string"},
		{"a tag that does not fit", "!!int abc", "a value with the tag !!int is none"},
		{"a null that is something", "!!null abc", "a value with the tag !!null is none"},
		{"a boolean that is none", "!!bool 1", "a value with the tag !!bool is none"},
		{"a fraction that is none", "!!float x", "a value with the tag !!float is none"},
		{"binary that is no base64", "!!binary '*'", "a !!binary value is no base64"},
		{"a merge of no mapping", "{<<: [1]}", "the merge key << names what is no mapping"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Decode("a.yaml", []byte(head+"spec: "+tt.in+"\n"))
			if !d.Broken || len(d.Diags) != 1 || !strings.Contains(d.Diags[0].String(), tt.want) {
				t.Errorf("want %q, got %v", tt.want, d.Diags)
			}
			if _, err := sigsyaml.YAMLToJSON([]byte(head + "spec: " + tt.in + "\n")); err == nil {
				t.Error("kubectl takes it")
			}
		})
	}
}

// hasLetters reports a plain y, Y, n or N below n, which kubectl reads otherwise.
func hasLetters(n *yaml.Node) bool {
	letter := n.Kind == yaml.ScalarNode && n.Style == 0 && len(n.Value) == 1 && strings.Contains("yYnN", n.Value)
	return letter || slices.ContainsFunc(n.Content, hasLetters)
}

// FuzzValues holds what is read against what kubectl reads.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"a: 1", "[1, 0x2, -.5e3, 1_0]", "{<<: {a: b}, 1: ~}", "&a [*a]", "- !!binary aGk=\n- !!int '1'", "x: |\n  y\n", "? a\n: b", "1.: .5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ReplaceAll(text, "!!", ""), "!") || strings.Contains(text, "0b") {
			return // the tag ! makes a string in quotes a number there; 0b-1 is a number there
		}
		var doc, more yaml.Node
		dec := yaml.NewDecoder(strings.NewReader(text))
		if dec.Decode(&doc) != nil || !errors.Is(dec.Decode(&more), io.EOF) || checkLimits(&doc) != nil || hasLetters(&doc) {
			return
		}
		if twice, _ := duplicateKey(&doc, false); twice != nil {
			return
		}
		got, err := value(doc.Content[0])
		asJSON, wantErr := sigsyaml.YAMLToJSON([]byte(text))
		if err != nil {
			return // there is more that kubectl takes; what is refused is tested above
		}
		var want any
		if wantErr != nil {
			t.Skip() // its older parser takes less
		}
		if err := utiljson.Unmarshal(asJSON, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Error(err)
		}
	})
}
