package helm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/helm"
)

// texts answers lookups by kind/name/key.
func texts(known map[string]string) func(helm.ValuesRef) ([]byte, bool, error) {
	return func(ref helm.ValuesRef) ([]byte, bool, error) {
		text, ok := known[ref.Kind+"/"+ref.Name+"/"+ref.Key]
		return []byte(text), ok, nil
	}
}

func config(name string) helm.ValuesRef {
	return helm.ValuesRef{Kind: "ConfigMap", Name: name, Key: "values.yaml"}
}

func at(path string) helm.ValuesRef {
	return helm.ValuesRef{Kind: "Secret", Name: "s", Key: "k", TargetPath: path}
}

func TestCompose(t *testing.T) {
	tests := []struct {
		name, values string
		from         []helm.ValuesRef
		texts        map[string]string
		want         string
	}{
		{name: "values alone", values: "a: 1", want: "a: 1"},
		{
			name: "later references win over earlier ones, and values over both", values: "c: {z: own}", from: []helm.ValuesRef{config("x"), config("y")},
			texts: map[string]string{"ConfigMap/x/values.yaml": "a: x\nb: x\nc: {k: x, z: x}", "ConfigMap/y/values.yaml": "b: y\nc: {l: y, z: y}"},
			want:  "{a: x, b: y, c: {k: x, l: y, z: own}}",
		},
		{
			name: "a mapping and a scalar replace each other", from: []helm.ValuesRef{config("x"), config("y")},
			texts: map[string]string{"ConfigMap/x/values.yaml": "flat: value\nnested: {configuration: value}", "ConfigMap/y/values.yaml": "flat: {nested: value}\nnested: value"},
			want:  "{flat: {nested: value}, nested: value}",
		},
		{name: "a null stays", values: "a: null", want: "a: null"},
		{name: "a target path", from: []helm.ValuesRef{at("a.b[1].c")}, texts: map[string]string{"Secret/s/k": "v"}, want: "a: {b: [null, {c: v}]}"},
		{
			name: "a target path wins over values it reaches into", values: "nested: {list: [l, i, o]}", from: []helm.ValuesRef{at("nested.list[0]"), config("x")},
			texts: map[string]string{"Secret/s/k": "v", "ConfigMap/x/values.yaml": "nested: {list: [1]}"},
			want:  "nested: {list: [v, i, o]}",
		},
		{name: "a target path of the first level does not win over values", values: "a: own", from: []helm.ValuesRef{at("a")}, texts: map[string]string{"Secret/s/k": "v"}, want: "a: own"},
		{name: "a boolean", from: []helm.ValuesRef{at("a")}, texts: map[string]string{"Secret/s/k": "true"}, want: "a: true"},
		{name: "a boolean in quotes is a string", from: []helm.ValuesRef{at("a")}, texts: map[string]string{"Secret/s/k": `"true"`}, want: `a: "true"`},
		{name: "a list", from: []helm.ValuesRef{at("a")}, texts: map[string]string{"Secret/s/k": "{x,z}"}, want: "a: [x, z]"},
		{name: "several at once", from: []helm.ValuesRef{at("a")}, texts: map[string]string{"Secret/s/k": "x,b=z"}, want: "{a: x, b: z}"},
		{name: "a key with dots", from: []helm.ValuesRef{at(`a.kubernetes\.io/role`)}, texts: map[string]string{"Secret/s/k": "m"}, want: "a: {kubernetes.io/role: m}"},
		{
			name: "a literal", from: []helm.ValuesRef{{Kind: "Secret", Name: "s", Key: "k", TargetPath: "a", Literal: true}},
			texts: map[string]string{"Secret/s/k": "x,b=[y]"}, want: "a: x,b=[y]",
		},
		{
			name: "a fact of the cluster is a string", from: []helm.ValuesRef{{Kind: "Cluster", Key: "labels.n", TargetPath: "a.b", Literal: true}},
			texts: map[string]string{"Cluster//labels.n": "12"}, want: `a: {b: "12"}`,
		},
		{name: "what is optional", values: "a: 1", from: []helm.ValuesRef{{Kind: "Secret", Name: "no", Key: "k", Optional: true}}, want: "a: 1"},
		{name: "a number in single quotes is a string", from: []helm.ValuesRef{at("a")}, texts: map[string]string{"Secret/s/k": `'7'`}, want: `a: "7"`},
		{name: "a quote that does not end is a part of it", from: []helm.ValuesRef{at("a")}, texts: map[string]string{"Secret/s/k": `'true`}, want: `a: "'true"`},
		{name: "a file of null", values: "a: 1", from: []helm.ValuesRef{config("x")}, texts: map[string]string{"ConfigMap/x/values.yaml": "null"}, want: "a: 1"},
		{name: "a mapping replaces a list", values: "a: {b: 1}", from: []helm.ValuesRef{config("x")}, texts: map[string]string{"ConfigMap/x/values.yaml": "a: [1]"}, want: "a: {b: 1}"},
		{name: "an empty file", values: "a: 1", from: []helm.ValuesRef{config("x")}, texts: map[string]string{"ConfigMap/x/values.yaml": ""}, want: "a: 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			values := decoded(t, tt.values)
			got, problems := (&helm.Spec{Values: values, ValuesFrom: tt.from}).Compose(texts(tt.texts))
			if len(problems) > 0 {
				t.Errorf("problems: %v", problems)
			}
			if diff := cmp.Diff(decoded(t, tt.want), map[string]any(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decoded(t, tt.values), values); diff != "" {
				t.Errorf("the values of the release were changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestComposeKeepsTheTypesOfNumbers(t *testing.T) {
	spec := helm.Spec{Values: map[string]any{"a": int64(1000000)}, ValuesFrom: []helm.ValuesRef{at("b"), config("x")}}
	got, _ := spec.Compose(texts(map[string]string{"Secret/s/k": "1000000", "ConfigMap/x/values.yaml": "c: 1000000"}))
	want := helm.Values{"a": float64(1000000), "b": int64(1000000), "c": float64(1000000)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestComposeReports(t *testing.T) {
	tests := []struct {
		name   string
		ref    helm.ValuesRef
		lookup func(helm.ValuesRef) ([]byte, bool, error)
		want   string
	}{
		{"what is not there", config("x"), texts(nil), `spec.valuesFrom[0] names the key "values.yaml" of the ConfigMap "x", which is not there`},
		{"what is optional, and cannot be read", helm.ValuesRef{Kind: "Secret", Name: "s", Key: "k", Optional: true}, func(helm.ValuesRef) ([]byte, bool, error) { return nil, false, errors.New("sealed") }, "cannot be read: sealed"},
		{"what is not there of the cluster", helm.ValuesRef{Kind: "Cluster", Key: "labels.n", TargetPath: "a"}, texts(nil), "spec.valuesFrom[0] names labels.n of the cluster, which is not there"},
		{"what cannot be read", config("x"), func(helm.ValuesRef) ([]byte, bool, error) { return nil, false, errors.New("sealed") }, "cannot be read: sealed"},
		{"no mapping", config("x"), texts(map[string]string{"ConfigMap/x/values.yaml": "text"}), "holds no YAML mapping: "},
		{"no mapping in a Secret", helm.ValuesRef{Kind: "Secret", Name: "s", Key: "k"}, texts(map[string]string{"Secret/s/k": "s3cret"}), "holds no YAML mapping"},
		{"a Secret whose mistake YAML quotes", helm.ValuesRef{Kind: "Secret", Name: "s", Key: "k"}, texts(map[string]string{"Secret/s/k": "password: *s3cret"}), "holds no YAML mapping"},
		{"a text that --set cannot read", at("a"), texts(map[string]string{"Secret/s/k": "x,s3cret"}), `spec.valuesFrom[0].targetPath is "a"`},
		{"an index over the limit", at("a[65537]"), texts(map[string]string{"Secret/s/k": "x"}), "cannot be set"},
		{"a path that is too deep", at(strings.Repeat("a.", 40) + "b"), texts(map[string]string{"Secret/s/k": "x"}), "cannot be set"},
		{"too much", config("x"), texts(map[string]string{"ConfigMap/x/values.yaml": "a: " + strings.Repeat("b", 5<<20)}), "5242880 is the limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := (&helm.Spec{ValuesFrom: []helm.ValuesRef{tt.ref}}).Compose(tt.lookup)
			if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.want) {
				t.Fatalf("got %v, want one problem with %q", problems, tt.want)
			}
			if strings.Contains(problems[0].Message, "s3cret") {
				t.Errorf("the message shows the value: %s", problems[0].Message)
			}
		})
	}
}

func FuzzCompose(f *testing.F) {
	f.Add("a: {b: [1]}", "a.b[0].c", "x,y={1,2}")
	f.Add("a: 1", "a[0]", "")
	f.Fuzz(func(t *testing.T, values, path, text string) {
		var own map[string]any
		if yaml.Unmarshal([]byte(values), &own) != nil || path == "" {
			return
		}
		spec := helm.Spec{Values: own, ValuesFrom: []helm.ValuesRef{at(path)}}
		known := texts(map[string]string{"Secret/s/k": text})
		first, p1 := spec.Compose(known)
		second, p2 := spec.Compose(known)
		if diff := cmp.Diff(first, second) + cmp.Diff(p1, p2); diff != "" {
			t.Errorf("composing twice differs:\n%s", diff)
		}
	})
}
