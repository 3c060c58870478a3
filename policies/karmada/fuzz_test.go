package karmada

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	strictjson "sigs.k8s.io/json"

	"github.com/waybill-dev/waybill/render/diag"
)

// FuzzDecode shows that no document makes Decode or Default panic; that shape finds the
// unknown fields that the decoder finds, and a wrong type wherever the decoder stops;
// and that Default does at once all that it does.
func FuzzDecode(f *testing.F) {
	all := slices.SortedFunc(maps.Keys(kinds), func(a, b gvk) int { return cmp.Compare(a.kind, b.kind) })
	for _, seed := range []string{
		`{"spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "X", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}], "placement": {"clusterAffinities": [{"affinityName": "a", "overflowAffinities": [{}]}], "spreadConstraints": [{}, {"spreadByLabel": "x"}], "replicaScheduling": {"weightPreference": {"staticWeightList": [{"weight": 0}]}}, "clusterTolerations": [{"operator": "Lt"}]}, "failover": {"application": {"purgeMode": "Graciously"}, "cluster": {}}, "suspension": {"dispatching": true}}}`,
		`{"spec": {"overrideRules": [{"overriders": {"imageOverrider": [{"predicate": {}}], "fieldOverrider": [{"json": [{"value": null}]}], "plaintext": [{"path": "a"}]}}], "overriders": {"labelsOverrider": [{"value": {"a b": "c"}}]}}}`,
		`{"spec": {"syncMode": "Push", "zone": "a", "taints": [{}, {}], "apiEndpoint": "%zz", "resourceModels": [{"grade": 1, "ranges": [{"name": "cpu", "min": "1", "max": "2"}]}, {"grade": 0}]}}`,
		`{"spec": {"scaleTargetRef": {}, "rules": [{"schedule": "@every x", "timeZone": "../x"}], "metrics": [{}]}}`,
		`{"spec": {"customizations": {"retention": {"luaScript": "x ="}}, "workload": {"manifests": [1, null, {}]}, "overall": {"pods": "1.5"}, "staticAssignments": [{"hard": {"cpu": "1e400"}}]}}`,
		`{"webhooks": [{"clientConfig": {"url": ":"}, "rules": [{"operations": ["*", "a"]}]}]}`,
		`{"spec": {"types": ["a"], "ports": [{"port": -1}], "rules": [{"http": {"paths": [{"backend": {"service": {}}}]}}]}, "a": 1, "a": 2}`,
	} {
		for i := range all {
			f.Add(uint8(i), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		kind := all[int(which)%len(all)]
		x, found := Decode(kind.apiVersion, kind.kind, data)
		if (x == nil) != slices.ContainsFunc(found, fatal) {
			t.Fatalf("decoded %v, found %v", x, lines(found))
		}
		if x == nil {
			return
		}
		sameUnknown(t, reflect.New(reflect.TypeOf(x).Elem()).Interface(), data, found)
		Default(x)
		once, err := json.Marshal(x)
		if err != nil {
			t.Skip("nothing that was written encodes to JSON again: ", err)
		}
		Default(x)
		if twice, _ := json.Marshal(x); string(once) != string(twice) {
			t.Errorf("Default once\n%s\ntwice\n%s", once, twice)
		}
	})
}

// fatal reports a finding after which there is no object.
func fatal(e FieldError) bool {
	return slices.Contains([]diag.Code{diag.Malformed, diag.UnknownKind, diag.WrongType}, e.Code)
}

// sameUnknown holds the unknown fields against those of strict decoding, which
// reports at most a hundred and each of them once.
func sameUnknown(t *testing.T, x any, data []byte, found []FieldError) {
	t.Helper()
	strict, _ := strictjson.UnmarshalStrict(data, x, strictjson.DisallowUnknownFields)
	unknown := map[string]bool{}
	for _, f := range found {
		if f.Code == diag.UnknownField {
			unknown[printed(f.Path)] = true
		}
	}
	if most := 100; len(strict) < most && len(strict) != len(unknown) {
		t.Errorf("unknown fields %q, the decoder finds %q", slices.Collect(maps.Keys(unknown)), strict)
	}
}
