package lint_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/plan/lint"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

const (
	overriding = "overriders: {plaintext: [{path: /data/x, operator: add, value: y}]}"
	services   = "{apiVersion: v1, kind: Service}"
	inner      = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: inner, namespace: a}\n"
	releases   = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}"
	rooted     = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: a}}\n"
)

// wide is policy for all namespaces.
func wide(name, selector, placement string) string {
	p := strings.Replace(policy(name, selector, placement), "kind: Prop", "kind: ClusterProp", 1)
	return strings.Replace(p, ", namespace: a}", "}", 1)
}

// overrides is an OverridePolicy.
func overrides(selector, rules string) string {
	if selector != "" {
		selector = "resourceSelectors: [" + selector + "], "
	}
	return "---\napiVersion: policy.karmada.io/v1alpha1\nkind: OverridePolicy\nmetadata: {name: o, namespace: a}\n" +
		"spec: {" + selector + rules + "}\n"
}

// rules are override rules, each for clusters.
func rules(clusters ...string) string {
	all := make([]string, len(clusters))
	for i, c := range clusters {
		all[i] = "{targetCluster: {clusterNames: [" + c + "]}, " + overriding + "}"
	}
	return "overrideRules: [" + strings.Join(all, ", ") + "]"
}

// TestWhatIsSaidOfIt: the whole of what is said, of one thing that the others are not about.
func TestWhatIsSaidOfIt(t *testing.T) {
	const inEU = "clusterAffinity: {clusterNames: [eu]}"
	const gold = "clusterAffinity: {fieldSelector: {matchExpressions: [{key: %s, operator: In, values: [x]}]}}"
	annotated := func(annotation, text string) string {
		return strings.Replace(text, ", namespace: a}", ", namespace: a, annotations: {"+annotation+"}}", 1)
	}
	within := func(name string) []expand.Inner {
		release := object.Decode("inner.yaml", []byte(inner)).Objects[0]
		return []expand.Inner{{Release: release, Of: object.Ref{Kind: "ConfigMap", Namespace: "a", Name: name}}}
	}
	const exposed = "---\napiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: api, namespace: b}\n" +
		"spec: {types: [CrossCluster], providerClusters: [{name: eu}], consumerClusters: [{name: us}]}\n"
	const inUS, more = "clusterAffinity: {clusterNames: [us]}", "{apiVersion: v1, kind: ConfigMap, name: more}"
	yet, wrong := all+", {apiVersion: v1, kind: Secret}", ", {apiVersion: v2, kind: ConfigMap}"
	settings := "{apiVersion: v1, kind: ConfigMap, name: settings, namespace: a}"
	ofAll := strings.NewReplacer("kind: O", "kind: ClusterO", "name: o, namespace: a", "name: o").Replace(overrides(settings, rules("us")))
	allOfAll := strings.NewReplacer("kind: O", "kind: ClusterO", "name: o, namespace: a", "name: o").Replace(overrides("", rules("us")))
	absent := "a rule for clusters that are not there, and one for those to which it does not go"
	both := overrides("", rules("eu", "us"))
	old := overrides(all, "targetCluster: {clusterNames: [ue]}, "+overriding)
	noField := policy("p", all, fmt.Sprintf(gold, "zone")) + policy("q", services, fmt.Sprintf(gold, "provider"))
	taints := "---\napiVersion: policy.karmada.io/v1alpha1\nkind: ClusterTaintPolicy\nmetadata: {name: t}\n" +
		"spec: {targetClusters: {clusterNames: [eu, ue]}, taints: [{key: k, effect: NoSchedule}],\n" +
		"  addOnConditions: [{conditionType: Ready, operator: In, statusValues: ['False']}]}\n"
	anything := policy("q", "{apiVersion: '*', kind: '*'}", "")
	for _, tt := range []struct {
		name, policies string
		inners         []expand.Inner
		want           string
	}{
		{"a field that no cluster says", noField, nil, `
20 warning selects-nothing PropagationPolicy a/q selects no object of the source that a policy may place
  hint: the source has no Service that a policy may place in the namespace a
15 warning unknown-label PropagationPolicy a/p selects clusters by what none has:
  no cluster has the zone "x"
  hint: clusters have w1, w2
20 warning unknown-label PropagationPolicy a/q selects clusters by what none has:
  no cluster has the provider "x"
  hint: clusters have acme
`},
		{"clusters of a taint policy", policy("p", all, "") + taints, nil, `
20 warning unknown-cluster ClusterTaintPolicy t names the cluster "ue", which is not registered
  hint: registered are eu, us
`},
		{"the old form of an override, for nobody", policy("p", all, inEU) + old, nil, `
20 warning unknown-cluster OverridePolicy a/o names the cluster "ue", which is not registered
  hint: registered are eu, us
`},
		{"paths", policy("p", all, "") + annotated("waybill.dev/paths: apps/", policy("q", named, "")), nil, `
20 warning selects-nothing PropagationPolicy a/q selects no object of the source that a policy may place
  hint: check waybill.dev/paths, "apps/", and what its selectors name there
`},
		{"anything, in paths", wide("p", all, "") + annotated("waybill.dev/paths: apps/", anything), nil, `
20 warning selects-nothing PropagationPolicy a/q selects no object of the source that a policy may place
  hint: check waybill.dev/paths, "apps/", and what its selectors name there
`},
		{"one in a namespace that is not its own", policy("p", all, "") + policy("q", services, ""), nil, `
20 warning selects-nothing PropagationPolicy a/q selects no object of the source that a policy may place
  hint: the source has no Service that a policy may place in the namespace a
`},
		{"one of a namespace wins over all", wide("p", named, "") + policy("q", all, ""), nil, `
12 warning shadowed ClusterPropagationPolicy p claims nothing:
  others win all that it selects, as PropagationPolicy a/q wins ConfigMap/a/settings:
  a PropagationPolicy beats every ClusterPropagationPolicy
  hint: take what it selects from the other: no priority wins over a PropagationPolicy
`},
		{"one of all wins over another", wide("p", all, "") + wide("q", settings, "") + wide("r", all, ""), nil, `
22 warning shadowed ClusterPropagationPolicy r claims nothing:
  others win all that it selects, as ClusterPropagationPolicy p wins ConfigMap/a/more:
  its name comes after the winner's
  hint: give it a higher priority, or take what it selects from the other
`},
		{"a MultiClusterService has its Service", wide("p", services, "") + policy("q", all, "") + exposed, nil, `
12 warning shadowed ClusterPropagationPolicy p claims nothing:
  others win all that it selects, as MultiClusterService b/api wins Service/b/api:
  MultiClusterService b/api sends it in place of any policy
  hint: remove it, unless it is to place the Service when the MultiClusterService goes
`},
		{"what nobody ever sends", policy("p", all, "") + policy("q", strings.Replace(more, "more", "kube-root-ca.crt", 1), "") + rooted, nil, `
`},
		{"an override of what is within a release", policy("p", all, inEU) + overrides(releases, rules("eu", "us")), within("settings"), `
20 warning overrides-nowhere OverridePolicy a/o rule 1 changes nothing:
  what it selects, such as HelmRelease.helm.toolkit.fluxcd.io/a/inner, goes to none of its clusters, but to eu
  hint: waybill explain HelmRelease.helm.toolkit.fluxcd.io/inner -n a shows where it goes, and why
`},
		{"an override of what is within what is not there", policy("p", all, inEU) + overrides(releases, rules("eu", "us")), within("gone"), `
17 warning overrides-nowhere OverridePolicy a/o changes nothing:
  nothing that it selects goes to any cluster
  hint: waybill explain KIND/NAME shows where an object goes, and why
`},
		{"a policy for what is within a release", policy("p", all, inEU) + policy("q", releases, ""), within("settings"), `
17 warning shadowed PropagationPolicy a/q claims nothing:
  ConfigMap/a/settings renders what it selects, such as HelmRelease.helm.toolkit.fluxcd.io/a/inner, and that goes where the release goes
  hint: select the release instead
`},
		{"an override of everything in another namespace", policy("p", all, inEU) + wide("q", services, inUS) + overrides("", rules("us")), nil, `
25 warning overrides-nowhere OverridePolicy a/o rule 0 changes nothing:
  what it selects, such as ConfigMap/a/more, goes to none of its clusters, but to eu
  hint: waybill explain ConfigMap/more -n a shows where it goes, and why
`},
		{"an override of everything, of which one goes there", policy("p", named, inEU) + policy("q", more, inUS) + both, nil, `
`},
		{absent, policy("p", all, inEU) + overrides(all, rules("ue", "us")), nil, `
20 warning unknown-cluster OverridePolicy a/o names the cluster "ue", which is not registered
  hint: registered are eu, us
`},
		{"overrides of one of all", policy("p", all, inEU) + ofAll, nil, `
20 warning overrides-nowhere ClusterOverridePolicy o rule 0 changes nothing:
  what it selects, such as ConfigMap/a/settings, goes to none of its clusters, but to eu
  hint: waybill explain ConfigMap/settings -n a shows where it goes, and why
`},
		{"a label that is nearly one", policy("p", all, "clusterAffinity: {labelSelector: {matchLabels: {tiers: gold}}}"), nil, `
15 warning unknown-label PropagationPolicy a/p selects clusters by what none has:
  no cluster has the label tiers
  hint: did you mean "tier"?
`},
		{"overrides of all there is", policy("p", all, inEU) + allOfAll, nil, `
20 warning overrides-nowhere ClusterOverridePolicy o rule 0 changes nothing:
  what it selects, such as ConfigMap/a/more, goes to none of its clusters, but to eu
  hint: waybill explain ConfigMap/more -n a shows where it goes, and why
`},
		{"mistakes, and what is not there yet", policy("p", yet+strings.Repeat(wrong, 5), ""), nil, `
15 warning selector-selects-nothing PropagationPolicy a/p selects no ConfigMap of v2 in a
  hint: the source has it as v1
5 times
15 notice selector-selects-nothing PropagationPolicy a/p selects nothing by 1 of its 7 selectors:
  Secret of v1 in a
  hint: the source has no such object that a policy may place
`},
		{"more mistakes, and what is not there yet", policy("p", yet+strings.Repeat(wrong, 6), ""), nil, `
15 warning selector-selects-nothing PropagationPolicy a/p selects no ConfigMap of v2 in a
  hint: the source has it as v1
5 times
15 warning selector-selects-nothing PropagationPolicy a/p selects nothing by 2 of its 8 selectors:
  Secret of v1 in a, ConfigMap of v2 in a
  hint: the source has no such object that a policy may place
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := input(t, fleetOfTwo+tt.policies, &state.State{})
			var all []string
			for _, d := range lint.Find(in.Policies, schedule.Decide(in).Decisions, tt.inners) {
				at, message := strings.TrimPrefix(d.Pos.String(), "all.yaml:"), strings.ReplaceAll(d.Message, ": ", ":\n  ")
				all = append(all, fmt.Sprintf("%s %s %s %s\n  hint: %s\n", at, d.Severity, d.Code, message, d.Hint))
			}
			var said strings.Builder
			for len(all) > 0 {
				n := 1
				for n < len(all) && all[n] == all[0] {
					n++
				}
				if said.WriteString(all[0]); n > 1 {
					fmt.Fprintf(&said, "%d times\n", n)
				}
				all = all[n:]
			}
			if diff := cmp.Diff(tt.want, "\n"+said.String()); diff != "" {
				t.Errorf("(-want +is):\n%s", diff)
			}
		})
	}
}

// A hundred selectors are given a hint; those after them are told what to look at.
func TestTheFirstAreGivenAHint(t *testing.T) {
	var text strings.Builder
	for i := range 101 {
		text.WriteString(policy(fmt.Sprintf("p%03d", i), fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, name: setings-%d}", i), ""))
	}
	in := input(t, fleetOfTwo+text.String(), &state.State{})
	found := lint.Find(in.Policies, schedule.Decide(in).Decisions, nil)
	is := []string{strconv.Itoa(len(found)), found[0].Hint, found[99].Hint, found[100].Hint}
	want := []string{
		"101", `did you mean "settings"?`, "the source has more, settings",
		"check its apiVersion, kind, namespace, name and labels",
	}
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("(-want +is):\n%s", diff)
	}
}

// What is made of a MultiClusterIngress is selected by policies as that, and by overrides as what it is.
func TestWhatIsMadeIsSelectedAsWhatItIsMadeOf(t *testing.T) {
	const (
		multi   = "{apiVersion: networking.karmada.io/v1alpha1, kind: MultiClusterIngress"
		single  = "{apiVersion: networking.k8s.io/v1, kind: Ingress"
		written = ", metadata: {name: front, namespace: a}, spec: {defaultBackend: {service: {name: api, port: {number: 80}}}}}\n"
	)
	const (
		noPolicy = "PropagationPolicy a/p selects no object of the source that a policy may place: "
		nowhere  = "; OverridePolicy a/o changes nothing: nothing that it selects goes to any cluster: " +
			"waybill explain KIND/NAME shows where an object goes, and why"
		noOverride = "OverridePolicy a/o selects no object of the source that a policy may place: "
	)
	for _, tt := range []struct{ policy, override, want string }{
		{multi, single, ""},
		{single, single, noPolicy + "the source has no Ingress that a policy may place in the namespace a" + nowhere},
		{multi, multi, noOverride + "the source has no MultiClusterIngress that a policy may place in the namespace a"},
		{multi + ", name: frnt", single, noPolicy + `did you mean "front"?` + nowhere},
	} {
		text := fleetOfTwo + policy("q", all, "") + policy("p", tt.policy+"}", "") + overrides(tt.override+"}", rules("eu"))
		in := input(t, text+"---\n"+single+written, &state.State{})
		for _, one := range in.Templates {
			if one.Ref().Kind == "Ingress" {
				one.MadeOf = object.Decode("multi.yaml", []byte(multi+written)).Objects[0]
			}
		}
		var is []string
		for _, d := range lint.Find(in.Policies, schedule.Decide(in).Decisions, nil) {
			is = append(is, d.Message+": "+d.Hint)
		}
		if got := strings.Join(is, "; "); got != tt.want {
			t.Errorf("a policy for %s and an override for %s: %q, want %q", tt.policy, tt.override, got, tt.want)
		}
	}
}

// Where there are no clusters, nothing is said of their names.
func TestOfNoClustersNoneIsMissed(t *testing.T) {
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: a}}\n"
	in := input(t, settings+policy("p", all, "clusterAffinity: {clusterNames: [eu]}"), &state.State{})
	if found := lint.Find(in.Policies, schedule.Decide(in).Decisions, nil); len(found) > 0 {
		t.Errorf("it finds %v", found)
	}
}
