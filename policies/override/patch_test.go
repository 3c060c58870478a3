package override_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
)

func TestPlaintext(t *testing.T) {
	const args = "/spec/template/spec/containers/0/args"
	one := func(operator, path, rest string) string {
		return `plaintext: [{operator: ` + operator + `, path: "` + path + `"` + rest + `}]`
	}
	run(t, []test{
		{name: "replace existing", object: deployment, overriders: one("replace", "/spec/replicas", ", value: 3"), want: map[string]string{"/spec/replicas": "3"}},
		{name: "replace missing", object: deployment, overriders: one("replace", "/spec/paused", ", value: true"), err: "applying plaintext[0]: /spec/paused: replace operation does not apply: doc is missing key: /spec/paused: missing value"},
		{name: "add a missing leaf", object: deployment, overriders: one("add", "/spec/paused", ", value: true"), want: map[string]string{"/spec/paused": "true"}},
		{name: "add overwrites", object: deployment, overriders: one("add", "/spec/replicas", ", value: 9"), want: map[string]string{"/spec/replicas": "9"}},
		{name: "add below what is missing", object: deployment, overriders: one("add", "/spec/strategy/type", ", value: x"), err: `add operation does not apply: doc is missing path: "/spec/strategy/type": missing value`},
		{name: "remove existing", object: deployment, overriders: one("remove", "/spec/replicas", ""), want: map[string]string{"/spec/replicas": "none"}},
		{name: "remove missing", object: deployment, overriders: one("remove", "/spec/paused", ""), err: "unable to remove nonexistent key: paused: missing value"},
		{name: "remove with a value", object: deployment, overriders: one("remove", "/spec/replicas", ", value: 7"), want: map[string]string{"/spec/replicas": "none"}},
		{name: "add without a value", object: deployment, overriders: one("add", "/spec/paused", ""), want: map[string]string{"/spec/paused": "null"}},
		{name: "replace without a value", object: deployment, overriders: one("replace", "/spec/replicas", ""), want: map[string]string{"/spec/replicas": "null"}},
		{name: "append to a list", object: deployment, overriders: one("add", args+"/-", ", value: q"), want: map[string]string{args: `["a","b","a","q"]`}},
		{name: "insert into a list", object: deployment, overriders: one("add", args+"/0", ", value: q"), want: map[string]string{args: `["q","a","b","a"]`}},
		{name: "insert what is there already", object: deployment, overriders: one("add", args+"/0", ", value: a"), want: map[string]string{args: `["a","a","b","a"]`}},
		{name: "replace the last", object: deployment, overriders: one("replace", args+"/-1", ", value: q"), want: map[string]string{args: `["a","b","q"]`}},
		{name: "remove the last", object: deployment, overriders: one("remove", args+"/-1", ""), want: map[string]string{args: `["a","b"]`}},
		{name: "add far behind the end", object: deployment, overriders: one("add", args+"/9", ", value: q"), err: "Unable to access invalid index: 9: invalid index referenced"},
		{name: "replace the first, counted from the end", object: deployment, overriders: one("replace", args+"/-3", ", value: q"), want: map[string]string{args: `["q","b","a"]`}},
		{name: "replace before the first", object: deployment, overriders: one("replace", args+"/-4", ", value: q"), err: "doc is missing key: " + args + "/-4"},
		{name: "replace behind the last", object: deployment, overriders: one("replace", args+"/3", ", value: q"), err: "doc is missing key: " + args + "/3"},
		{name: "replace what is no index", object: deployment, overriders: one("replace", args+"/x", ", value: q"), err: "doc is missing key: " + args + "/x"},
		{name: "remove before the first", object: deployment, overriders: one("remove", args+"/-4", ""), err: "Unable to access invalid index: -4"},
		{name: "remove behind the last", object: deployment, overriders: one("remove", args+"/3", ""), err: "Unable to access invalid index: 3"},
		{name: "remove what would be appended", object: deployment, overriders: one("remove", args+"/-", ""), err: "error in remove for path"},
		{name: "add before the first, counted from the end", object: deployment, overriders: one("add", args+"/-4", ", value: q"), want: map[string]string{args: `["q","a","b","a"]`}},
		{name: "add before that", object: deployment, overriders: one("add", args+"/-5", ", value: q"), err: "Unable to access invalid index: -5"},
		{name: "add what is no index", object: deployment, overriders: one("add", args+"/x", ", value: q"), err: "value was not a proper array index: 'x'"},
		{name: "add at the end", object: deployment, overriders: one("add", args+"/3", ", value: q"), want: map[string]string{args: `["a","b","a","q"]`}},
		{name: "a path without a slash", object: deployment, overriders: one("replace", "spec/replicas", ", value: 3"), err: "applying plaintext[0]: spec/replicas: "},
		{name: "an escaped key", object: deployment, overriders: one("add", "/metadata/labels/a.b~1c", ", value: v"), want: map[string]string{"/metadata/labels": `{"a.b/c":"v","app":"x"}`}},
		{name: "a whole object as value", object: deployment, overriders: one("add", "/metadata/annotations", ", value: {k: v}"), want: map[string]string{"/metadata/annotations": `{"k":"v"}`}},
		{
			name: "the second of two fails", object: deployment,
			overriders: "plaintext: [{operator: replace, path: /spec/replicas, value: 3}, {operator: remove, path: /spec/none}]",
			err:        "applying plaintext[1]: /spec/none: ",
		},
		{
			name: "the first of two fails", object: deployment,
			overriders: "plaintext: [{operator: remove, path: /spec/none}, {operator: replace, path: /spec/replicas, value: 3}]",
			err:        "applying plaintext[0]: /spec/none: ",
		},
		{name: "the empty path", object: deployment, overriders: one("replace", "", ", value: {apiVersion: v1, kind: Foo}"), want: map[string]string{"": `{"apiVersion":"v1","kind":"Foo"}`}},
		{name: "the empty path and null", object: deployment, overriders: one("replace", "", ", value: null"), err: "applying plaintext[0]: the whole object: a whole document cannot become null"},
		{name: "the empty path and a list", object: deployment, overriders: one("add", "", ", value: [1]"), err: "decoding the patched object"},
		{
			name: "the whole object becomes a list among others", object: deployment,
			overriders: `plaintext: [{operator: add, path: /a, value: 1}, {operator: replace, path: "", value: []}]`,
			err:        "applying plaintext[1]: the whole object: decoding the patched object",
		},
		{
			name: "the whole object becomes a list after its kind changed", object: deployment,
			overriders: `plaintext: [{operator: replace, path: /kind, value: Foo}, {operator: replace, path: "", value: []}]`,
			err:        "applying plaintext[1]: the whole object: decoding the patched object",
		},
		{
			name: "what is done after the whole object fails", object: deployment,
			overriders: `plaintext: [{operator: add, path: "", value: {kind: Foo}}, {operator: remove, path: /spec}, {operator: add, path: /a, value: 1}]`,
			err:        "applying plaintext[1]: /spec: ",
		},
		{name: "the empty path and no object at all", object: deployment, overriders: one("remove", "", ""), err: "applying plaintext[0]: the whole object: "},
		{
			name: "the index of an error counts what was done to the whole object", object: deployment,
			overriders: `plaintext: [{operator: remove, path: /status}, {operator: add, path: "", value: {kind: Foo}}, {operator: add, path: /a, value: 1}, {operator: remove, path: /spec}]`,
			err:        "applying plaintext[3]: /spec: ",
		},
		{
			name: "the whole object among others", object: deployment,
			overriders: `plaintext: [{operator: remove, path: /status}, {operator: add, path: "", value: {kind: Foo, status: {}}}, {operator: add, path: /a, value: 1}, {operator: remove, path: /status/x}]`,
			want:       map[string]string{"": `{"a":1,"kind":"Foo","status":{}}`},
		},
		{name: "a key that is empty", object: deployment, overriders: one("add", "/metadata/labels/", ", value: v"), want: map[string]string{"/metadata/labels": `{"":"v","app":"x"}`}},
		{name: "a key that leads behind the end of a list", object: deployment, overriders: one("add", "/spec/template/spec/containers/2/image", ", value: q"), err: "doc is missing path"},
		{name: "a key that leads before the beginning of a list", object: deployment, overriders: one("add", "/spec/template/spec/containers/-3/image", ", value: q"), err: "doc is missing path"},
		{name: "a key that is no index", object: deployment, overriders: one("add", "/spec/template/spec/containers/c/image", ", value: q"), err: "doc is missing path"},
		{
			name: "the second has an unknown operator", object: deployment,
			overriders: "plaintext: [{operator: remove, path: /spec/replicas}, {operator: test, path: /spec/replicas, value: 1}]",
			err:        "applying plaintext[1]: /spec/replicas: operator",
		},
		{name: "no kind is left", object: deployment, overriders: one("remove", "/kind", ""), err: "applying plaintext[0]: /kind: the patched object has no kind"},
		{
			name: "no kind is left among others", object: deployment,
			overriders: "plaintext: [{operator: add, path: /a, value: 1}, {operator: remove, path: /kind}, {operator: add, path: /b, value: 1}]",
			err:        "applying plaintext[1]: /kind: the patched object has no kind",
		},
		{
			name: "the whole object has no kind among others", object: deployment,
			overriders: `plaintext: [{operator: add, path: /a, value: 1}, {operator: replace, path: "", value: {a: b}}, {operator: add, path: /b, value: 1}]`,
			err:        "applying plaintext[1]: the whole object: the patched object has no kind",
		},
		{
			name: "the last that was done to the kind left none", object: deployment,
			overriders: "plaintext: [{operator: replace, path: /kind, value: Foo}, {operator: remove, path: /kind}, {operator: add, path: /b, value: 1}]",
			err:        "applying plaintext[1]: /kind: the patched object has no kind",
		},
		{name: "the kind is a number", object: deployment, overriders: one("replace", "/kind", ", value: 1"), err: "the patched object has no kind"},
		{name: "a fraction of a replica", object: deployment, overriders: one("replace", "/spec/replicas", ", value: 3.5"), want: map[string]string{"/spec/replicas": "3.5"}},
		{name: "an unknown operator", object: deployment, overriders: one("test", "/spec/replicas", ", value: 1"), err: `operator "test" is none of add, remove and replace`},
		{name: "the same value", object: deployment, overriders: one("replace", "/spec/replicas", ", value: 1"), want: map[string]string{"/spec/replicas": "1"}},
		{
			name: "plaintext comes last", object: deployment,
			overriders: "{plaintext: [{operator: replace, path: /metadata/labels/app, value: plain}], labelsOverrider: [{operator: replace, value: {app: label}}]}",
			want:       map[string]string{"/metadata/labels": `{"app":"plain"}`},
		},
	})
}

