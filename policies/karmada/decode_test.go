package karmada

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/diag"
)

func TestDecode(t *testing.T) {
	const head = `"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy", "metadata": {"name": "web", "namespace": "shop"}`
	for _, c := range []struct {
		name, data string
		want       []string
		decodes    bool
	}{
		{
			name:    "a policy decodes",
			data:    `{` + head + `, "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}]}}`,
			decodes: true,
		},
		{
			name:    "unknown fields are found at any depth, and the rest decodes",
			data:    `{` + head + `, "specs": {}, "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"kynd": "X"}], "placement": {"spreadConstraints": [{"maxGroup": 2}]}}}`,
			want:    []string{"spec.placement.spreadConstraints[0].maxGroup unknown-field", "spec.resourceSelectors[1].kynd unknown-field", "specs unknown-field"},
			decodes: true,
		},
		{
			name:    "names are compared to the letter",
			data:    `{` + head + `, "spec": {"ResourceSelectors": []}}`,
			want:    []string{"spec.ResourceSelectors unknown-field"},
			decodes: true,
		},
		{
			name:    "fields of embedded types are known, and others beside them are not",
			data:    `{` + head + `, "spec": {"placement": {"clusterAffinities": [{"affinityName": "a", "clusterNames": ["m1"], "exclud": ["m2"]}]}}}`,
			want:    []string{"spec.placement.clusterAffinities[0].exclud unknown-field"},
			decodes: true,
		},
		{
			name:    "a field that is written twice is found, even below keys with dots",
			data:    `{` + head + `, "spec": {"priority": 1, "priority": 2, "resourceSelectors": [{"labelSelector": {"matchLabels": {"a.b/c": "1", "a.b/c": "2"}}}]}}`,
			want:    []string{"spec.priority duplicate-field", "spec.resourceSelectors[0].labelSelector.matchLabels.a.b/c duplicate-field"},
			decodes: true,
		},
		{
			name: "every wrong type is found with its index, beside unknown fields",
			data: `{` + head + `, "spec": {"priority": "high", "resourceSelectors": [{"name": "a"}, {"name": 3, "x": 1}], "placement": {"clusterAffinity": {"clusterNames": "m1"}, "spreadConstraints": [{"maxGroups": 1.5}, {"minGroups": 1.0}]}}}`,
			want: []string{
				"spec.placement.clusterAffinity.clusterNames wrong-type",
				"spec.placement.spreadConstraints[0].maxGroups wrong-type",
				"spec.placement.spreadConstraints[1].minGroups wrong-type",
				"spec.priority wrong-type",
				"spec.resourceSelectors[1].name wrong-type",
				"spec.resourceSelectors[1].x unknown-field",
			},
		},
		{name: "a number that does not fit is of the wrong type", data: `{` + head + `, "spec": {"priority": 3000000000}}`, want: []string{"spec.priority wrong-type"}},
		{name: "a list is no mapping", data: `{` + head + `, "spec": [1]}`, want: []string{"spec wrong-type"}},
		{name: "a mapping is no list", data: `{` + head + `, "spec": {"resourceSelectors": {"kind": "X"}}}`, want: []string{"spec.resourceSelectors wrong-type"}},
		{name: "a time must be one", data: `{"metadata": {"creationTimestamp": "today"}}`, want: []string{"metadata.creationTimestamp wrong-type"}},
		{name: "null is nothing", data: `{` + head + `, "spec": {"priority": null, "placement": null}}`, decodes: true},
		{name: "a required object that may be empty must be there", data: `{"spec": {"failover": {"application": {}}, "placement": {"replicaScheduling": {"weightPreference": {"staticWeightList": [{"weight": 1}, {"weight": 1, "targetCluster": {}}]}}}}}`, want: []string{
			"spec.failover.application.decisionConditions required-field",
			"spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster required-field",
		}, decodes: true},
		{name: "an item of a list is not null", data: `{` + head + `, "spec": {"resourceSelectors": [{"kind": "X"}, null]}}`, want: []string{"spec.resourceSelectors[1] wrong-type"}},
		{
			name: "a required string that may be empty must be there, and other strings need not",
			data: `{"spec": {"resourceSelectors": [{"labelSelector": {"matchExpressions": [{"operator": "Exists"}, {"key": "", "operator": ""}]}}]}}`,
			want: []string{"spec.resourceSelectors[0].labelSelector.matchExpressions[0].key required-field"}, decodes: true,
		},
		{
			name: "what is written twice is found beside a field whose name it begins with",
			data: `{` + head + `, "spec": {"resourceSelectors": [{"labelSelector": {"matchLabels": {"app": "x", "app.b": "1", "app.b": "2"}}}]}}`,
			want: []string{"spec.resourceSelectors[0].labelSelector.matchLabels.app.b duplicate-field"}, decodes: true,
		},
		{name: "a list is no document", data: `[]`, want: []string{" malformed"}},
		{name: "null is no document", data: `null`, want: []string{" malformed"}},
		{name: "what is no JSON is no document", data: `{"spec": `, want: []string{" malformed"}},
		{name: "nothing may follow", data: `{} {}`, want: []string{" malformed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, found := Decode(policyGroup, "PropagationPolicy", []byte(c.data))
			if diff := cmp.Diff(c.want, lines(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, explain(found))
			}
			if (x != nil) != c.decodes {
				t.Errorf("decoded %v, want %t", x, c.decodes)
			}
		})
	}
}

