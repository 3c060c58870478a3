package override_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/override"
	"github.com/waybill-dev/waybill/render/diag"
	obj "github.com/waybill-dev/waybill/render/object"
)

func TestRewrite(t *testing.T) {
	const policy = "apiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\nspec:\n  overrideRules: [{}, {}]\n"
	for _, tt := range []struct {
		name, overriders string // of the second rule
		secret           string // a value of a Secret that the object holds
		want, hides      string
	}{
		{"it changes a field", "{plaintext: [{path: /data/k, operator: replace, value: new}]}", "", "k: new", ""},
		{"it changes what is private", "{plaintext: [{path: /data/k, operator: replace, value: new}]}", "old", "k: new", ""},
		{"it makes another object of it", "{plaintext: [{path: /metadata/name, operator: replace, value: z}]}", "", "OverridePolicy a/o rule 1 cannot be applied to ConfigMap/a/x: the overrides turn it into ConfigMap a/z, which is another object", ""},
		{"it makes one of another namespace of it", "{plaintext: [{path: /metadata/namespace, operator: replace, value: z}]}", "", "turn it into ConfigMap z/x", ""},
		{"it makes one of another group of it", "{plaintext: [{path: /apiVersion, operator: replace, value: example.com/v1}]}", "", "turn it into ConfigMap a/x", ""},
		{"it makes one of another version of it", "{plaintext: [{path: /apiVersion, operator: replace, value: v2}]}", "", "apiVersion: v2", ""},
		{"it replaces it whole", "{plaintext: [{path: '', operator: replace, value: {apiVersion: v1, kind: Secret, metadata: {name: x, namespace: a}}}]}", "", "turn it into Secret a/x", ""},
		{"it cannot be applied", "{plaintext: [{path: /data/none, operator: remove}]}", "", "rule 1 cannot be applied to ConfigMap/a/x: applying plaintext[0]: /data/none", ""},
		{"what it says is private", "{plaintext: [{path: /data/none, operator: remove}]}", "old", "why is not said", "/data/none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := obj.Decode("x.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\ndata: {k: old}\n")).Objects[0]
			if tt.secret != "" {
				o = o.RenderedWith([]string{tt.secret})
			}
			p := &policies.Override{Object: obj.Decode("p.yaml", []byte(policy)).Objects[0]}
			var rules override.Rules
			for i, text := range []string{"{labelsOverrider: [{operator: add, value: {l: v}}]}", tt.overriders} {
				rules.List = append(rules.List, &override.Rule{Policy: p, Index: i, Overriders: overriders(t, text)})
			}
			content, bad := rules.Rewrite(o, o.Content(), "\x01\x01")
			got := string(obj.Encode(content))
			if bad != nil {
				if got = bad.String(); !strings.HasPrefix(got, "p.yaml:5: ") {
					t.Errorf("it is not said where: %s", got)
				}
			}
			if !strings.Contains(got, tt.want) || tt.hides != "" && strings.Contains(got, tt.hides) {
				t.Errorf("it gives %s\nwant %s", got, tt.want)
			}
			applied, err := rules.Trace(o, o.Content(), "\x01\x01")
			switch {
			case err != nil && (bad == nil || tt.hides != "" && strings.Contains(err.Error(), tt.hides) || tt.hides == "" && !strings.Contains(bad.Message, err.Error()[strings.Index(err.Error(), "applying"):])):
				t.Errorf("it is traced: %v", err)
			case err == nil && (len(applied) != 2 || applied[1].Rule != "OverridePolicy a/o rule 1" || !strings.HasPrefix(applied[1].Where, "p.yaml:5") || len(applied[1].Changes) != 1):
				t.Errorf("it is traced: %+v", applied)
			case err == nil && tt.secret == "":
				if l := applied[0].Changes[0]; l.New != "v" {
					t.Errorf("it is traced: %+v", applied)
				}
			case err == nil && tt.secret != "":
				want := []override.Change{{"labelsOverrider[0]", "/metadata/labels/l", "", "(withheld)"}, {"plaintext[0]", "/data/k", "(withheld)", "(withheld)"}}
				if diff := cmp.Diff(want, slices.Concat(applied[0].Changes, applied[1].Changes)); diff != "" {
					t.Errorf("it is traced (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestTheRuleThatRenamesIsNamed holds that another object is the mistake of the first rule that makes one.
func TestTheRuleThatRenamesIsNamed(t *testing.T) {
	const label, rename = "{labelsOverrider: [{operator: add, value: {l: v}}]}", "{plaintext: [{path: /metadata/name, operator: replace, value: z}]}"
	p := &policies.Override{Object: obj.Decode("p.yaml", []byte("apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterOverridePolicy\nmetadata: {name: o}\n")).Objects[0]}
	o := obj.Decode("x.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n")).Objects[0]
	for at := range 3 {
		var rules override.Rules
		for i := range 3 {
			text := label
			if i == at {
				text = rename
			}
			rules.List = append(rules.List, &override.Rule{Policy: p, Index: i, Overriders: overriders(t, text)})
		}
		if _, bad := rules.Rewrite(o, o.Content(), "\x01\x01\x01"); bad == nil || !strings.HasPrefix(bad.Message, fmt.Sprintf("ClusterOverridePolicy o rule %d cannot be applied", at)) {
			t.Errorf("where rule %d renames it says %v", at, bad)
		}
	}
}

// TestANamespaceIsClaimed holds that a patch finds labels and annotations in a Namespace, whatever brought it, and not in what nobody claims.
func TestANamespaceIsClaimed(t *testing.T) {
	for kind, want := range map[string]string{"Namespace": "annotations:", "Node": "cannot be applied"} {
		o := obj.Decode("x.yaml", []byte("apiVersion: v1\nkind: "+kind+"\nmetadata: {name: x}\n")).Objects[0]
		p := &policies.Override{Object: obj.Decode("p.yaml", []byte("apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterOverridePolicy\nmetadata: {name: o}\n")).Objects[0]}
		rules := override.Rules{List: []*override.Rule{{Policy: p, Overriders: overriders(t, "{plaintext: [{path: /metadata/annotations/k, operator: add, value: v}]}")}}}
		content, bad := rules.Rewrite(o, o.Content(), "\x01")
		if got := fmt.Sprint(string(obj.Encode(content)), bad); !strings.Contains(got, want) {
			t.Errorf("of a %s comes %s", kind, got)
		}
		if _, err := rules.Trace(o, o.Content(), "\x01"); (err == nil) != (kind == "Namespace") {
			t.Errorf("a %s is traced: %v", kind, err)
		}
	}
}

// TestShown holds that a policy which may change Secrets is shown without the values that it writes.
func TestShown(t *testing.T) {
	const metadata = "apiVersion: policy.karmada.io/v1alpha1, kind: OverridePolicy, metadata: {name: o, namespace: a, annotations: {value: kept}}"
	const rules = "overrideRules: [{targetCluster: {labelSelector: {matchLabels: {value: kept}}}, " +
		"overriders: {plaintext: [{path: /data/k, operator: add, value: %[1]s}], labelsOverrider: [{operator: add, value: %[1]s}], " +
		"fieldOverrider: [{fieldPath: /data/j, json: [{subPath: /p, operator: add, value: %[1]s}, {subPath: /q, operator: remove}]}]}}]"
	for _, tt := range []struct {
		name, selectors string
		shown           bool
	}{
		{"Secrets", "resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}]", false},
		{"everything", "resourceSelectors: []", false},
		{"others", "resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]", true},
		{"what somebody else calls Secrets", "resourceSelectors: [{apiVersion: example.com/v1, kind: Secret}]", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			written := "{" + metadata + ", spec: {" + tt.selectors + ", " + fmt.Sprintf(rules, "{k: hunter2}") + "}}"
			want := written
			if !tt.shown {
				want = "{" + metadata + ", spec: {" + tt.selectors + ", " + fmt.Sprintf(rules, "(withheld)") + "}}"
			}
			set, _, diags := policies.Load(obj.Decode("p.yaml", []byte(written)).Objects, nil)
			if diag.HasErrors(diags) {
				t.Fatal(diags)
			}
			if diff := cmp.Diff(object(t, want), override.Shown(set.Override[0])); diff != "" {
				t.Errorf("it is shown as (-want +got):\n%s", diff)
			}
		})
	}
}