// Objects that Karmada patches have labels, annotations, a status and what a
// server sets.
func TestPlaintextOnWhatAManifestLacks(t *testing.T) {
	run(t, []test{
		{
			name: "a map that a patch empties stays", object: "{kind: Foo, metadata: {labels: {a: b}}}",
			overriders: "plaintext: [{operator: remove, path: /metadata/labels/a}]",
			want:       map[string]string{"": `{"kind":"Foo","metadata":{"labels":{}}}`},
		},
		{
			name: "what only a server sets is removed in vain", object: deployment,
			overriders: `plaintext: [{operator: remove, path: /status}, {operator: remove, path: /metadata/uid}, {operator: remove, path: /metadata/resourceVersion},
  {operator: remove, path: /metadata/generation}, {operator: remove, path: /metadata/creationTimestamp}, {operator: remove, path: /metadata/managedFields}, {operator: remove, path: /status/conditions/0}]`,
		},
		{
			name: "what only a server sets is removed where it is", object: "{kind: Foo, status: {a: 1}}",
			overriders: "plaintext: [{operator: remove, path: /status}]",
			want:       map[string]string{"": `{"kind":"Foo"}`},
		},
		{
			name: "what a list of the server's lacks is removed in vain", object: "{kind: Foo, status: {conditions: [1]}}",
			overriders: "plaintext: [{operator: remove, path: /status/conditions/1}, {operator: remove, path: /status/conditions/0}, {operator: remove, path: /status/conditions/0}]",
			want:       map[string]string{"": `{"kind":"Foo","status":{"conditions":[]}}`},
		},
		{
			name: "nothing is added to a list of the server's behind its end", object: "{kind: Foo, status: {conditions: []}}",
			overriders: "plaintext: [{operator: add, path: /status/conditions/1, value: 1}]", err: "Unable to access invalid index: 1",
		},
		{
			name: "it is removed where an entry before has added it", object: "{kind: Foo}",
			overriders: "plaintext: [{operator: add, path: /a, value: 1}, {operator: add, path: /status, value: 1}, {operator: remove, path: /status}, {operator: remove, path: /a}, {operator: add, path: /b, value: 2}]",
			want:       map[string]string{"": `{"b":2,"kind":"Foo"}`},
		},
		{
			name: "the index of an error counts what was removed in vain", object: deployment,
			overriders: "plaintext: [{operator: remove, path: /status}, {operator: add, path: /a, value: 1}, {operator: remove, path: /spec/none}]",
			err:        "applying plaintext[2]: /spec/none: ",
		},
		{
			name: "replace is not remove", object: deployment,
			overriders: "plaintext: [{operator: replace, path: /status, value: 1}]", err: "applying plaintext[0]: /status: ",
		},
		{
			name: "a uid elsewhere is no server's", object: deployment,
			overriders: "plaintext: [{operator: remove, path: /spec/uid}]", err: "applying plaintext[0]: /spec/uid: ",
		},
		{
			name: "a name is no server's", object: "{kind: Foo}",
			overriders: "plaintext: [{operator: remove, path: /metadata/name}]", err: "applying plaintext[0]: /metadata/name: ",
		},
	})
}