func TestDecodeHints(t *testing.T) {
	for _, c := range []struct{ name, data, message, hint string }{
		{"the nearest name", `{"spec": {"resourceSelector": []}}`, "is not a field here", `did you mean "resourceSelectors"?`},
		{"the name in another case", `{"spec": {"PRIORITY": 1}}`, "is not a field here", `did you mean "priority"?`},
		{"the same name one level down", `{"spec": {"clusterAffinity": {}}}`, "is not a field here", `"clusterAffinity" is a field of "placement"`},
		{"all names when there are few", `{"spec": {"suspension": {"everything": true}}}`, "is not a field here", `the fields here are "dispatching", "dispatchingOnClusters"`},
		{"nothing when nothing is near", `{"spec": {"xyzzy": true}}`, "is not a field here", ""},
		{"the value and the type", `{"spec": {"propagateDeps": "yes"}}`, `"yes" is not true or false`, ""},
		{"of a required field how it is empty", `{"spec": {"failover": {"application": {}}}}`, "is required", `write {} if it is meant to be empty`},
		{"of a required string how it is empty", `{"spec": {"resourceSelectors": [{"labelSelector": {"matchExpressions": [{"key": "a"}]}}]}}`, "is required", `write it, or "" if it is meant to be empty`},
		{"a value of 60 characters in full", `{"spec": {"priority": "0123456789012345678901234567890123456789012345678901234567"}}`, `"0123456789012345678901234567890123456789012345678901234567" is not a whole number of at most 32 bits`, ""},
		{"a long value is cut", `{"spec": {"priority": "012345678901234567890123456789012345678901234567890123456789"}}`, `"01234567890123456789012345678901234567890123456789012345678... is not a whole number of at most 32 bits`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := Decode(policyGroup, "PropagationPolicy", []byte(c.data))
			if len(found) != 1 || found[0].Message != c.message || found[0].Hint != c.hint {
				t.Errorf("found %s\nwant %q, hint %q", explain(found), c.message, c.hint)
			}
		})
	}
}

func TestDecodeKnowsEveryKind(t *testing.T) {
	for key, k := range kinds {
		t.Run(key.kind, func(t *testing.T) {
			if !Known(key.apiVersion, key.kind) || Known("v1", key.kind) {
				t.Error("known in another version, or not in its own")
			}
			data := fmt.Appendf(nil, `{"apiVersion": %q, "kind": %q, "metadata": {"name": "x"}, "unheard": 1}`, key.apiVersion, key.kind)
			x, found := Decode(key.apiVersion, key.kind, data)
			if x == nil || reflect.TypeOf(x) != reflect.TypeOf(k.make()) || x.(typed).GetName() != "x" {
				t.Fatalf("decoded %#v", x)
			}
			if got := lines(found)[0]; len(found) > 1 && found[1].Code == diag.UnknownField || got != "unheard unknown-field" {
				t.Errorf("found %v", lines(found))
			}
			if got := x.(typed).GroupVersionKind(); got.Kind != key.kind || got.GroupVersion().String() != key.apiVersion {
				t.Errorf("decoded a %s", got)
			}
		})
	}
	if x, found := Decode("apps/v1", "Deployment", []byte(`{}`)); x != nil || len(found) != 1 || found[0].Code != diag.UnknownKind {
		t.Errorf("decoded %v, found %v", x, lines(found))
	}
	if Known("multicluster.x-k8s.io/v1alpha1", "ServiceImport") {
		t.Error("a ServiceImport is a template, not a policy")
	}
}

// TestDecodeTakesTheKindAskedFor shows that what decides the scope of a policy is
// the kind that was asked for, since both scopes have one type.
func TestDecodeTakesTheKindAskedFor(t *testing.T) {
	x, _ := Decode(policyGroup, "ClusterOverridePolicy", []byte(`{"metadata": {"name": "a"}}`))
	if got := x.(*OverridePolicy).Kind; got != "ClusterOverridePolicy" {
		t.Errorf("decoded a %q", got)
	}
}

