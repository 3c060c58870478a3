package schedule_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

var scalerRef = object.Ref{Group: "autoscaling", Kind: "HorizontalPodAutoscaler", Namespace: "a", Name: "web"}

// scaler is a FederatedHPA for web.
func scaler(least, most int) string {
	return "---\napiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: web, namespace: a}\n" +
		fmt.Sprintf("spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: %d, maxReplicas: %d}\n", least, most)
}

// scales prints the decision about web, the clusters where it says nothing of its replicas, and the decision about what its FederatedHPA
// becomes, with the bounds in each cluster.
func scales(r *schedule.Result) string {
	web, made := r.Find(webRef), r.Find(scalerRef)
	words := []string{web.Outcome.String()}
	for _, c := range web.Targets {
		words = append(words, fmt.Sprintf("%s:%d", c.Name, c.Replicas))
	}
	if made == nil {
		return strings.Join(words, " ")
	}
	words = append(words, "by", strings.Join(slices.Sorted(maps.Keys(web.Scaled)), "+")+";", made.Outcome.String())
	for _, c := range made.Targets {
		words = append(words, fmt.Sprintf("%s:%d..%d", c.Name, made.Shares[c.Name].Min, made.Shares[c.Name].Max))
	}
	return strings.Join(words, " ")
}

