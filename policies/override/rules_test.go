package override_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/render/diag"
	manifests "github.com/waybill-dev/waybill/render/object"
)

func TestRulesApplyFromTheLooseToTheClose(t *testing.T) {
	var file strings.Builder
	for _, p := range []struct{ kind, meta, selectors string }{
		{"OverridePolicy", "{name: z-all, namespace: shop}", ""},
		{"OverridePolicy", "{name: a-name, namespace: shop}", "resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: a}], "},
		{"OverridePolicy", "{name: b-label, namespace: shop}", "resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {l: x}}}], "},
		{"OverridePolicy", "{name: a-all, namespace: shop}", "resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], "},
		{"OverridePolicy", "{name: elsewhere, namespace: other}", ""},
		{"OverridePolicy", "{name: at-a-path, namespace: shop, annotations: {waybill.dev/paths: apps/}}", ""},
		{"OverridePolicy", "{name: no-match, namespace: shop}", "resourceSelectors: [{apiVersion: v1, kind: Secret}], "},
		{"ClusterOverridePolicy", "{name: y-name}", "resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: a}], "},
		{"ClusterOverridePolicy", "{name: z-all}", ""},
	} {
		rule := "{overriders: {labelsOverrider: [{operator: add, value: {k: v}}]}}"
		fmt.Fprintf(&file, "---\napiVersion: policy.karmada.io/v1alpha1\nkind: %s\nmetadata: %s\nspec: {%soverrideRules: [%s, %s]}\n", p.kind, p.meta, p.selectors, rule, rule)
	}
	set, _, diags := policies.Load(manifests.Decode("p.yaml", []byte(file.String())).Objects, nil)
	if diag.HasErrors(diags) {
		t.Fatal(diags)
	}
	ix := override.New(set.Override)
	rules := func(s policies.Subject) (names []string) {
		for _, r := range ix.Rules(s).List {
			if r.Index == 0 {
				names = append(names, r.Policy.String())
			}
		}
		return names
	}
	got := rules(policies.Subject{APIVersion: "v1", Ref: manifests.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, Labels: labels.Set{"l": "x"}})
	want := []string{
		"ClusterOverridePolicy z-all", "ClusterOverridePolicy y-name",
		"OverridePolicy shop/a-all", "OverridePolicy shop/z-all", "OverridePolicy shop/b-label", "OverridePolicy shop/a-name",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = rules(policies.Subject{APIVersion: "v1", Ref: manifests.Ref{Kind: "Namespace", Name: "shop"}})
	if d := cmp.Diff([]string{"ClusterOverridePolicy z-all"}, got); d != "" {
		t.Errorf("a cluster-scoped object: %s", d)
	}
}

// rulesOf returns the rules for an object of override policies in one file.
func rulesOf(t *testing.T, obj, file string) override.Rules {
	t.Helper()
	set, _, diags := policies.Load(manifests.Decode("p.yaml", []byte(file)).Objects, nil)
	if diag.HasErrors(diags) {
		t.Fatal(diags)
	}
	ix := override.New(set.Override)
	o := manifests.Decode("o.yaml", []byte(obj)).Objects[0]
	return ix.Rules(policies.SubjectOf(o))
}

// TestClaimedObjectsHaveLabelsAndAnnotations is section T.2: Karmada marks what a policy
// claims, and leaves what is pulled along as it is.
func TestClaimedObjectsHaveLabelsAndAnnotations(t *testing.T) {
	const policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: p, namespace: a}\nspec: {overrideRules: [{overriders: {plaintext: [%s]}}]}\n"
	const add = "{operator: add, path: /metadata/annotations/k, value: v}"
	for _, tt := range []struct{ name, metadata, patch, want, unclaimed string }{
		{"there were none", "", add, `{"annotations":{"k":"v"},"name":"x","namespace":"a"}`, "error"},
		{"there were some", "annotations: {a: b}", add, `{"annotations":{"a":"b","k":"v"},"name":"x","namespace":"a"}`, "the same"},
		{"what stays empty is taken out again", "", "{operator: add, path: /data, value: {}}", `{"name":"x","namespace":"a"}`, "the same"},
		{"null stays null", "labels: null", "{operator: add, path: /data, value: {}}", `{"labels":null,"name":"x","namespace":"a"}`, "the same"},
		{"an empty map that was there stays", "labels: {}", add, `{"annotations":{"k":"v"},"labels":{},"name":"x","namespace":"a"}`, "error"},
		{"removed by one rule, and added to by the next", "annotations: {a: b}", "{operator: remove, path: /metadata/annotations}]}}, {overriders: {plaintext: [" + add, "error", "error"},
		{"a map that a patch empties stays", "labels: {a: b}", "{operator: remove, path: /metadata/labels/a}", `{"labels":{},"name":"x","namespace":"a"}`, "the same"},
		{"an empty map that a patch adds", "", "{operator: add, path: /metadata/annotations, value: {}}", `{"name":"x","namespace":"a"}`, `{"annotations":{},"name":"x","namespace":"a"}`},
		{"what is no map stays", "", "{operator: add, path: /metadata/annotations, value: []}", `{"annotations":[],"name":"x","namespace":"a"}`, "the same"},
		{"the metadata are taken out", "", "{operator: remove, path: /metadata}", "none", "the same"},
		{"the metadata become a text", "", "{operator: replace, path: /metadata, value: x}", `"x"`, "the same"},
		{"removed and added again", "annotations: {a: b}", "{operator: remove, path: /metadata/annotations}, " + add, "error", "error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a, " + tt.metadata + "}\n"
			rules := rulesOf(t, text, fmt.Sprintf(policy, tt.patch))
			for _, claimed := range []bool{true, false} {
				want := tt.want
				if !claimed && tt.unclaimed != "the same" {
					want = tt.unclaimed
				}
				rules.Claimed = claimed
				got, _, err := rules.Apply(object(t, text), strings.Repeat("\x01", len(rules.List)))
				if err != nil {
					if want != "error" {
						t.Errorf("claimed %t: %v", claimed, err)
					}
					continue
				}
				if v := at(got, "/metadata"); v != want {
					t.Errorf("claimed %t: metadata is %s, want %s", claimed, v, want)
				}
			}
		})
	}
}