func TestPlaintextKeepsNumbers(t *testing.T) {
	obj := object(t, "{kind: Foo, big: 9007199254740993, small: -9223372036854775808, half: 0.5, html: <&>}")
	const beyond = float64(1 << 63)
	obj["read"] = map[string]any{"list": []any{1.0, 0.5, beyond, []any{2.0}}, "number": 3.0}
	got, _, err := override.Apply(obj, overriders(t, "plaintext: [{operator: add, path: /added, value: 9007199254740995}]"))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"big": int64(9007199254740993), "small": int64(-9223372036854775808), "half": 0.5,
		"added": int64(9007199254740995), "html": "<&>",
	} {
		if got[key] != want {
			t.Errorf("%s is %v (%[2]T), want %v (%[3]T)", key, got[key], want)
		}
	}
	read := map[string]any{"list": []any{int64(1), 0.5, beyond, []any{int64(2)}}, "number": int64(3)}
	if diff := cmp.Diff(read, got["read"]); diff != "" {
		t.Errorf("what was read with fractions (-want +got):\n%s", diff)
	}
	if n := obj["read"].(map[string]any)["number"]; n != 3.0 {
		t.Errorf("the object was modified: %v (%[1]T)", n)
	}
}

// TestARuleSeesWhatTheRuleBeforeMade holds that numbers of a patch are plain for the patch after it, and that args are strings for the
// overrider after a patch.
func TestARuleSeesWhatTheRuleBeforeMade(t *testing.T) {
	value := func(path, value string) *karmada.Overriders {
		return &karmada.Overriders{Plaintext: []karmada.PlaintextOverrider{{Path: path, Operator: "add", Value: []byte(value)}}}
	}
	const args = "/spec/template/spec/containers/0/args"
	arg := overriders(t, "argsOverrider: [{containerName: c, operator: add, value: [q]}]")
	halves := object(t, `{kind: Pod, spec: {containers: [{name: c, image: "a:1", args: [b]}]}}`)
	halves["spec"].(map[string]any)["containers"] = append(halves["spec"].(map[string]any)["containers"].([]any), map[string]any{"cpus": 3.0})
	tag := overriders(t, "imageOverrider: [{component: Tag, operator: replace, value: '2', predicate: {path: /spec/containers/0/image}}]")
	for _, tt := range []struct {
		name   string
		object map[string]any
		rules  []*karmada.Overriders
		path   string
		want   any
	}{
		{"a number is as it was written", object(t, deployment), []*karmada.Overriders{value("/a", "1.0")}, "a", 1.0},
		{"a number is plain once another rule patches", object(t, deployment), []*karmada.Overriders{value("/a", "1.0"), value("/b", "2")}, "a", int64(1)},
		{"a number of a list that another overrider opened", halves, []*karmada.Overriders{tag, value("/b", "2")}, "/spec/containers/1/cpus", "3"},
		{"an argument that a patch put in becomes a string", object(t, deployment), []*karmada.Overriders{arg, value(args+"/0", "80"), arg}, args, `["80","a","b","a","q","q"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var rules override.Rules
			for _, o := range tt.rules {
				rules.List = append(rules.List, &override.Rule{Overriders: o})
			}
			obj, _, err := rules.Apply(tt.object, strings.Repeat("\x01", len(rules.List)))
			if err != nil {
				t.Fatal(err)
			}
			got := obj[tt.path]
			if strings.HasPrefix(tt.path, "/") {
				got = at(obj, tt.path)
			}
			if got != tt.want {
				t.Errorf("%s is %v (%[2]T), want %v (%[3]T)", tt.path, got, tt.want)
			}
		})
	}
}

func TestFields(t *testing.T) {
	const j, y = "/data/j.json", "/data/y.yaml"
	field := func(path, list, op string) string {
		return `fieldOverrider: [{fieldPath: "` + path + `", ` + list + `: [` + op + `]}]`
	}
	const set9 = "{subPath: /b, operator: replace, value: 2}"
	run(t, []test{
		{name: "json keeps the order of keys", object: configMap, overriders: field(j, "json", set9), want: map[string]string{j: `"{\"b\":2,\"a\":{\"x\":[1,2]}}"`}},
		{name: "json adds into a list", object: configMap, overriders: field(j, "json", "{subPath: /a/x/-, operator: add, value: s}"), want: map[string]string{j: `"{\"b\":1,\"a\":{\"x\":[1,2,\"s\"]}}"`}},
		{name: "json removes", object: configMap, overriders: field(j, "json", "{subPath: /a, operator: remove}"), want: map[string]string{j: `"{\"b\":1}"`}},
		{
			name: "json replaces what is missing", object: configMap, overriders: field(j, "json", set9+", {subPath: /zz, operator: replace, value: 1}"),
			err: `applying fieldOverrider[0]: /data/j.json: patching by json[1] at "/zz": replace operation does not apply: doc is missing key: /zz: missing value`,
		},
		{
			name: "the first of two fails", object: configMap, overriders: field(j, "json", "{subPath: /zz, operator: replace, value: 1}, "+set9),
			err: `applying fieldOverrider[0]: /data/j.json: patching by json[0] at "/zz": `,
		},
		{
			name: "yaml sorts keys and loses comments", object: configMap, overriders: field(y, "yaml", "{subPath: /alpha/port, operator: replace, value: 8080}"),
			want: map[string]string{y: `"alpha:\n  list:\n  - 1\n  - 2\n  port: 8080\nzeta: 1\n"`},
		},
		{name: "yaml turns json into yaml", object: configMap, overriders: field(j, "yaml", set9), want: map[string]string{j: `"a:\n  x:\n  - 1\n  - 2\nb: 2\n"`}},
		{name: "json does not read yaml", object: configMap, overriders: field(y, "json", set9), err: "/data/y.yaml: the text is no valid JSON"},
		{name: "a missing field", object: configMap, overriders: field("/data/none", "json", set9), err: `/data/none: there is no key "none"`},
		{name: "an index behind the end of a list", object: `{kind: Foo, a: ['{"b":1}']}`, overriders: field("/a/1", "json", set9), err: "/a/1: index 1 is outside a list of 1"},
		{name: "an object is no text", object: configMap, overriders: field("/data", "json", set9), err: "/data: want a string, got an object"},
		{name: "text that is no yaml", object: configMap, overriders: field("/data/bad", "yaml", set9), err: "/data/bad: parsing the text as YAML: yaml: line 1: did not find expected node content"},
		{name: "words are yaml but have no keys", object: configMap, overriders: field("/data/words", "yaml", set9), err: `/data/words: patching by yaml[0] at "/b": `},
		{name: "json leaves the empty text empty", object: configMap, overriders: field("/data/empty", "json", set9), want: map[string]string{"/data/empty": `""`}},
		{name: "a path without a slash", object: configMap, overriders: field("data", "json", set9), err: `the path "data" does not begin with a slash`},
		{name: "neither json nor yaml", object: configMap, overriders: "fieldOverrider: [{fieldPath: /data/j.json}]", err: "neither json nor yaml has an operation"},
		{name: "an unknown operator", object: configMap, overriders: field(j, "json", "{subPath: /b, operator: move}"), err: `json[0] at "/b": operator "move"`},
		{name: "the empty text is not made null", object: configMap, overriders: field(j, "json", `{subPath: "", operator: replace, value: 3}`), err: "a whole document cannot become 3"},
		{
			name: "the data of a Secret is base64", object: `{kind: Secret, data: {k: eyJiIjoxfQ==}}`,
			overriders: field("/data/k", "json", set9), err: "the text is no valid JSON",
		},
		{
			name: "a field has an escaped key and stands in a list", object: `{kind: Foo, a/b: ['{"b":1}']}`,
			overriders: field("/a~1b/0", "json", set9), want: map[string]string{"": `{"a/b":["{\"b\":2}"],"kind":"Foo"}`},
		},
		{
			name: "plaintext sees what field has made", object: configMap,
			overriders: "{plaintext: [{operator: remove, path: /data/j.json}], " + field(j, "json", set9) + "}", want: map[string]string{j: "none"},
		},
	})
}

func TestPlaintextValueMustBeJSON(t *testing.T) {
	ov := karmada.Overriders{Plaintext: []karmada.PlaintextOverrider{{Path: "/a", Operator: "add", Value: []byte("{")}}}
	_, _, err := override.Apply(object(t, deployment), &ov)
	if want := "applying plaintext[0]: /a: the value is no valid JSON"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
