package override_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
)

// FuzzPatch shows that two operations do to an object, in place, what the JSON patch library
// does to its JSON, and fail with the error of the library.
func FuzzPatch(f *testing.F) {
	const object = `{"kind": "Foo", "spec": {"a/b": [1, "x", {"c": null}], "n": 1.0}, "list": [[], {}]}`
	for _, value := range []string{`1`, `{"c": [2]}`, `null`} {
		for _, path := range []string{"/spec/n", "/spec/none", "/spec/a~1b/-", "/spec/a~1b/-1", "/spec/a~1b/3", "/spec/a~1b/2/c/d", "/spec/a~1b/-1/c", "/list/-1/x", "/list/0/0", "/list/x", "spec"} {
			for which := range uint8(9) {
				f.Add([]byte(object), which, path, "/spec/a~1b/0", []byte(value))
			}
		}
	}
	operators := []karmada.OverriderOperator{karmada.OverriderOpAdd, karmada.OverriderOpRemove, karmada.OverriderOpReplace}
	f.Fuzz(func(t *testing.T, doc []byte, which uint8, first, second string, value []byte) {
		var obj map[string]any
		if utiljson.Unmarshal(doc, &obj) != nil || !json.Valid(value) || obj["kind"] != "Foo" {
			t.Skip()
		}
		var ov karmada.Overriders
		var patch jsonpatch.Patch
		for i, path := range []string{first, second} {
			if foreign(path) || !utf8.ValidString(path) {
				t.Skip()
			}
			op := operators[int(which)/(1+2*i)%len(operators)]
			ov.Plaintext = append(ov.Plaintext, karmada.PlaintextOverrider{Operator: op, Path: path, Value: value})
			patch = append(patch, jsonpatch.Operation{"op": encoded(t, op), "path": encoded(t, path), "value": (*json.RawMessage)(&value)})
		}
		got, _, err := override.Apply(obj, &ov)
		want, wantErr := patch.Apply(encode(t, obj))
		if wantErr != nil {
			if err == nil || !strings.HasSuffix(err.Error(), wantErr.Error()) {
				t.Fatalf("error %v, the library has %v", err, wantErr)
			}
			return
		}
		var patched map[string]any
		if uerr := utiljson.Unmarshal(want, &patched); uerr != nil {
			t.Fatal(uerr)
		}
		if kind, _ := patched["kind"].(string); kind == "" {
			return // which Apply refuses
		}
		if diff := cmp.Diff(patched, got); err != nil || diff != "" {
			t.Fatalf("error %v, result (-library +in place):\n%s", err, diff)
		}
	})
}

// foreign reports a path with which Apply does other than the library, or asks it: one of the
// whole object, with an empty key, or to what only a server sets.
func foreign(path string) bool {
	keys := strings.Split(path, "/")[1:]
	return path == "" || slices.Contains(keys, "") || len(keys) > 0 && (keys[0] == "status" || keys[0] == "metadata")
}

func encoded(t *testing.T, v any) *json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return (*json.RawMessage)(&data)
}