// TestPoliciesOfANamespaceSelectWhatClusterPoliciesLeft is Karmada's order: cluster-wide
// policies are found and applied before those of the namespace are found.
func TestPoliciesOfANamespaceSelectWhatClusterPoliciesLeft(t *testing.T) {
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a, labels: {tier: plain}}\n"
	const relabel = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: relabel}
spec: {overrideRules: [{overriders: {%s}}]}
---
`
	const file = `apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: of-gold, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {tier: gold}}}]
  overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {gold: "yes"}}]}}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: of-plain, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {tier: plain}}}]
  overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {plain: "yes"}}]}}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: of-all, namespace: a}
spec:
  overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {all: "yes"}}]}}]
`
	const gold, none = `{"all":"yes","gold":"yes"}`, `{"all":"yes"}`
	for how, relabelled := range map[string]string{
		"labelsOverrider: [{operator: add, value: {tier: gold}}]":                                                                                                        gold,
		"plaintext: [{operator: replace, path: /metadata/labels/tier, value: gold}]":                                                                                     gold,
		"plaintext: [{operator: add, path: /metadata, value: {name: x, namespace: a, labels: {tier: gold}, annotations: {}}}]":                                           gold,
		`plaintext: [{operator: replace, path: "", value: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: a, labels: {tier: gold}, annotations: {}}}}]`: gold,
		"imageOverrider: [{component: Repository, operator: replace, value: gold, predicate: {path: /metadata/labels/tier}}]":                                            gold,
		"plaintext: [{operator: replace, path: /metadata/labels, value: {}}]":                                                                                            none,
		"plaintext: [{operator: remove, path: /metadata/labels}]":                                                                                                        none,
		"plaintext: [{operator: replace, path: /metadata/labels, value: gold}]":                                                                                          none,
	} {
		t.Run(how, func(t *testing.T) {
			rules := rulesOf(t, configMap, fmt.Sprintf(relabel, how)+file)
			rules.Claimed = true
			annotations := func(but ...string) string {
				matching := make([]byte, len(rules.List))
				for n, r := range rules.List {
					if !slices.Contains(but, r.Policy.Object.Ref().Name) {
						matching[n] = 1
					}
				}
				got, _, err := rules.Apply(object(t, configMap), string(matching))
				if err != nil {
					t.Fatal(err)
				}
				return at(got, "/metadata/annotations")
			}
			if got := annotations(); got != relabelled {
				t.Errorf("where it is relabelled the annotations are %s, want %s", got, relabelled)
			}
			if got, want := annotations("relabel"), `{"all":"yes","plain":"yes"}`; got != want {
				t.Errorf("where it is not they are %s, want %s", got, want)
			}
			if got, want := annotations("relabel", "of-all"), `{"plain":"yes"}`; got != want {
				t.Errorf("in a cluster that two rules are not for they are %s, want %s", got, want)
			}
		})
	}
}

// TestWhatHasNoNamespaceIsOverriddenOnce holds that no policy of a namespace is for it, and a rule for all clusters is listed once, though
// another one may relabel it.
func TestWhatHasNoNamespaceIsOverriddenOnce(t *testing.T) {
	const file = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: relabel}
spec: {overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {tier: gold}}]}}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: of-plain}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Node, labelSelector: {matchLabels: {tier: plain}}}]
  overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {k: v}}]}}]
`
	var names []string
	for _, r := range rulesOf(t, "apiVersion: v1\nkind: Node\nmetadata: {name: x, labels: {tier: plain}}\n", file).List {
		names = append(names, r.Policy.Object.Ref().Name)
	}
	if got := strings.Join(names, " "); got != "relabel of-plain" {
		t.Errorf("the rules are %s", got)
	}
}

