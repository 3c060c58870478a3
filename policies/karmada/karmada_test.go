package karmada

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func decode(t *testing.T, apiVersion, kind, doc string) (any, []FieldError) {
	t.Helper()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(doc), &content); err != nil {
		t.Fatal(err)
	}
	content["apiVersion"], content["kind"] = apiVersion, kind
	if _, ok := content["metadata"]; !ok {
		metadata := map[string]any{"name": "web"}
		if Namespaced(apiVersion, kind) {
			metadata["namespace"] = "shop"
		}
		content["metadata"] = metadata
	}
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return Decode(apiVersion, kind, data)
}

func lines(fs []FieldError) []string {
	var out []string
	for _, f := range fs {
		mark := ""
		if f.Warning {
			mark = "?"
		}
		out = append(out, printed(f.Path)+" "+string(f.Code)+mark)
	}
	return out
}

func printed(path []any) string {
	var b strings.Builder
	for i, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

func explain(fs []FieldError) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintf(&b, "%s: %s [%s] hint: %s\n", printed(f.Path), f.Message, f.Code, f.Hint)
	}
	return b.String()
}

// TestInForce holds what a spec says by a field of its own, by an older field, or by none.
func TestInForce(t *testing.T) {
	two := int32(2)
	rule := []RuleWithCluster{{TargetCluster: &ClusterAffinity{ClusterNames: []string{"m1"}}}}
	old := OverrideSpec{TargetCluster: &ClusterAffinity{ClusterNames: []string{"m2"}}, Overriders: Overriders{Plaintext: []PlaintextOverrider{{Path: "/a"}}}}
	both := old
	both.OverrideRules = rule
	virtual := &Cluster{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}
	suffixed := &Cluster{ObjectMeta: metav1.ObjectMeta{Name: "m1", Annotations: map[string]string{SuffixAnnotation: "-eu"}}}
	unsuffixed := &Cluster{ObjectMeta: metav1.ObjectMeta{Name: "m1", Annotations: map[string]string{SuffixAnnotation: ""}}}
	named := MultiClusterServiceSpec{
		ProviderClusters:         []ClusterSelector{{Name: "m1"}, {Name: "m2"}},
		ServiceProvisionClusters: []string{"m3"},
		Range:                    ExposureRange{ClusterNames: []string{"m4"}},
	}
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"no priority is 0", (&PropagationSpec{}).ExplicitPriority(), int32(0)},
		{"a priority counts", (&PropagationSpec{Priority: &two}).ExplicitPriority(), int32(2)},
		{"rules count", both.Rules(), rule},
		{"the old form is a rule where there are none", old.Rules(), []RuleWithCluster{{TargetCluster: old.TargetCluster, Overriders: old.Overriders}}},
		{"both wildcards are any kind", ResourceSelector{APIVersion: "*", Kind: "*"}.Wild(), true},
		{"a wildcard kind is not any kind", ResourceSelector{APIVersion: "v1", Kind: "*"}.Wild(), false},
		{"a wildcard apiVersion is not any kind", ResourceSelector{APIVersion: "*", Kind: "Secret"}.Wild(), false},
		{"a virtual cluster appends its name", virtual.NamespaceSuffix(), "-m1"},
		{"a virtual cluster appends what it says", suffixed.NamespaceSuffix(), "-eu"},
		{"which may be a mistake", unsuffixed.NamespaceSuffix(), ""},
		{"clusters are named by the field that counts first", named.Providers(), []Named{{[]string{"m1", "m2"}, "providerClusters"}, {[]string{"m3"}, "serviceProvisionClusters"}, {[]string{"m4"}, "range"}}},
		{"what names no cluster does not count", named.Consumers(), []Named{{[]string{"m4"}, "range"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("in force (-want +got):\n%s", diff)
			}
		})
	}
}
