package lint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
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

// tainted is settings, and an app that brings them along, in two clusters, of which us may have taints.
const tainted = `
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu}, spec: {syncMode: Pull}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us}, spec: {syncMode: Pull, taints: [%s]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: a}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: a}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, envFrom: [{configMapRef: {name: settings}}]}]}}}
`

// TestTaintsThatNothingFollows: those that drive work out, of a cluster in which something was placed that does not tolerate them.
func TestTaintsThatNothingFollows(t *testing.T) {
	const broken, old = "{key: broken, effect: NoExecute}", "{key: old, effect: NoExecute}"
	const app = "{apiVersion: apps/v1, kind: Deployment}"
	const inEU, inUS, tolerates = "clusterAffinity: {clusterNames: [eu]}", "clusterAffinity: {clusterNames: [us]}", ", clusterTolerations: [{key: broken, operator: Exists}]"
	brings := strings.Replace(policy("q", app, inUS+tolerates), "spec: {", "spec: {propagateDeps: true, ", 1)
	for _, tt := range []struct {
		name, taints, policies string
		failsOver              bool
		want                   []string // of each finding, its taint and what stays
	}{
		{"what does not tolerate it stays", broken, policy("p", all, inUS), false, []string{"broken:NoExecute: ConfigMap/a/settings"}},
		{"what tolerates it may stay", broken, policy("p", all, inUS+tolerates), false, nil},
		{"it tolerates one of two", broken + ", " + old, policy("p", all, inUS+tolerates), false, []string{"old:NoExecute: ConfigMap/a/settings"}},
		{"what keeps only new work out drives nothing out", "{key: broken, effect: NoSchedule}", policy("p", all, inUS), false, nil},
		{"it fails over", broken, policy("p", all, inUS), true, nil},
		{"it is elsewhere", broken, policy("p", all, inEU), false, nil},
		{"it is elsewhere, and something that tolerates it brings it along", broken, policy("p", all, inEU) + brings, false, nil},
		{"no policy places what something that tolerates it brings along", broken, brings, false, nil},
		{"something that does not tolerate it brings it along", old, policy("p", all, inEU) + brings, false, []string{"old:NoExecute: Deployment.apps/a/app"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{}}
			in := input(t, fmt.Sprintf(tainted, "")+tt.policies, &before)
			for _, d := range schedule.Decide(in).Decisions {
				if d.Binding != nil {
					before.Bindings[d.Ref()] = d.Binding
				}
			}
			in = input(t, fmt.Sprintf(tainted, tt.taints)+tt.policies, &before)
			in.Policies.Set.Failover.Enabled = tt.failsOver
			var got []string
			for _, f := range lint.Find(in.Policies, schedule.Decide(in).Decisions, nil) {
				_, taint, _ := strings.Cut(f.Message, "cluster us has the taint ")
				got = append(got, strings.Replace(taint, ", and what does not tolerate it stays there", "", 1))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("it finds %q, want %q", got, tt.want)
			}
		})
	}
}

// input is what is decided by a source, and by the state before.
func input(t *testing.T, text string, before *state.State) schedule.Input {
	t.Helper()
	set, objects, diags := policies.Load(object.Decode("all.yaml", []byte(text)).Objects, nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	render.SortObjects(objects)
	in := schedule.Input{Policies: index.Of(set, nil, &index.Memo{}), State: before, When: time.Unix(0, 0), Memo: &schedule.Memo{}}
	for _, o := range objects {
		in.Templates = append(in.Templates, template.New(o, &template.Memo{}))
	}
	return in
}

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
			in := input(t, source+tt.policies, &state.State{})
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