// What a FederatedHPA becomes goes where its template goes, with bounds that are divided as its replicas are, and stays as it is where that
// does.
func TestWhatAFederatedHPABecomes(t *testing.T) {
	const (
		duplicated = "placement: {}"
		divided    = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}"
		byWeights  = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, " +
			"weightPreference: {staticWeightList: [{targetCluster: {clusterNames: [eu]}, weight: 3}, {targetCluster: {clusterNames: [us]}, weight: 1}]}}}"
		waits    = "dependentOverrides: [o]\n  placement: {clusterAffinity: {clusterNames: [eu]}}"
		together = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}"
		inEU     = "placement: {clusterAffinity: {clusterNames: [eu]}}"
		nowhere  = "placement: {clusterAffinity: {clusterNames: [ap]}}"
		unbound  = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: u, namespace: a}\nspec: {resourceSelectors: [{apiVersion: v1, kind: Secret}], placement: {}}\n"
		own      = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: own, namespace: a}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, maxReplicas: 3}\n"
		cron     = "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: nightly, namespace: a}\nspec: {schedule: '0 8 * * *'}\n"
		deployed = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: more, namespace: a}\n"
	)
	// strict is a policy with spread constraints that cannot act at once.
	strict := func(spec string) string {
		more := "{spreadConstraints: [{spreadByField: cluster, maxGroups: 9}, {spreadByField: region, maxGroups: 1}, {spreadByField: zone, maxGroups: 1}], "
		return strings.NewReplacer("namespace: a}", "namespace: a, annotations: {waybill.dev/spread: strict}}", "placement: {", "placement: "+more).Replace(policy(spec))
	}
	with := func(replicas string) string { return strings.Replace(web, "replicas: 10", "replicas: "+replicas, 1) }
	deployment, _, _ := strings.Cut(web, "---")
	second, forSecond := "---"+strings.Replace(deployment, "name: web", "name: db", 1), strings.ReplaceAll(scaler(1, 9), "name: web", "name: db")
	says := func(in *schedule.Input) {
		in.Branches = autoscale.Published{
			Says: func(_ *autoscale.Scaler, cluster string) bool { return cluster == "eu" }, By: func(string) string { return "Flux" },
		}
	}
	for _, tt := range []struct {
		name          string
		first, second string // sources; no first: nothing was there before
		edit          func(*schedule.Input)
		want, says    string
	}{
		{"duplicated, all of it is everywhere", "", web + scaler(4, 20) + policy(duplicated), nil, "placed eu:10 us:10 by eu+us; placed eu:4..20 us:4..20", ""},
		{"divided, a part of it is", "", web + scaler(4, 20) + policy(divided), nil, "placed eu:5 us:5 by eu+us; placed eu:2..10 us:2..10", ""},
		{"divided by static weights, they count", "", with("4") + scaler(4, 12) + policy(byWeights), nil, "placed eu:3 us:1 by eu+us; placed eu:3..9 us:1..3", ""},
		{
			"static weights count where replicas are too few for them", "", with("2") + scaler(2, 12) + policy(byWeights), nil,
			"placed eu:1 us:1 by eu+us; placed eu:1..9 us:1..3", "",
		},
		{"fewer replicas than the least are raised", "", with("1") + scaler(4, 20) + policy(divided), nil, "placed eu:2 us:2 by eu+us; placed eu:2..10 us:2..10", ""},
		{"more than the most are lowered", "", web + scaler(2, 6) + policy(divided), nil, "placed eu:3 us:3 by eu+us; placed eu:1..3 us:1..3", ""},
		{"a cluster for which the most has none is left out", "", with("1") + scaler(1, 1) + policy(divided), nil, "placed eu:1 by eu; placed eu:1..1", "hpa-no-seat"},
		{
			"an autoscaler of the source scales the template", "", web + own + scaler(4, 20) + policy(duplicated) + strings.Replace(unbound, "v1, kind: Secret", "autoscaling/v2, kind: HorizontalPodAutoscaler", 1),
			nil, "placed eu:10 us:10", "scales-twice",
		},
		{"an autoscaler of the source goes nowhere", "", web + own + scaler(4, 20) + policy(inEU), nil, "placed eu:10 by eu; placed eu:4..20", ""},
		{"no policy places its template", "", web + scaler(4, 20) + unbound, nil, "unclaimed", "scales-nothing"},
		{"its template finds no cluster", "", web + scaler(4, 20) + policy(nowhere), nil, "placed by ; kept", "unschedulable"},
		{"its template finds no cluster any longer", web + scaler(4, 20) + policy(inEU), web + scaler(4, 20) + policy(nowhere), nil, "placed by ; kept", "unschedulable"},
		{
			"its template waits for an override policy, and both stay", web + scaler(4, 20) + policy(inEU), web + scaler(4, 40) + policy(waits), nil,
			"kept eu:10 by eu; kept eu:4..40", "",
		},
		{"its template stays, and it is new", web + policy(inEU), web + scaler(4, 20) + policy(waits), nil, "kept eu:10 by ; kept eu:4..20", ""},
		{
			"its template's policy is broken, and both stay", web + scaler(4, 20) + policy(divided), web + scaler(4, 20) + strict(together), nil,
			"kept eu:5 us:5 by eu+us; kept eu:2..10 us:2..10", "bad-placement",
		},
		{"it waits where replicas are published that Flux applies", "", web + scaler(4, 20) + policy(divided), says, "placed eu:5 us:5 by us; placed us:2..10", "hpa-handover"},
		{
			"another one comes, whose name is before", web + scaler(4, 20) + policy(inEU),
			web + strings.Replace(scaler(1, 2), "{name: web,", "{name: abe,", 1) + scaler(4, 20) + policy(inEU), nil, "placed eu:10 by eu; placed eu:4..20", "scales-twice",
		},
		{
			"one of another template is gone", web + second + scaler(4, 20) + forSecond + policy(inEU), web + second + scaler(4, 20) + policy(inEU), nil,
			"placed eu:10 by eu; placed eu:4..20", "hpa-handover",
		},
		{"it is gone, and replicas are again as written", web + scaler(4, 20) + policy(divided), web + policy(divided), nil, "placed eu:5 us:5", "hpa-handover"},
		{
			"it comes with something that is behind it", "", web + cron + scaler(4, 20) + policy(inEU), nil, "placed eu:10 by eu; placed eu:4..20", "",
		},
		{
			"it comes with something that is placed, too", "", web + deployed + scaler(4, 20) + policy(inEU), nil, "placed eu:10 by eu; placed eu:4..20", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &state.State{}
			if tt.first != "" {
				r := decide(t, fleet+tt.first, st)
				st = after(&r)
			}
			in := input(t, decode(t, fleet+tt.second), st)
			if tt.edit != nil {
				tt.edit(&in)
			}
			r := schedule.Decide(in)
			if got := scales(&r); got != tt.want || strings.Join(said(r.Diags), " ") != tt.says {
				t.Errorf("it decides %s, and says %v; want %s and %q", got, r.Diags, tt.want, tt.says)
			}
			if !slices.IsSortedFunc(r.Decisions, func(a, b schedule.Decision) int { return a.Ref().Compare(b.Ref()) }) {
				t.Error("decisions are not in the order of refs")
			}
			for _, d := range r.Decisions {
				if d.Binding != nil && (d.Binding.Annotations[state.ScalesAnnotation] == webRef.String()) != (d.Ref() == scalerRef) {
					t.Errorf("the binding of %s says that it scales %q", d.Ref(), d.Binding.Annotations[state.ScalesAnnotation])
				}
			}
		})
	}
}

