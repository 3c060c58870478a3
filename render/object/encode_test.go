package object

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// readBack decodes what kubectl would decode from y.
func readBack(t *testing.T, y []byte) map[string]any {
	t.Helper()
	asJSON, err := sigsyaml.YAMLToJSON(y)
	if err != nil {
		t.Fatalf("kubectl's parser refuses it: %v\n%s", err, y)
	}
	var m map[string]any
	if err := utiljson.Unmarshal(asJSON, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestEncode(t *testing.T) {
	got := string(Encode(map[string]any{
		"b": []any{map[string]any{"name": "c", "args": []any{"--x=1", "y"}}, []any{int64(1), []any{}}, map[string]any{}},
		"a": map[string]any{"empty": map[string]any{}, "none": nil, "list": []any{}},
		"s": map[string]any{"bool": "yes", "num": "012", "time": "12:30", "text": "two\nlines\n", "open": "two\nlines", "colon": "a: b", "quote": "it's: x", "q": "3Gi", "long": "a\n\n\n"},
		"n": []any{int64(-3), 0.5, 1e21, true},
	}))
	want := `a:
  empty: {}
  list: []
  none: null
b:
- args:
  - --x=1
  - "y"
  name: c
- - 1
  - []
- {}
'n':
- -3
- 0.5
- 1.0e+21
- true
s:
  bool: 'yes'
  colon: 'a: b'
  long: |+
    a


  num: '012'
  open: |-
    two
    lines
  q: 3Gi
  quote: 'it''s: x'
  text: |
    two
    lines
  time: '12:30'
`
	want = strings.Replace(want, `"y"`, `'y'`, 1)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// hard are strings that some YAML version reads as something else when they are
// not quoted, or that block scalars mangle.
var hard = []string{
	"", " ", "~", "null", "Null", "NULL", "yes", "No", "ON", "off", "y", "N", "true", "False", "1", "-1", "+1", "0x1F", "0o7", "0b1", "017",
	"1_000", "1e3", "1E+3", ".5", "-.5", ".inf", "-.Inf", ".nan", "12:30:45", "2001-01-01", "2001-12-14t21:59:43.10-05:00", "1.2.3.4", "=", "<<",
	"- a", "-", "--", "---", "--- x", "...", "? a", ": a", "a:", "a: b", "a #b", "#a", "&a", "*a", "!a", "|", ">", "'a'", "\"a\"", "%a", "@a", "`a", "[a]", "{a}",
	"a\tb", "\ta", "a\n", "\na", " a\nb", "a\n b\n", "a\r\nb", "a\n\n\n", "\n", "\n\n", "a\n\tb", "a \nb ", "a\n  \nb", "a\u0085b", "a\u2028b", "\ufeffa", "é", "日本", "😀 x", "a\x00b", "\x7f", "a\\b", "\x00\"\\", "\"\x1b\" \\", "it's", strings.Repeat("k", 2000), "0", "-0", "08", "e5", "abc", "deadbeef", "1a", "::", "a::b", "!!binary x",
}

func TestStringsSurvive(t *testing.T) {
	for _, s := range hard {
		t.Run(fmt.Sprintf("%.20q", s), func(t *testing.T) { survives(t, s) })
	}
}

// survives checks that s comes back as it was as a value, a key and an item, from
// kubectl's parser (YAML 1.1) and from a newer one.
func survives(t *testing.T, s string) {
	t.Helper()
	in := map[string]any{"v": s, "l": []any{s, map[string]any{"x": s, "z": []any{s}}}, "m": map[string]any{s: s, "after": int64(1)}}
	y := Encode(in)
	if d := cmp.Diff(in, readBack(t, y)); d != "" {
		t.Errorf("YAML 1.1: %s\n%s", d, y)
	}
	var v3 struct {
		V string `yaml:"v"`
		L []any  `yaml:"l"`
		M map[string]any
	}
	if err := yaml.Unmarshal(y, &v3); err != nil {
		t.Fatalf("yaml.v3 refuses it: %v\n%s", err, y)
	}
	if v3.V != s || v3.L[0] != s || v3.M[s] != s {
		t.Errorf("yaml.v3 reads %q, %q\n%s", v3.V, v3.L[0], y)
	}
}

func FuzzStringsSurvive(f *testing.F) {
	for _, s := range hard {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "after" || !utf8.ValidString(s) {
			t.Skip() // JSON, and so a manifest, holds valid UTF-8 only
		}
		survives(t, s)
	})
}

func BenchmarkEncode(b *testing.B) {
	d := Decode("a.yaml", []byte(deployment))
	b.ReportAllocs()
	for b.Loop() {
		Encode(d.Objects[0].Content())
	}
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(deployment)))
	for b.Loop() {
		Decode("a.yaml", []byte(deployment))
	}
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: web, tier: front}
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: main
        image: registry.example.io/shop/web:v1.2.3
        args: ["--listen=:8080", "--verbose"]
        ports:
        - containerPort: 8080
        resources:
          requests: {cpu: 100m, memory: 128Mi}
          limits: {memory: 256Mi}
        env:
        - name: MODE
          value: "on"
        - name: CONFIG
          valueFrom: {configMapKeyRef: {name: web, key: config}}
        readinessProbe:
          httpGet: {path: /healthz, port: 8080}
`

func TestDecodeCanonical(t *testing.T) {
	d := Decode("a.yaml", []byte(deployment))
	y := d.Objects[0].YAML()
	got, err := DecodeCanonical(y)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Objects[0].Content(), got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "a", "a:\n", "a: [1]\n", "a: 1", "a: &x 1\n", "- a\n", "a:\n   b: 1\n", "a: 1\n b: 2\n", "# c\na: 1\n", "a: yes\n", "{}\n{}\n", "a: 'x\n"} {
		if m, err := DecodeCanonical([]byte(bad)); err == nil {
			if string(Encode(m)) != bad {
				t.Errorf("%q is read as %v, which is written otherwise", bad, m)
			}
		}
	}
}

// FuzzDecodeCanonical checks that what Encode writes is read back, whatever the
// strings in it.
func FuzzDecodeCanonical(f *testing.F) {
	for i, s := range hard {
		f.Add(s, hard[len(hard)-1-i], int64(i), float64(i)/3)
	}
	f.Fuzz(func(t *testing.T, s, u string, n int64, x float64) {
		if !utf8.ValidString(s) || !utf8.ValidString(u) || len(s) > 800 || len(u) > 800 || x != x || x > 1e300 || x < -1e300 || x == float64(int64(x)) {
			t.Skip()
		}
		in := map[string]any{
			"k" + s: s, "l": []any{s, []any{u, []any{}}, map[string]any{u: n, "z": map[string]any{"y": s}}, nil, map[string]any{}, x},
			"m": map[string]any{"a": u, "b": []any{map[string]any{"c": true, "d": s}}, "e": n}, "z": false,
		}
		y := Encode(in)
		got, err := DecodeCanonical(y)
		if err != nil {
			t.Fatalf("%v\n%s", err, y)
		}
		if diff := cmp.Diff(in, got); diff != "" {
			t.Fatalf("%s\n%s", diff, y)
		}
	})
}

func BenchmarkDecodeCanonical(b *testing.B) {
	d := Decode("a.yaml", []byte(deployment))
	y := d.Objects[0].YAML()
	b.ReportAllocs()
	b.SetBytes(int64(len(y)))
	for b.Loop() {
		if _, err := DecodeCanonical(y); err != nil {
			b.Fatal(err)
		}
	}
}
