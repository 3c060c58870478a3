package object

import "testing"

func TestDefines(t *testing.T) {
	const head = "kind: CustomResourceDefinition\nmetadata: {name: x}\n"
	for _, tt := range []struct {
		name, text string
		want       Definition
		ok         bool
	}{
		{"namespaced", "apiVersion: apiextensions.k8s.io/v1\n" + head + "spec: {group: a.io, scope: Namespaced, names: {kind: K}}\n", Definition{GroupKind{"a.io", "K"}, true}, true},
		{"cluster-scoped", "apiVersion: apiextensions.k8s.io/v1beta1\n" + head + "spec: {group: a.io, scope: Cluster, names: {kind: K}}\n", Definition{GroupKind{"a.io", "K"}, false}, true},
		{"without a spec", "apiVersion: apiextensions.k8s.io/v1\n" + head, Definition{GroupKind{}, true}, true},
		{"another kind of the group", "apiVersion: apiextensions.k8s.io/v1\nkind: ConversionReview\nmetadata: {name: x}\nspec: {group: a.io, names: {kind: K}}\n", Definition{}, false},
		{"of another group", "apiVersion: example.com/v1\n" + head + "spec: {group: a.io, names: {kind: K}}\n", Definition{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, ds := Single("x.yaml", []byte(tt.text))
			if o == nil {
				t.Fatal(ds)
			}
			if got, ok := o.Defines(); got != tt.want || ok != tt.ok {
				t.Errorf("it defines %+v, %t; want %+v, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestFieldPath(t *testing.T) {
	for want, path := range map[string][]any{
		"":                   nil,
		"spec":               {"spec"},
		"spec.rules[0].name": {"spec", "rules", 0, "name"},
		"[1][2]":             {1, 2},
	} {
		if got := FieldPath(path); got != want {
			t.Errorf("%v prints as %q, want %q", path, got, want)
		}
	}
}