// TestDecodeByKind holds what depends on the kind: whether it has a schema, and whether it needs a spec.
func TestDecodeByKind(t *testing.T) {
	const quantity = `{"spec": {"overall": {"cpu": %s}}}`
	const model = `{"spec": {"syncMode": "Push", "resourceModels": [null, {"grade": 0, "ranges": [{"name": "cpu", "min": %s, "max": " 2"}]}]}}`
	for _, c := range []struct {
		name, apiVersion, kind, data string
		want                         []string
		hint                         string
	}{
		{"a ClusterOverridePolicy needs a spec", policyGroup, "ClusterOverridePolicy", `{}`, []string{"spec required-field"}, "write overrideRules below it"},
		{"which may be empty", policyGroup, "ClusterOverridePolicy", `{"spec": {"overriders": {}}}`, nil, ""},
		{"what is no object needs nothing", policyGroup, "ClusterOverridePolicy", `[]`, []string{" malformed"}, ""},
		{"a whole number that is none has no hint", policyGroup, "PropagationPolicy", `{"spec": {"priority": 1.5}}`, []string{"spec.priority wrong-type"}, ""},
		{"an OverridePolicy needs none", policyGroup, "OverridePolicy", `{}`, nil, ""},
		{"a quantity that is no whole number is quoted", policyGroup, "FederatedResourceQuota", fmt.Sprintf(quantity, `1.5`), []string{"spec.overall.cpu wrong-type"}, "quote what is no whole number"},
		{"a quantity has no space around it", policyGroup, "FederatedResourceQuota", fmt.Sprintf(quantity, `" 2"`), []string{"spec.overall.cpu wrong-type"}, ""},
		{"a quantity may be a whole number", policyGroup, "FederatedResourceQuota", fmt.Sprintf(quantity, `2`), nil, ""},
		{"a Cluster has no schema", clusterGroup, "Cluster", fmt.Sprintf(model, `0.5`), nil, ""},
		{"a quantity of a Cluster is one all the same", clusterGroup, "Cluster", fmt.Sprintf(model, `"half"`), []string{"spec.resourceModels[1].ranges[0].min wrong-type"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := Decode(c.apiVersion, c.kind, []byte(c.data))
			if diff := cmp.Diff(c.want, lines(found)); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, explain(found))
			}
			if len(found) > 0 && found[0].Hint != c.hint {
				t.Errorf("hint %q, want %q", found[0].Hint, c.hint)
			}
		})
	}
}

// TestRead fills a type that has a schema, whatever kind it is of.
func TestRead(t *testing.T) {
	for data, want := range map[string][]string{
		`{"priority": 7}`:                  nil,
		`{"priority": 7, "priorities": 8}`: {"priorities unknown-field"},
		`{"priority": 7, "priority": 7}`:   {"priority duplicate-field"},
		`{"priority": "7"}`:                {"priority wrong-type"},
		`{"resourceSelectors": [null]}`:    {"resourceSelectors[0] wrong-type"},
		`[7]`:                              {" malformed"},
		`{"priority": 7} {"priority": 8}`:  {" malformed"},
	} {
		var spec PropagationSpec
		found, ok := Read(&spec, []byte(data))
		if diff := cmp.Diff(want, lines(found)); diff != "" || ok == slices.ContainsFunc(found, fatal) || ok && spec.ExplicitPriority() != 7 {
			t.Errorf("%s: it is read %t, to %v, findings (-want +got):\n%s", data, ok, spec, diff)
		}
	}
}

// TestDecodeRefusesEndlessQuantities shows that a few characters in a repository
// cannot keep a planner busy: these take the library minutes, if it ever ends.
func TestDecodeRefusesEndlessQuantities(t *testing.T) {
	for _, q := range []string{`"1e2147483647"`, `"1e-2147483647"`, `1e-2147483647`, `"1E+99999"`} {
		data := `{"metadata": {"name": "a", "namespace": "b"}, "spec": {"overall": {"cpu": ` + q + `}}}`
		x, found := Decode(policyGroup, "FederatedResourceQuota", []byte(data))
		if diff := cmp.Diff([]string{"spec.overall.cpu wrong-type"}, lines(found)); x != nil || diff != "" {
			t.Errorf("%s: decoded %v, findings (-want +got):\n%s", q, x, diff)
		}
	}
	if x, found := Decode(policyGroup, "FederatedResourceQuota", []byte(`{"spec": {"overall": {"cpu": "1e3", "memory": "2E"}}}`)); x == nil {
		t.Errorf("ordinary exponents are refused:\n%s", explain(found))
	}
}
