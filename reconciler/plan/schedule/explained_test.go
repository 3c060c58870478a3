package schedule_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	rules "github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

// explained prints an explanation: who claims it, who lost it, and what became of each cluster.
func explained(e schedule.Explanation) string {
	words := []string{"nobody"}
	if e.Winner != nil {
		words[0] = e.Winner.Object.Ref().Name
	}
	for _, l := range e.Losers {
		words = append(words, "not "+l.Policy)
	}
	if e.Placement == nil {
		return strings.Join(append(words, "without a placement"), ", ")
	}
	for _, c := range e.Placement.Clusters {
		what := strconv.FormatInt(c.Seats, 10)
		if c.Rejected != "" {
			what = "rejected"
		}
		words = append(words, c.Name+" "+what)
	}
	return strings.Join(words, ", ")
}

// An explanation tells what was decided, after the decisions that it is about, and counts nothing twice.
func TestADecisionIsExplained(t *testing.T) {
	const (
		divided    = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}"
		byRoom     = "placement: {replicaScheduling: {replicaSchedulingType: Divided, weightPreference: {dynamicWeight: AvailableReplicas}}}"
		single     = "placement: {spreadConstraints: [{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}"
		rebalances = "---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: r}\n" +
			"spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: web}]}\n"
		fourth = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: q, namespace: a}\nspec:\n" +
			"  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n  placement: {}\n"
	)
	strict := strings.NewReplacer("namespace: a}", "namespace: a, annotations: {waybill.dev/spread: strict}}").Replace(policy("placement: {spreadConstraints: " +
		"[{spreadByField: cluster, maxGroups: 9}, {spreadByField: region, maxGroups: 1}, {spreadByField: zone, maxGroups: 1}]}"))
	more := strings.Replace(web, "replicas: 10", "replicas: 12", 1)
	waiting := strings.Replace(roomy, "memory: 100Gi}}", "memory: 100Gi}}, waybill: {unschedulable: [{apiVersion: apps/v1, kind: Deployment, namespace: a, "+
		"name: web, pods: 5, ready: 2, unschedulable: 3, since: '2026-11-21T11:50:00Z', seen: '2026-11-21T12:00:00Z'}]}", 1)
	settings := object.Ref{Kind: "ConfigMap", Namespace: "a", Name: "settings"}
	for _, tt := range []struct {
		name          string
		first, second string
		edit          func(*schedule.Input)
		of            object.Ref
		want          string
	}{
		{"nobody claims it", "", fleet + web, nil, webRef, "nobody, without a placement"},
		{"a policy claims it", "", fleet + web + policy(divided), nil, webRef, "p, eu 5, us 5"},
		{"another policy lost it", "", fleet + web + policy(divided) + fourth, nil, webRef, "p, not PropagationPolicy a/q, eu 5, us 5"},
		{"it is pulled along", "", fleet + web + policy("propagateDeps: true\n  placement: {}"), nil, settings, "nobody, without a placement"},
		{"the policy has an error", "", fleet + web + strict, nil, webRef, "p, without a placement"},
		{"it goes where its template goes", "", fleet + web + scaler(4, 20) + policy(divided), nil, scalerRef, "p, without a placement"},
		{"a FederatedHPA scales it", "", fleet + web + scaler(4, 20) + policy(divided), nil, webRef, "p, eu 5, us 5"},
		{"a FederatedHPA has no replica for a cluster", "", fleet + strings.Replace(web, "replicas: 10", "replicas: 1", 1) + scaler(1, 1) + policy(divided), nil, webRef, "p, eu 1, us 0"},
		{"it was elsewhere", fleet + web + policy("placement: {clusterAffinity: {clusterNames: [us]}}"), fleet + web + policy(single), nil, webRef, "p, eu 0, us 10"},
		{
			"it leaves a cluster", fleet + web + policy(single), tainted("eu") + web + policy(single), func(in *schedule.Input) {
				in.Now, in.Failover = noon, leaves(noon, true, failover.Record{}, nil)
			}, webRef, "p, eu rejected, us 10",
		},
		{
			"its replicas find no node in a cluster", roomy + web + policy(byRoom), waiting + web + policy(byRoom), func(in *schedule.Input) {
				in.Now, in.Descheduler = noon, &rules.Rules{Threshold: 5 * time.Minute, Cooldown: time.Hour}
			}, webRef, "p, eu 2, us 8",
		},
		{"it grows", roomy + web + policy(byRoom), strings.ReplaceAll(roomy, "pods: '100'", "pods: '20'") + more + policy(byRoom), nil, webRef, "p, eu 6, us 6"},
		{"it is divided afresh", roomy + web + policy(byRoom), roomy + web + policy(byRoom) + rebalances, nil, webRef, "p, eu 5, us 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &state.State{}
			if tt.first != "" {
				r := decide(t, tt.first, st)
				st = after(&r)
			}
			in := input(t, decode(t, tt.second), st)
			if tt.edit != nil {
				tt.edit(&in)
			}
			r := schedule.Decide(in)
			e, found := schedule.Explain(in, r.Decisions, tt.of)
			if got := explained(e); got != tt.want || !found {
				t.Errorf("it is explained by %s, want %s", got, tt.want)
			}
			if _, found := schedule.Explain(in, r.Decisions, object.Ref{Kind: "Secret", Namespace: "a", Name: "none"}); found {
				t.Error("what there is no decision about is explained")
			}
			if e.Placement == nil {
				return
			}
			d := r.Find(tt.of)
			for i, c := range e.Placement.Decision.Targets {
				if len(d.Scheduled) != len(e.Placement.Decision.Targets) || c != d.Scheduled[i] {
					t.Errorf("it is explained by %v, and was decided as %v", e.Placement.Decision.Targets, d.Scheduled)
				}
			}
		})
	}
}