// TestWhatAPolicyOfANamespaceCannotDoToWhatAClusterPolicyLeft is an error of that policy, as it is where no labels change before it,
// and what it puts among annotations of which the manifest has none is there.
func TestWhatAPolicyOfANamespaceCannotDoToWhatAClusterPolicyLeft(t *testing.T) {
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n"
	const file = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: relabel}
spec: {overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {tier: gold}}]}}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: of-gold, namespace: a}
spec:
  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {tier: gold}}}]
  overrideRules: [{overriders: {plaintext: [%s]}}]
`
	for patch, want := range map[string]string{
		"{operator: remove, path: /metadata/labels/none}":             "of-gold",
		"{operator: add, path: /metadata/annotations/k, value: v}":    `{"k":"v"}`,
		"{operator: replace, path: /metadata/annotations, value: {}}": "none",
		"{operator: remove, path: /metadata/annotations}":             "none",
	} {
		rules := rulesOf(t, configMap, fmt.Sprintf(file, patch))
		if _, _, err := rules.Apply(object(t, configMap), strings.Repeat("\x01", len(rules.List))); err == nil {
			t.Errorf("%s: where nobody claims it there are annotations", patch)
		}
		rules.Claimed = true
		got, _, err := rules.Apply(object(t, configMap), strings.Repeat("\x01", len(rules.List)))
		if failed, ok := errors.AsType[*override.RuleError](err); ok {
			if failed.Rule.Policy.Object.Ref().Name != want {
				t.Errorf("%s: %v", patch, err)
			}
		} else if v := at(got, "/metadata/annotations"); err != nil || v != want {
			t.Errorf("%s: the annotations are %s, want %s: %v", patch, v, want, err)
		}
	}
}
