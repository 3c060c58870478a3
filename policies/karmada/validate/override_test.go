package validate

import (
	"strings"
	"testing"
)

// overriders is a policy with one rule of the given overriders.
func overriders(body string) string {
	return `{spec: {overrideRules: [{overriders: {` + body + `}}]}}`
}

const rulePath = "spec.overrideRules[0].overriders."

func TestOverridePolicy(t *testing.T) {
	const labels = `overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}`
	run(t, policyGroup, "OverridePolicy", []rule{
		{"rules", `{spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}], overrideRules: [{targetCluster: {clusterNames: [m1]}, ` + labels + `}]}}`, nil},
		{"the old form", `{spec: {targetCluster: {clusterNames: [m1]}, ` + labels + `}}`, nil},
		{"no selector means every resource", `{spec: {overrideRules: [{` + labels + `}]}}`, nil},
		{
			"a selector stays in the namespace", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: other}], overrideRules: [{` + labels + `}]}}`,
			[]string{"spec.resourceSelectors[0].namespace conflicting-fields"},
		},
		{"a selector has a kind", `{spec: {resourceSelectors: [{apiVersion: v1}], overrideRules: [{` + labels + `}]}}`, []string{"spec.resourceSelectors[0].kind required-field"}},
		{
			"a target is an affinity", `{spec: {overrideRules: [{targetCluster: {fieldSelector: {matchExpressions: [{key: x, operator: In, values: [v]}]}}, ` + labels + `}]}}`,
			[]string{"spec.overrideRules[0].targetCluster.fieldSelector.matchExpressions[0].key unsupported-value"},
		},
		{
			"an old target is an affinity", `{spec: {targetCluster: {fieldSelector: {matchExpressions: [{key: x, operator: In, values: [v]}]}}, ` + labels + `}}`,
			[]string{"spec.targetCluster.fieldSelector.matchExpressions[0].key unsupported-value"},
		},
		{
			"one form excludes the other", `{spec: {targetCluster: {}, ` + labels + `, overrideRules: [{` + labels + `}]}}`,
			[]string{"spec.targetCluster conflicting-fields", "spec.overriders conflicting-fields"},
		},
		{"a field overrider is not seen beside rules", `{spec: {overriders: {fieldOverrider: [{}]}, overrideRules: [{` + labels + `}]}}`, []string{"spec.overriders.fieldOverrider[0].fieldPath required-field", "spec.overriders.fieldOverrider unused-field?"}},
		{"a rule has overriders", `{spec: {overrideRules: [{overriders: {}}]}}`, []string{"spec.overrideRules[0].overriders changes-nothing?"}},
		{"a rule says so", `{spec: {overrideRules: [{}]}}`, []string{"spec.overrideRules[0].overriders required-field", "spec.overrideRules[0].overriders changes-nothing?"}},
		{"a policy has overriders", `{spec: {}}`, []string{"spec.overriders changes-nothing?"}},
		{"a webhook writes the spec", `{}`, []string{"spec.overriders changes-nothing?"}},
		{"a webhook drops a list without rules", `{spec: {targetCluster: {}, overrideRules: [], ` + labels + `}}`, nil},
		{"a rule is not null", `{spec: {overrideRules: [null]}}`, []string{"spec.overrideRules[0] wrong-type"}},
	})
	run(t, policyGroup, "ClusterOverridePolicy", []rule{
		{"no webhook writes the spec", `{}`, []string{"spec required-field", "spec.overriders changes-nothing?"}},
		{"a spec may be empty", `{spec: {}}`, []string{"spec.overriders changes-nothing?"}},
		{"no webhook drops a list without rules", `{spec: {targetCluster: {}, overrideRules: [], ` + labels + `}}`, []string{"spec.targetCluster conflicting-fields", "spec.overriders conflicting-fields"}},
		{"a name is not null", `{spec: {overrideRules: [{targetCluster: {clusterNames: [m1, null]}, ` + labels + `}]}}`, []string{"spec.overrideRules[0].targetCluster.clusterNames[1] wrong-type"}},
		{"a cluster-wide policy selects anywhere", `{spec: {resourceSelectors: [{apiVersion: v1, kind: Secret, namespace: other}], overrideRules: [{` + labels + `}]}}`, nil},
	})
}

// TestValidateOldForm shows that Karmada looks into the old form for what its schema
// says, and for no more.
func TestOldForm(t *testing.T) {
	old := func(body string) string { return `{spec: {overriders: {` + body + `}}}` }
	const at = "spec.overriders."
	run(t, policyGroup, "OverridePolicy", []rule{
		{"operators are in the schema", old(`labelsOverrider: [{operator: set, value: {a: b}}]`), []string{at + "labelsOverrider[0].operator unsupported-value"}},
		{"values of labels are in the schema", old(`labelsOverrider: [{operator: add}]`), []string{at + "labelsOverrider[0].value required-field"}},
		{"labels are taken as they are", old(`labelsOverrider: [{operator: add, value: {a: "b c"}}]`), []string{at + "labelsOverrider[0].value.a unchecked-value?"}},
		{"annotations are taken as they are", old(`annotationsOverrider: [{operator: add, value: {"a b": c}}]`), []string{at + "annotationsOverrider[0].value.a b unchecked-value?"}},
		{"images are taken as they are", old(`imageOverrider: [{predicate: {path: spec}, component: Tag, operator: remove}]`), []string{at + "imageOverrider[0].predicate.path unchecked-value?"}},
		{
			"patches are taken as they are", old(`fieldOverrider: [{fieldPath: a, json: [{subPath: b, operator: add}], yaml: [{subPath: /c, operator: remove, value: 1}]}]`),
			[]string{
				at + "fieldOverrider[0].fieldPath unchecked-value?", at + "fieldOverrider[0].yaml unchecked-value?", at + "fieldOverrider[0].json[0].subPath unchecked-value?",
				at + "fieldOverrider[0].json[0].value unchecked-value?", at + "fieldOverrider[0].yaml[0].value unchecked-value?",
			},
		},
		{"a patch of nothing would empty the field", old(`fieldOverrider: [{fieldPath: /a}]`), []string{at + "fieldOverrider[0] required-field"}},
	})
}

func TestImageOverrider(t *testing.T) {
	image := func(body string) string { return overriders(`imageOverrider: [{` + body + `}]`) }
	digest := "sha256:" + strings.Repeat("0a", 32)
	run(t, policyGroup, "OverridePolicy", []rule{
		{"a registry is replaced", image(`component: Registry, operator: replace, value: "my.reg:80"`), nil},
		{"a registry is removed", image(`component: Registry, operator: remove`), nil},
		{"a registry is not added", image(`component: Registry, operator: add, value: my.reg`), []string{rulePath + "imageOverrider[0].operator registry-add?"}},
		{"a registry does not end in a slash", image(`component: Registry, operator: replace, value: my.reg/`), []string{rulePath + "imageOverrider[0].value image-value?"}},
		{"a registry may have a path", image(`component: Registry, operator: replace, value: my.reg/team`), nil},
		{"no registry is no replacement", image(`component: Registry, operator: replace`), []string{rulePath + "imageOverrider[0].value image-value?"}},
		{"a repository is replaced or extended", overriders(`imageOverrider: [{component: Repository, operator: replace, value: new/repo}, {component: Repository, operator: add, value: /sub}]`), nil},
		{"a repository is not removed", image(`component: Repository, operator: remove`), []string{rulePath + "imageOverrider[0] image-value?"}},
		{"a repository is not replaced by nothing", image(`component: Repository, operator: replace`), []string{rulePath + "imageOverrider[0] image-value?"}},
		{"a repository is extended by something", image(`component: Repository, operator: add`), []string{rulePath + "imageOverrider[0].value changes-nothing?"}},
		{"a tag is replaced, extended or removed", overriders(`imageOverrider: [{component: Tag, operator: replace, value: "2.0"}, {component: Tag, operator: add, value: -alpine}, {component: Tag, operator: remove}]`), nil},
		{"a digest replaces a tag", image(`component: Tag, operator: replace, value: "` + digest + `"`), nil},
		{"component and operator are required", image(``), []string{rulePath + "imageOverrider[0].component required-field", rulePath + "imageOverrider[0].operator required-field"}},
		{"component and operator are known", image(`component: Host, operator: set`), []string{rulePath + "imageOverrider[0].component unsupported-value", rulePath + "imageOverrider[0].operator unsupported-value"}},
		{
			"a predicate is a pointer", overriders(`imageOverrider: [{predicate: {path: /spec/image}, component: Tag, operator: remove}, {predicate: {path: spec/image}, component: Tag, operator: remove}, {predicate: {path: ""}, component: Tag, operator: remove}]`),
			[]string{rulePath + "imageOverrider[1].predicate.path invalid-value", rulePath + "imageOverrider[2].predicate.path patch-path?"},
		},
	})
	// What Karmada's own functions drop without a word (section B.3).
	for _, value := range []string{"", ":2.0", "@" + digest, "bad tag", "sha256:abc"} {
		run(t, policyGroup, "OverridePolicy", []rule{{"tag " + value, image(`component: Tag, operator: replace, value: "` + value + `"`), []string{rulePath + "imageOverrider[0].value image-value?"}}})
	}
}

func TestCommandAndMetadataOverriders(t *testing.T) {
	run(t, policyGroup, "OverridePolicy", []rule{
		{"command and args", overriders(`commandOverrider: [{containerName: a, operator: add, value: [x]}], argsOverrider: [{containerName: a, operator: remove, value: [x]}]`), nil},
		{"commands are not replaced", overriders(`commandOverrider: [{containerName: a, operator: replace, value: [x]}]`), []string{rulePath + "commandOverrider[0].operator unsupported-value"}},
		{"no container has no name", overriders(`argsOverrider: [{containerName: "", operator: add, value: [x]}]`), nil},
		{"args are of a container", overriders(`argsOverrider: [{operator: add}]`), []string{rulePath + "argsOverrider[0].containerName required-field", rulePath + "argsOverrider[0].value changes-nothing?"}},
		{"labels and annotations", overriders(`labelsOverrider: [{operator: replace, value: {a.b/c: d}}], annotationsOverrider: [{operator: remove, value: {a.b/c: "any thing"}}]`), nil},
		{"labels are valid", overriders(`labelsOverrider: [{operator: add, value: {"a b": ok, c: "d e"}}]`), []string{rulePath + "labelsOverrider[0].value.a b invalid-value", rulePath + "labelsOverrider[0].value.c invalid-value"}},
		{"annotations are valid", overriders(`annotationsOverrider: [{operator: add, value: {"a b": ok}}]`), []string{rulePath + "annotationsOverrider[0].value.a b invalid-value"}},
		{
			"operators are known", overriders(`labelsOverrider: [{operator: set, value: {a: b}}], annotationsOverrider: [{value: {a: b}}]`),
			[]string{rulePath + "labelsOverrider[0].operator unsupported-value", rulePath + "annotationsOverrider[0].operator required-field"},
		},
		{
			"values are given", overriders(`labelsOverrider: [{operator: add}], annotationsOverrider: [{operator: add, value: {}}]`),
			[]string{rulePath + "labelsOverrider[0].value required-field", rulePath + "annotationsOverrider[0].value changes-nothing?"},
		},
	})
}

func TestFieldOverrider(t *testing.T) {
	patch := func(body string) string { return overriders(`fieldOverrider: [{` + body + `}]`) }
	run(t, policyGroup, "OverridePolicy", []rule{
		{"a patch of JSON", patch(`fieldPath: /data/a, json: [{subPath: /x, operator: replace, value: 1}, {subPath: /y, operator: remove}]`), nil},
		{"a patch of YAML", patch(`fieldPath: /data/a, yaml: [{subPath: /x, operator: add, value: {b: c}}]`), nil},
		{"a patch of one of them", patch(`fieldPath: /data/a, json: [{subPath: /x, operator: remove}], yaml: [{subPath: /x, operator: remove}]`), []string{rulePath + "fieldOverrider[0].yaml conflicting-fields"}},
		{"a patch of something", patch(`fieldPath: /data/a`), []string{rulePath + "fieldOverrider[0] required-field"}},
		{"paths are pointers", patch(`fieldPath: data, yaml: [{subPath: x, operator: remove}]`), []string{rulePath + "fieldOverrider[0].fieldPath invalid-value", rulePath + "fieldOverrider[0].yaml[0].subPath invalid-value"}},
		{"paths are required", patch(`json: [{operator: remove}]`), []string{
			rulePath + "fieldOverrider[0].json[0].subPath required-field", rulePath + "fieldOverrider[0].fieldPath required-field",
			rulePath + "fieldOverrider[0].fieldPath patch-path?", rulePath + "fieldOverrider[0].json[0].subPath patch-path?",
		}},
		{"an operator is known", patch(`fieldPath: /data, json: [{subPath: /x, operator: move, value: 1}]`), []string{rulePath + "fieldOverrider[0].json[0].operator unsupported-value"}},
		{"an operator is known in YAML, too", patch(`fieldPath: /data, yaml: [{subPath: /x, operator: move, value: 1}]`), []string{rulePath + "fieldOverrider[0].yaml[0].operator unsupported-value"}},
		{
			"add and replace need a value", patch(`fieldPath: /data, json: [{subPath: /x, operator: add}, {subPath: /x, operator: replace}]`),
			[]string{rulePath + "fieldOverrider[0].json[0].value required-field", rulePath + "fieldOverrider[0].json[1].value required-field"},
		},
		{"the whole document is a place", patch(`fieldPath: /data, json: [{subPath: "", operator: replace, value: {}}]`), []string{rulePath + "fieldOverrider[0].json[0].subPath patch-path?"}},
		{"a null is no value", patch(`fieldPath: /data, json: [{subPath: /x, operator: add, value: null}, {subPath: /x, operator: remove, value: null}]`), []string{rulePath + "fieldOverrider[0].json[0].value required-field"}},
		{"remove must not have one", patch(`fieldPath: /data, yaml: [{subPath: /x, operator: remove, value: 1}]`), []string{rulePath + "fieldOverrider[0].yaml[0].value conflicting-fields"}},
	})
}

func TestPlaintext(t *testing.T) {
	patch := func(body string) string { return overriders(`plaintext: [{` + body + `}]`) }
	run(t, policyGroup, "OverridePolicy", []rule{
		{"a patch", patch(`path: /spec/replicas, operator: replace, value: 3`), nil},
		{"a removal, with a value that is ignored", patch(`path: /spec/replicas, operator: remove, value: 3`), nil},
		{"a null", patch(`path: /spec/replicas, operator: add, value: null`), nil},
		{"a path begins with a slash", patch(`path: spec/replicas, operator: replace, value: 3`), []string{rulePath + "plaintext[0].path patch-path?"}},
		{"a path is not the whole object", patch(`path: "", operator: replace, value: {}`), []string{rulePath + "plaintext[0].path patch-path?"}},
		{"a path is required", patch(`operator: replace, value: {}`), []string{rulePath + "plaintext[0].path required-field", rulePath + "plaintext[0].path patch-path?"}},
		{"a null below is a value", patch(`path: /spec/args, operator: add, value: [null]`), nil},
		{"no value is null", patch(`path: /spec/replicas, operator: replace`), []string{rulePath + "plaintext[0].value patch-without-value?"}},
		{"operators are three", patch(`path: /spec/replicas, operator: test, value: 3`), []string{rulePath + "plaintext[0].operator unsupported-value"}},
		{"the old form is read as well", `{spec: {overriders: {plaintext: [{path: a, operator: remove}]}}}`, []string{"spec.overriders.plaintext[0].path patch-path?"}},
	})
}

func TestWhatAnOverridePolicyMayHold(t *testing.T) {
	many := func(one string, n int) string { return "[" + strings.Repeat(one+",", n) + "]" }
	const one = `{overriders: {labelsOverrider: [{operator: add, value: {a: b}}]}}`
	spec := func(body string) string { return "{spec: {" + body + "}}" }
	run(t, policyGroup, "OverridePolicy", []rule{
		{"ten thousand rules", spec("overrideRules: " + many(one, 10_000)), nil},
		{"more rules, of which nothing else is said", spec("resourceSelectors: [{name: a}], overrideRules: " + many(one, 10_001)), []string{"spec.overrideRules too-many-overriders"}},
		{"fifty thousand overriders", spec("overrideRules: [{overriders: {labelsOverrider: " + many(`{operator: add, value: {a: b}}`, 50_000) + "}}]"), nil},
		{"more overriders", spec("overrideRules: [{overriders: {labelsOverrider: " + many(`{operator: add, value: {a: b}}`, 50_001) + "}}]"), []string{"spec.overrideRules too-many-overriders"}},
		{"more operations", spec("overrideRules: [{overriders: {fieldOverrider: [{fieldPath: /a, json: " + many(`{operator: remove, subPath: /a}`, 50_000) + "}]}}]"), []string{"spec.overrideRules too-many-overriders"}},
	})
}
