package override_test

import (
	"bytes"
	"encoding/json"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/override"
)

// FuzzApply holds for any object and overriders: the object is never modified, the
// same arguments give the same result, an error leaves nothing, and an override that
// reports no change changes no byte.
func FuzzApply(f *testing.F) {
	for _, text := range []string{
		everything,
		"plaintext: [{operator: add, path: /metadata/annotations/k, value: v}, {operator: remove, path: /status/a}]",
		"plaintext: [{operator: replace, path: '', value: null}, {operator: add, path: /a, value: 1}]",
		"plaintext: [{operator: replace, path: //spec, value: 1}, {operator: replace, path: /, value: 1}, {operator: remove, path: ''}]",
		"fieldOverrider: [{fieldPath: /data/j.json, json: [{subPath: /b, operator: replace, value: 2}]}, {fieldPath: /data/y.yaml, yaml: [{subPath: /zeta, operator: remove}]}]",
		"imageOverrider: [{component: Repository, operator: remove}, {component: Tag, operator: add, value: x}]",
		"annotationsOverrider: [{operator: add, value: {a: b}}, {operator: remove, value: {a: c}}]",
	} {
		o, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		for _, manifest := range []string{deployment, cronJob, configMap, "{kind: Pod, spec: {containers: [{name: c, args: [1, null]}]}, metadata: {labels: null}}"} {
			m, err := yaml.YAMLToJSON([]byte(manifest))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(m, o)
		}
	}
	f.Fuzz(func(t *testing.T, manifest, text []byte) {
		var obj map[string]any
		var ov karmada.Overriders
		if utiljson.Unmarshal(manifest, &obj) != nil || json.Unmarshal(text, &ov) != nil {
			t.Skip()
		}
		before, given := encode(t, obj), encode(t, ov)
		got, changes, err := override.Apply(obj, &ov)
		if !bytes.Equal(encode(t, obj), before) || !bytes.Equal(encode(t, ov), given) {
			t.Fatalf("the arguments were modified: %s by %s", before, given)
		}
		if err != nil {
			if got != nil || changes != nil {
				t.Fatalf("with the error %v came %v and %v", err, got, changes)
			}
			return
		}
		after := encode(t, got)
		if len(changes) == 0 && !bytes.Equal(after, before) {
			t.Fatalf("no change was reported, but %s became %s", before, after)
		}
		if again, _, err := override.Apply(obj, &ov); err != nil || !bytes.Equal(encode(t, again), after) {
			t.Fatalf("the second time gives %v, %v; the first %s", again, err, after)
		}
	})
}

// FuzzIdentity holds for any object: to set what stands there already changes no
// byte and reports nothing.
func FuzzIdentity(f *testing.F) {
	for _, manifest := range []string{deployment, cronJob, configMap, "{kind: Secret, a/b~c: [1.5, -0, 1e30, null], '': {}}"} {
		m, err := yaml.YAMLToJSON([]byte(manifest))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m)
	}
	f.Fuzz(func(t *testing.T, manifest []byte) {
		var obj map[string]any
		if utiljson.Unmarshal(manifest, &obj) != nil {
			t.Skip()
		}
		if kind, _ := obj["kind"].(string); kind == "" {
			t.Skip()
		}
		var ov karmada.Overriders
		for key, v := range obj {
			if key == "" {
				continue // the library takes an empty key for the document itself
			}
			for _, op := range []karmada.OverriderOperator{karmada.OverriderOpAdd, karmada.OverriderOpReplace} {
				ov.Plaintext = append(ov.Plaintext, karmada.PlaintextOverrider{Path: "/" + escape(key), Operator: op, Value: encode(t, v)})
			}
		}
		before := encode(t, obj)
		got, changes, err := override.Apply(obj, &ov)
		if err != nil || len(changes) > 0 || !bytes.Equal(encode(t, got), before) {
			t.Errorf("%s became %v, %v, %v", before, got, changes, err)
		}
	})
}

func escape(key string) string {
	return string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(key), []byte("~"), []byte("~0")), []byte("/"), []byte("~1")))
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
