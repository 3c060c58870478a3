package flux

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/kustomize"
	"github.com/waybill-dev/waybill/render/object"
)

// TestMaskedHasTheShape: a chart that renders with a Secret renders with what stands for it.
func TestMaskedHasTheShape(t *testing.T) {
	for in, want := range map[string]string{
		"":                             "",
		"Hunter-9z":                    "Ivoufs-1a",
		"true":                         "true",
		"abc":                          "abc", // too short to be secret
		"{a: {b: [shop, true, null]}}": "a:\n  b:\n  - tipq\n  - true\n  - null\n",
		"port: 5432\nratio: 0.25\n":    "port: 6543\nratio: 1.36\n",
		"name: name\n":                 "name: obnf\n",
		"- one\n- 1099\n":              "- one\n- 2111\n",
		"{{ no yaml":                   "{{ op zbnm",
	} {
		if diff := cmp.Diff(want, masked(in)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", in, diff)
		}
	}
}

// TestWhatIsHidden: a value of a Secret, and each value in it if it is YAML, but for what is too short, or a word that steers.
func TestWhatIsHidden(t *testing.T) {
	for in, want := range map[string][]string{
		"hunter2": {"hunter2"},
		"abc":     nil,
		"true":    nil,
		"{user: admin, list: [swordfish, 12345]}": {"12345", "admin", "swordfish", "{user: admin, list: [swordfish, 12345]}"},
		"on: true\nshort: abc\n":                  {"on: true\nshort: abc\n"},
	} {
		r := reader{secrets: map[string]bool{}}
		r.hide(in)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(r.secrets))); diff != "" {
			t.Errorf("%q (-want +got)\n%s", in, diff)
		}
	}
}

// TestALaterVariableCounts: of two with one name that of the later entry, be it one that cannot be read, and substitute over all.
func TestALaterVariableCounts(t *testing.T) {
	const open = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: open, namespace: a}\ndata: {one: o1, two: o2}\n"
	const sealed = "apiVersion: v1\nkind: Secret\nmetadata: {name: sealed, namespace: a}\nstringData:\n    two: ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]\n    three: ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]\n" +
		"sops:\n    age: [{recipient: age1xxxx, enc: none}]\n    lastmodified: \"2026-01-01T00:00:00Z\"\n    mac: ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]\n    version: 3.9.0\n"
	const release = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: a}\nspec: {}\n"
	decode := func(text string) []*object.Object {
		d := object.Decode("x.yaml", []byte(text))
		if len(d.Objects) != 1 {
			t.Fatal(d.Diags)
		}
		return d.Objects
	}
	for _, tt := range []struct {
		name         string
		from         []kustomize.Reference
		substitute   map[string]string
		want, sealed []string
	}{
		{"a sealed one after an open one", []kustomize.Reference{{Kind: "ConfigMap", Name: "open"}, {Kind: "Secret", Name: "sealed"}}, nil, []string{"one"}, []string{"three", "two"}},
		{"an open one after a sealed one", []kustomize.Reference{{Kind: "Secret", Name: "sealed"}, {Kind: "ConfigMap", Name: "open"}}, nil, []string{"one", "two"}, []string{"three"}},
		{"substitute", []kustomize.Reference{{Kind: "Secret", Name: "sealed"}}, map[string]string{"three": "s3"}, []string{"three"}, []string{"two"}},
	} {
		r := reader{release: decode(release)[0], shelf: NewIndex(decode(open), decode(sealed)), secrets: map[string]bool{}, setting: Setting{Repository: &Repository{}}}
		f := kustomize.Flux{SubstituteFrom: tt.from}
		f.Overlay.Substitute = tt.substitute
		r.variables(&f)
		if d := cmp.Diff(tt.want, slices.Sorted(maps.Keys(f.Overlay.Substitute))); d != "" || len(r.diags) > 0 {
			t.Errorf("%s: they are (-want +got)\n%s%v", tt.name, d, r.diags)
		}
		if d := cmp.Diff(tt.sealed, slices.Sorted(maps.Keys(f.Overlay.Sealed))); d != "" {
			t.Errorf("%s: encrypted are (-want +got)\n%s", tt.name, d)
		}
	}
}
