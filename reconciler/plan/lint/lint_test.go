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
	if slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error }) {
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

// fleetOfTwo is settings, and a Service of another namespace, and two clusters that differ in all by which clusters are selected.
const fleetOfTwo = `
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: eu, labels: {tier: gold}}, spec: {syncMode: Pull, provider: acme, region: west, zones: [w1, w2]}}
---
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: us, labels: {tier: iron}}, spec: {syncMode: Pull}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: a, labels: {in: use}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: more, namespace: a}}
---
{apiVersion: v1, kind: Service, metadata: {name: api, namespace: b}, spec: {ports: [{port: 80}]}}
`

// TestWhatIsFound: each finding has the place of what is wrong, and says what of it.
func TestWhatIsFound(t *testing.T) {
	const inEU = "clusterAffinity: {clusterNames: [eu]}"
	overrides := func(rules string) string {
		return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\nspec: {resourceSelectors: [" + all + "], " + rules + "}\n"
	}
	const overriders = "overriders: {plaintext: [{path: /data/x, operator: add, value: y}]}"
	wide := strings.Replace(policy("p", all, ""), "metadata: {name: p, namespace: a}", "metadata: {name: p}", 1)
	wide = strings.Replace(wide, "kind: PropagationPolicy", "kind: ClusterPropagationPolicy", 1)
	for name, tt := range map[string]struct {
		policies string
		want     []string // parts of what each finding says
	}{
		"clusters by what they have":      {policy("p", all, "clusterAffinity: {labelSelector: {matchExpressions: [{key: tier, operator: In, values: [gold]}]}, fieldSelector: {matchExpressions: [{key: zone, operator: In, values: [w2]}, {key: provider, operator: NotIn, values: [none]}]}, exclude: [us]}"), nil},
		"a label that none has":           {policy("p", all, "clusterAffinity: {labelSelector: {matchLabels: {teir: gold}}}"), []string{"no cluster has the label teir"}},
		"a value that none has":           {policy("p", all, "clusterAffinity: {labelSelector: {matchExpressions: [{key: tier, operator: In, values: [gold, silver]}]}}"), []string{`no cluster has the label tier "silver"`}},
		"a label that has to be":          {policy("p", all, "clusterAffinity: {labelSelector: {matchExpressions: [{key: ring, operator: Exists}]}}"), []string{"no cluster has the label ring"}},
		"a label that may not be":         {policy("p", all, "clusterAffinity: {labelSelector: {matchExpressions: [{key: ring, operator: DoesNotExist}]}}"), nil},
		"a field that none has":           {policy("p", all, "clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: In, values: [east]}]}}"), []string{`no cluster has the region "east"`}},
		"excluded, and not there":         {policy("p", all, "clusterAffinity: {exclude: [ue]}"), []string{`names the cluster "ue"`}},
		"in the second group of clusters": {policy("p", all, "clusterAffinities: [{affinityName: x, clusterNames: [eu]}, {affinityName: y, clusterNames: [ue]}], replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}"), []string{`names the cluster "ue"`}},
		"weights of who is not there": {
			policy("p", all, "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [ue]}, weight: 1}]}}"), []string{`names the cluster "ue"`},
		},
		"another kind": {policy("p", all+", {apiVersion: v1, kind: Service, name: api}", ""), []string{"selects no Service of v1 called api"}},
		"more mistakes than are told one by one": {
			policy("p", all+strings.Repeat(", {apiVersion: v1, kind: Service, name: api}", 7), ""), append(slices.Repeat([]string{"selects no Service of v1 called api"}, 5), "selects nothing by 2 of its 8 selectors"),
		},
		"objects of another namespace":    {policy("p", all, "") + strings.Replace(policy("q", all, ""), "namespace: a", "namespace: c", 1), []string{"PropagationPolicy c/q selects no object"}},
		"a name of another namespace":     {strings.Replace(wide, all, all+", {apiVersion: v1, kind: ConfigMap, name: settings, namespace: b}", 1), []string{"called settings in b; the source has no ConfigMap that a policy may place in the namespace b"}},
		"a name that is like none":        {policy("p", all+", {apiVersion: v1, kind: ConfigMap, name: zzzzzzzz}", ""), []string{"the source has more, settings"}},
		"weights of a cluster that is":    {policy("p", all, "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [us]}, weight: 1}]}}"), nil},
		"suspended where nobody is":       {strings.Replace(policy("p", all, ""), "spec: {", "spec: {suspension: {dispatchingOnClusters: {clusterNames: [eu, ue]}}, ", 1), []string{`names the cluster "ue"`}},
		"overflow to who is not there":    {policy("p", all, "clusterAffinities: [{affinityName: x, clusterNames: [eu], overflowAffinities: [{affinityName: z, clusterNames: [ue]}]}], replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}"), []string{`names the cluster "ue"`}},
		"a field that another has":        {policy("p", all, "clusterAffinity: {fieldSelector: {matchExpressions: [{key: provider, operator: In, values: [acme]}, {key: region, operator: In, values: [west]}, {key: provider, operator: In, values: [acne]}]}}"), []string{`no cluster has the provider "acne"`}},
		"two rules, of which both act":    {policy("p", all, "") + overrides("overrideRules: [{targetCluster: {clusterNames: [us]}, "+overriders+"}, {targetCluster: {clusterNames: [eu, us]}, "+overriders+"}]"), nil},
		"overrides by name in no place":   {policy("p", all, inEU) + strings.Replace(overrides("overrideRules: [{"+overriders+"}]"), all, "{apiVersion: v1, kind: ConfigMap, name: many}", 1), []string{"OverridePolicy a/o selects no object"}},
		"none of a kind yet":              {policy("p", all+", {apiVersion: v1, kind: Secret}", ""), []string{"selects nothing by 1 of its 2 selectors: Secret of v1"}},
		"a kind that is nearly there":     {policy("p", all+", {apiVersion: v1, kind: ConfigMaps}", ""), []string{"selects no ConfigMaps of v1"}},
		"another version of a kind":       {policy("p", all+", {apiVersion: v2, kind: ConfigMap}", ""), []string{"the source has it as v1"}},
		"labels that none has":            {policy("p", named+", {apiVersion: v1, kind: ConfigMap, labelSelector: {matchLabels: {in: vain}}}", ""), []string{"selects no ConfigMap of v1 in a with its labels"}},
		"a policy of one namespace wins":  {wide + policy("q", all, ""), []string{"ClusterPropagationPolicy p claims nothing: others win all that it selects, as PropagationPolicy a/q wins ConfigMap/a/more"}},
		"one of two is left":              {policy("p", all, "") + policy("q", named, "") + policy("r", "{apiVersion: v1, kind: ConfigMap, name: more}", ""), []string{"PropagationPolicy a/p claims nothing"}},
		"overrides where it goes not":     {policy("p", all, inEU) + overrides("overrideRules: [{targetCluster: {clusterNames: [eu]}, "+overriders+"}, {targetCluster: {clusterNames: [us]}, "+overriders+"}]"), []string{"OverridePolicy a/o rule 1 changes nothing: what it selects, such as ConfigMap/a/more, goes to none of its clusters, but to eu"}},
		"overrides of what goes nowhere":  {overrides("overrideRules: [{" + overriders + "}]"), []string{"changes nothing: nothing that it selects goes to any cluster"}},
		"overrides in the old form":       {policy("p", all, inEU) + overrides("targetCluster: {clusterNames: [us]}, "+overriders), []string{"rule 0 changes nothing"}},
		"overrides of a namespace":        {policy("p", all, inEU) + strings.Replace(overrides("overrideRules: [{"+overriders+"}]"), "resourceSelectors: ["+all+"], ", "", 1), nil},
		"overrides of an empty namespace": {policy("p", all, inEU) + strings.NewReplacer("resourceSelectors: ["+all+"], ", "", "namespace: a", "namespace: c").Replace(overrides("overrideRules: [{"+overriders+"}]")), []string{"OverridePolicy c/o selects no object"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, fleetOfTwo+tt.policies, &state.State{})
			found := lint.Find(in.Policies, schedule.Decide(in).Decisions, nil)
			if len(found) != len(tt.want) {
				t.Fatalf("it finds %v, want %q", found, tt.want)
			}
			for i, f := range found {
				if !strings.Contains(f.Message+"; "+f.Hint, tt.want[i]) || f.Pos.Line == 0 {
					t.Errorf("it finds %v (%s), want %q", f, f.Hint, tt.want[i])
				}
			}
		})
	}
}

// TestAPolicyThatLosesAllThatItSelects: that is said once, also where a release renders some of it; of one that wins something of that kind
// nothing is.
func TestAPolicyThatLosesAllThatItSelects(t *testing.T) {
	for more, want := range map[string][]string{
		policy("q", named, "") + policy("r", "{apiVersion: v1, kind: ConfigMap, name: more}", ""): {"others win all that it selects"},
		"": nil,
	} {
		in := input(t, fleetOfTwo+policy("p", all, "")+more, &state.State{})
		decisions := schedule.Decide(in).Decisions
		first := slices.IndexFunc(decisions, func(d schedule.Decision) bool { return d.Ref().Kind == "ConfigMap" })
		one := *decisions[first].Template
		one.Part = &template.Part{Release: object.Decode("release.yaml", []byte("{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web, namespace: a}}")).Objects[0]}
		decisions[first].Template = &one
		var got []string
		for _, f := range lint.Find(in.Policies, decisions, nil) {
			_, why, _ := strings.Cut(f.Message, "PropagationPolicy a/p claims nothing: ")
			why, _, _ = strings.Cut(why, ", as")
			got = append(got, why)
		}
		if !slices.Equal(got, want) {
			t.Errorf("it finds %q, want %q", got, want)
		}
	}
}
