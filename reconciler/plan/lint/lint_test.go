package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/lint"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

const source = `
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, labels: {tier: gold}}
spec: {syncMode: Pull}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: a}
---
`

// policy is a policy with a selector and a placement, as YAML.
func policy(name, selector, placement string) string {
	return fmt.Sprintf("---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: %s, namespace: a}\nspec: {resourceSelectors: [%s], placement: {%s}}\n", name, selector, placement)
}

const (
	all      = "{apiVersion: v1, kind: ConfigMap}"
	named    = "{apiVersion: v1, kind: ConfigMap, name: settings}"
	nearly   = "{apiVersion: v1, kind: ConfigMap, name: setings}"
	override = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\nspec: {resourceSelectors: [" + named + "], overrideRules: [{targetCluster: {clusterNames: [%s]}, overriders: {plaintext: [{path: /data/x, operator: add, value: y}]}}]}\n"
)

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name, policies string
		want           []diag.Code
		hint           string // of the first
	}{
		{"all comes of something", policy("p", all, "clusterAffinity: {clusterNames: [eu]}"), nil, ""},
		{"a selector selects nothing", policy("p", nearly, ""), []diag.Code{diag.SelectsNothing}, "settings"},
		{"another policy has all of it", policy("p", all, "") + policy("q", named, ""), []diag.Code{diag.Shadowed}, ""},
		{"a cluster is not there", policy("p", all, "clusterAffinity: {clusterNames: [eu, ue]}"), []diag.Code{diag.UnknownCluster}, "eu"},
		{"an override is of a cluster that is not there", policy("p", all, "") + fmt.Sprintf(override, "us"), []diag.Code{diag.UnknownCluster}, ""},
		{"an override acts", policy("p", all, "") + fmt.Sprintf(override, "eu"), nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := object.Decode("all.yaml", []byte(source+tt.policies))
			set, objects, _ := policies.Load(d.Objects, nil)
			render.SortObjects(objects)
			in := schedule.Input{Policies: index.Of(set, nil, &index.Memo{}), State: &state.State{}, When: time.Unix(0, 0), Memo: &schedule.Memo{}}
			for _, o := range objects {
				in.Templates = append(in.Templates, template.New(o, &template.Memo{}))
			}
			var got []diag.Code
			found := lint.Find(in.Policies, schedule.Decide(in).Decisions, nil)
			for _, f := range found {
				got = append(got, f.Code)
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("it finds %v, want %v", found, tt.want)
			}
			if tt.hint != "" && !strings.Contains(found[0].Hint, tt.hint) {
				t.Errorf("it hints at %q, want %q", found[0].Hint, tt.hint)
			}
		})
	}
}
