package object

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/diag"
)

// decodedAs decodes one manifest.
func decodedAs(t *testing.T, text string) *Object {
	t.Helper()
	d := Decode("x.yaml", []byte(text))
	if len(d.Objects) != 1 {
		t.Fatal(d.Diags)
	}
	return d.Objects[0]
}

// TestMadeOfAnObject holds what is made of an object: what is new of it, what stays, and that the object itself does.
func TestMadeOfAnObject(t *testing.T) {
	const text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, labels: {a: b}}\nspec: {replicas: 1}\n"
	place := diag.Pos{File: "release.yaml", Line: 7}
	giver := decodedAs(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: giver}\n").At(place).Written(diag.Pos{File: "base/a.yaml", Line: 3})
	for _, tt := range []struct {
		name                       string
		of                         func(o *Object) *Object
		ref, version, pos, written string
		private, base              bool
	}{
		{"itself", func(o *Object) *Object { return o }, "Deployment.apps/shop/web", "apps/v1", "x.yaml:1", "x.yaml:1", false, false},
		{"at another place", func(o *Object) *Object { return o.At(place) }, "Deployment.apps/shop/web", "apps/v1", "release.yaml:7", "release.yaml:7", false, false},
		{"written elsewhere", func(o *Object) *Object { return o.Written(place) }, "Deployment.apps/shop/web", "apps/v1", "x.yaml:1", "release.yaml:7", false, false},
		{"from another one", func(o *Object) *Object { return o.From(giver) }, "Deployment.apps/shop/web", "apps/v1", "release.yaml:7", "base/a.yaml:3", false, false},
		{"from another one, and it is known where it is written", func(o *Object) *Object { return o.Written(diag.Pos{File: "mine.yaml"}).From(giver) }, "Deployment.apps/shop/web", "apps/v1", "release.yaml:7", "mine.yaml", false, false},
		{"in another namespace", func(o *Object) *Object { return o.InNamespace("other") }, "Deployment.apps/other/web", "apps/v1", "x.yaml:1", "x.yaml:1", false, false},
		{"in none", func(o *Object) *Object { return o.InNamespace("") }, "Deployment.apps/web", "apps/v1", "x.yaml:1", "x.yaml:1", false, false},
		{"under another name", func(o *Object) *Object { return o.Named("api") }, "Deployment.apps/shop/api", "apps/v1", "x.yaml:1", "x.yaml:1", false, false},
		{"with another annotation", func(o *Object) *Object { return o.Annotated("k", "v") }, "Deployment.apps/shop/web", "apps/v1", "x.yaml:1", "x.yaml:1", false, false},
		{"another object", func(o *Object) *Object {
			return Made(o.Written(place), map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "s", "namespace": "n"}})
		}, "Service/n/s", "v1", "x.yaml:1", "release.yaml:7", false, false},
		{"with Secrets", func(o *Object) *Object { return o.RenderedWith([]string{"hunter2"}) }, "Deployment.apps/shop/web", "apps/v1", "x.yaml:1", "x.yaml:1", true, false},
		{"with no Secrets", func(o *Object) *Object { return o.RenderedWith(nil) }, "Deployment.apps/shop/web", "apps/v1", "x.yaml:1", "x.yaml:1", false, false},
		{"of a base", func(o *Object) *Object { return o.OfBase() }, "Deployment.apps/shop/web", "apps/v1", "x.yaml:1", "x.yaml:1", false, true},
		{"of a base, with Secrets, in another namespace", func(o *Object) *Object { return o.OfBase().RenderedWith([]string{"x"}).InNamespace("n") }, "Deployment.apps/n/web", "apps/v1", "x.yaml:1", "x.yaml:1", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := decodedAs(t, text)
			got := tt.of(o)
			if got.Ref().String() != tt.ref || got.APIVersion() != tt.version || got.Pos().String() != tt.pos || got.Origin().String() != tt.written || got.Private() != tt.private || got.IsBase() != tt.base {
				t.Errorf("it is %s, %s at %s, written at %s, private %v, of a base %v", got.Ref(), got.APIVersion(), got.Pos(), got.Origin(), got.Private(), got.IsBase())
			}
			if again := decodedAs(t, string(got.YAML())); again.Ref() != got.Ref() {
				t.Errorf("its manifest is of %s", again.Ref())
			}
			if diff := cmp.Diff(decodedAs(t, text).Content(), o.Content()); diff != "" || o.Private() || o.IsBase() || o.Pos().File != "x.yaml" {
				t.Errorf("the object was changed:\n%s", diff)
			}
		})
	}
	if o := decodedAs(t, text); o.InNamespace("shop") != o {
		t.Error("an object that is in the namespace is copied")
	}
	bare := decodedAs(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: null}\n").Annotated("k", "v").Annotated("l", "w")
	if diff := cmp.Diff(map[string]string{"k": "v", "l": "w"}, bare.Annotations()); diff != "" {
		t.Errorf("annotations are\n%s", diff)
	}
	sealed := decodedAs(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\nstringData: {p: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]'}\nsops: {mac: 'ENC[AES256_GCM,data:x,iv:y,tag:z,type:str]', lastmodified: '2026-11-21T00:00:00Z', version: 3.9.0}\n")
	if _, is := sealed.Sealed(); !is {
		t.Fatal("it is not sealed")
	}
	if _, is := sealed.With(sealed.Content()).Sealed(); is {
		t.Error("with other content it is written as it was")
	}
}