// What a release renders to is explained by the policy that selects the release.
func TestWhatAReleaseRendersIsExplained(t *testing.T) {
	const source = fleet + "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: NAME, namespace: a}\n" +
		"spec: {resourceSelectors: [{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease}], placement: {}}\n"
	const helm = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: a}\nspec: {interval: 5m}\n"
	second := strings.Replace(source[len(fleet):], "NAME", "q", 1)
	in := input(t, decode(t, strings.Replace(source, "NAME", "p", 1)+"---\n"+second+"---\n"+helm), &state.State{})
	release := in.Templates[0]
	deployment, _, _ := strings.Cut(web, "---")
	memo := &template.Memo{}
	part := template.New(decode(t, deployment)[0], memo)
	part.Part = &template.Part{Release: release.Object, Policy: in.Policies.Set.Propagation[0], Groups: []int{0, template.NoGroup}, Failed: map[string]bool{}}
	part.Part.Add(part.Object, 0, memo)
	for _, tt := range []struct {
		name      string
		templates []*template.Template
		want      string
	}{
		{"the release is there", []*template.Template{part, release}, "p, not PropagationPolicy a/q, eu 10, us rejected"},
		{"it is not", []*template.Template{part}, "nobody, eu 10, us rejected"},
	} {
		in.Templates = tt.templates
		r := schedule.Decide(in)
		if e, _ := schedule.Explain(in, r.Decisions, webRef); explained(e) != tt.want {
			t.Errorf("%s: it is explained by %s, want %s", tt.name, explained(e), tt.want)
		}
	}
}

// Where a release goes is known before anything is known of what it renders to, as it is decided then.
func TestWhereAReleaseGoes(t *testing.T) {
	const helm = "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: a}\nspec: {interval: 5m}\n"
	selects := func(spec string) string {
		return strings.Replace(policy(spec), "apps/v1, kind: Deployment", "helm.toolkit.fluxcd.io/v2, kind: HelmRelease", 1)
	}
	const inEU, single = "placement: {clusterAffinity: {clusterNames: [eu]}}", "placement: {spreadConstraints: [{spreadByField: cluster, maxGroups: 1, minGroups: 1}]}"
	enabled := strings.ReplaceAll(fleet, "spec: {syncMode: Pull}", "spec: {syncMode: Pull}\nstatus: {apiEnablements: [{groupVersion: apps/v1, resources: [{kind: Deployment, name: deployments}]}]}")
	for _, tt := range []struct{ name, first, second, want, says string }{
		{"no policy claims it", "", fleet + helm, "nobody", ""},
		{"a policy claims it", "", fleet + helm + selects(inEU), "p eu", ""},
		{"no cluster serves its kind", "", enabled + helm + selects(inEU), "p eu", ""},
		{"no cluster fits", "", fleet + helm + selects("placement: {clusterAffinity: {clusterNames: [ap]}}"), "p", "unschedulable"},
		{"its policy waits", "", fleet + helm + selects("dependentOverrides: [o]\n  "+inEU), "nobody", ""},
		{"its policy waits, and it is there", fleet + helm + selects(inEU), fleet + helm + selects("dependentOverrides: [o]\n  placement: {}"), "p eu", ""},
		{"it leaves a cluster", fleet + helm + selects(single), tainted("eu") + helm + selects(single), "p us", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &state.State{}
			if tt.first != "" {
				r := decide(t, tt.first, st)
				st = after(&r)
			}
			in := input(t, decode(t, tt.second), st)
			in.Now, in.Failover = noon, leaves(noon, true, failover.Record{}, nil)
			in.Descheduler = &rules.Rules{Threshold: 5 * time.Minute, Cooldown: time.Hour}
			p, clusters := schedule.Release(in, in.Templates[0])
			words := []string{"nobody"}
			if p != nil {
				words[0] = p.Object.Ref().Name
			}
			for _, c := range clusters {
				words = append(words, c.Name)
			}
			if got := strings.Join(words, " "); got != tt.want {
				t.Errorf("it goes to %s, want %s", got, tt.want)
			}
			r := schedule.Decide(in)
			if tt.says != strings.Join(said(r.Diags), " ") {
				t.Errorf("it says %v", r.Diags)
			}
			if d := r.Decisions[0]; d.Policy != p || len(d.Scheduled) != len(clusters) {
				t.Errorf("it is decided as %s", moves(&d))
			}
		})
	}
}
