package override_test

import (
	"fmt"
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
	ix, err := override.New(set.Override)
	if err != nil {
		t.Fatal(err)
	}
	rules := func(s policies.Subject) (names []string) {
		for _, r := range ix.Rules(s) {
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