// TestWithoutApplied holds that what kubectl keeps of a manifest is left out, and nothing else.
func TestWithoutApplied(t *testing.T) {
	const key = "kubectl.kubernetes.io/last-applied-configuration"
	meta := func(annotations map[string]any) map[string]any {
		m := map[string]any{"name": "a"}
		if annotations != nil {
			m["annotations"] = annotations
		}
		return map[string]any{"kind": "ConfigMap", "metadata": m}
	}
	for _, tt := range []struct{ in, want map[string]any }{
		{meta(map[string]any{key: "{}", "k": "v"}), meta(map[string]any{"k": "v"})},
		{meta(map[string]any{key: "{}"}), meta(nil)},
		{meta(map[string]any{"k": "v"}), meta(map[string]any{"k": "v"})},
		{meta(map[string]any{}), meta(map[string]any{})},
		{map[string]any{"kind": "List"}, map[string]any{"kind": "List"}},
	} {
		before := Encode(tt.in)
		if diff := cmp.Diff(tt.want, WithoutApplied(tt.in)); diff != "" {
			t.Errorf("it is (-want +got):\n%s", diff)
		}
		if string(before) != string(Encode(tt.in)) {
			t.Error("what was given is changed")
		}
	}
}

// TestRefs holds how refs are printed, and in which order they are.
func TestRefs(t *testing.T) {
	for _, tt := range []struct {
		ref                       Ref
		text, argument, peopleSay string
	}{
		{Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}, "Deployment.apps/shop/web", "Deployment.apps/web -n shop", "shop/web (Deployment)"},
		{Ref{Kind: "Namespace", Name: "shop"}, "Namespace/shop", "Namespace/shop", "shop (Namespace)"},
	} {
		if tt.ref.String() != tt.text || tt.ref.Argument() != tt.argument || tt.ref.Called() != tt.peopleSay {
			t.Errorf("it is %q, %q and %q", tt.ref.String(), tt.ref.Argument(), tt.ref.Called())
		}
	}
	want := []Ref{{Kind: "B", Name: "a"}, {Group: "x", Kind: "A", Name: "a"}, {Kind: "A", Namespace: "n", Name: "b"}, {Kind: "B", Namespace: "n", Name: "a"}, {Kind: "B", Namespace: "n", Name: "b"}, {Group: "x", Kind: "A", Namespace: "n", Name: "a"}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Ref.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("they are in the order %v", got)
	}
	ranks := []string{"Deployment", "StatefulSet", "DaemonSet", "Rollout", "CronJob", "Job", "PersistentVolumeClaim", "Service", "Ingress", "ConfigMap"}
	for i, kind := range ranks {
		if KindRank(kind) != i || IsWorkload(kind) != (i < 6) {
			t.Errorf("%s matters as number %d, and is a workload: %v", kind, KindRank(kind), IsWorkload(kind))
		}
	}
	refs := Refs([]*Object{decodedAs(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: n}\n")})
	if !maps.Equal(refs, map[Ref]bool{{Kind: "ConfigMap", Namespace: "n", Name: "a"}: true}) {
		t.Errorf("refs are %v", refs)
	}
	scaler := map[string]any{"spec": map[string]any{"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}}
	if got := ScaleTarget("shop", scaler); got != (Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}) {
		t.Errorf("it scales %v", got)
	}
}

// TestParseFieldPath holds that a path that was printed is read back.
func TestParseFieldPath(t *testing.T) {
	for _, path := range [][]any{{"spec"}, {"spec", "rules", 0, "name"}, {"a", 1, 2, "b"}} {
		if got := ParseFieldPath(FieldPath(path)); !slices.Equal(got, path) {
			t.Errorf("%v is read back as %v", path, got)
		}
	}
}

// TestLinePos holds where a line of a text stands: within a block of lines, and nowhere else.
func TestLinePos(t *testing.T) {
	o := decodedAs(t, "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: &m\n  name: a\n  labels:\n    block: |\n      one\n      two\n    plain: one\n    folded: >\n      one\n      two\nspec:\n  again: *m\n")
	for _, tt := range []struct {
		path []any
		line int
		want string
	}{
		{[]any{"metadata", "labels", "block"}, 2, "x.yaml:8"},
		{[]any{"metadata", "labels", "block"}, 0, "x.yaml:6"},
		{[]any{"metadata", "labels", "plain"}, 2, "x.yaml:9"},
		{[]any{"metadata", "labels", "folded"}, 2, "x.yaml:10"},
		{[]any{"metadata", "labels", "none"}, 2, "x.yaml:5"},
		{[]any{"spec", "again", "labels", "block"}, 1, "x.yaml:7"},
	} {
		if got := o.LinePos(tt.path, tt.line).String(); got != tt.want {
			t.Errorf("line %d of %v stands at %s, want %s", tt.line, tt.path, got, tt.want)
		}
	}
}

// TestRedactor holds in which forms a secret is taken out of a text.
func TestRedactor(t *testing.T) {
	r := Redactor([]string{"hunter2", "hunter2-and-more", "a\"b\nc"})
	for text, want := range map[string]string{
		"it says hunter2":  "it says [a secret]",
		"hunter2-and-more": "[a secret]",
		"HUNTER2":          "[a secret]",
		"aHVudGVyMg==":     "[a secret]",
		"a\"b\nc":          "[a secret]",
		`"a\"b\nc"`:        `"[a secret]"`,
		"hunter":           "hunter",
	} {
		if got := r.Replace(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := Redactor([]string{"Hunter2"}).Replace("hunter2 Hunter2"); strings.Contains(got, "unter") {
		t.Errorf("in lower case it is shown: %s", got)
	}
}