// What a FederatedHPA becomes has a binding, which is the same as long as it goes to the same clusters.
func TestTheBindingOfWhatAFederatedHPABecomes(t *testing.T) {
	const divided = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}"
	first := decide(t, fleet+web+scaler(4, 20)+policy(divided), &state.State{})
	again := decide(t, fleet+web+scaler(4, 20)+policy(divided), after(&first))
	b := first.Find(scalerRef).Binding
	if b == nil || again.Find(scalerRef).Binding != b || len(b.Spec.Clusters) != 2 || b.Spec.Clusters[0] != (karmada.TargetCluster{Name: "eu"}) {
		t.Fatalf("the binding is %+v, and then %+v", b, again.Find(scalerRef).Binding)
	}
	alone := decide(t, fleet+web+scaler(4, 20)+policy("placement: {clusterAffinity: {clusterNames: [us]}}"), after(&again))
	if b := alone.Find(scalerRef).Binding; len(b.Spec.Clusters) != 1 || b.Spec.Clusters[0].Name != "us" || !strings.HasSuffix(b.Annotations[state.SourceAnnotation], "all.yaml") {
		t.Errorf("in another cluster the binding is %+v", b)
	}
}

// A schedule that cannot set replicas keeps its template as it was, one that names nothing says so, and one of a FederatedHPA sets
// its bounds alone.
func TestSchedulesThatCannotBe(t *testing.T) {
	const cron = "---\napiVersion: autoscaling.karmada.io/v1alpha1\nkind: CronFederatedHPA\nmetadata: {name: s, namespace: a}\n" +
		"spec: {scaleTargetRef: {apiVersion: VERSION, kind: KIND, name: NAME}, rules: [{name: day, schedule: 'WHEN', targetReplicas: 3}]}\n"
	schedules := func(version, kind, name, when string) string {
		return strings.NewReplacer("VERSION", version, "KIND", kind, "NAME", name, "WHEN", when).Replace(cron)
	}
	const refuses = "---\napiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: none}\n" +
		"spec: {target: {apiVersion: apps/v1, kind: Deployment}, customizations: {replicaRevision: {luaScript: 'function ReviseReplica(o, n) error(\"no\") end'}}}\n"
	for _, tt := range []struct{ name, source, want, says string }{
		{"one that counts", schedules("apps/v1", "Deployment", "web", "0 8 * * *"), "placed eu:3", ""},
		{"one that no script can follow", schedules("apps/v1", "Deployment", "web", "0 8 * * *") + refuses, "kept eu:10", "interpret"},
		{
			"one of a FederatedHPA", strings.Replace(
				schedules("autoscaling.karmada.io/v1alpha1", "FederatedHPA", "web", "0 8 * * *"), "targetReplicas", "targetMinReplicas", 1) + scaler(2, 20),
			"placed eu:10 by eu; placed eu:3..20", "",
		},
		{
			"one that counts after one that names nothing", schedules("apps/v1", "Deployment", "db", "0 8 * * *") +
				strings.Replace(schedules("apps/v1", "Deployment", "web", "0 8 * * *"), "name: s,", "name: t,", 1), "placed eu:3", "scales-nothing",
		},
	} {
		first := decide(t, fleet+web+policy("placement: {clusterAffinity: {clusterNames: [eu]}}"), &state.State{})
		in := input(t, decode(t, fleet+web+policy("placement: {clusterAffinity: {clusterNames: [eu]}}")+tt.source), after(&first))
		in.Now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
		r := schedule.Decide(in)
		if got := scales(&r); got != tt.want || strings.Join(said(r.Diags), " ") != tt.says {
			t.Errorf("%s: it decides %s, and says %v; want %s and %q", tt.name, got, r.Diags, tt.want, tt.says)
		}
	}
}
