package schedule_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
)

var webRef = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}

// decided is all that decisions say, with the bindings.
func decided(t *testing.T, r *schedule.Result) string {
	t.Helper()
	bindings := map[string]*karmada.ResourceBinding{}
	for _, d := range r.Decisions {
		bindings[d.Ref().String()] = d.Binding
	}
	text, err := json.MarshalIndent(bindings, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(summary(r), "; ", "\n") + "\n" + string(text)
}

// TestWhatIsRememberedChangesNoDecision: a plan that remembers others decides what one that remembers nothing would, whatever
// single thing differs from one plan to the next, while objects, policies and lists stay the same in memory.
func TestWhatIsRememberedChangesNoDecision(t *testing.T) {
	const (
		divided  = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}"
		another  = "---\napiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: ap}\nspec: {syncMode: Pull}\n"
		byRoom   = "placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}}"
		affinity = "placement: {clusterAffinities: [{affinityName: near, clusterNames: [eu, us]}, {affinityName: far, clusterNames: [us]}], " +
			"replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}}"
		cron = "---\napiVersion: autoscaling.karmada.io/v1alpha1\nkind: CronFederatedHPA\nmetadata: {name: web, namespace: a}\n" +
			"spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, rules: [{name: night, schedule: '0 22 * * *', targetReplicas: 2}, {name: day, schedule: '0 6 * * *', targetReplicas: 10}]}\n"
		script = "---\napiVersion: config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {name: half}\n" +
			"spec: {target: {apiVersion: apps/v1, kind: Deployment}, customizations: {replicaResource: {luaScript: 'function GetReplicas(o) return 4, nil end'}}}\n"
		rebalancer = "---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: r}\n" +
			"spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: a, name: web}]}\n"
		quota = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {name: q, namespace: a}\n" +
			"spec: {overall: {cpu: '5'}}\n"
		configMaps = "---\napiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: c, namespace: a}\nspec:\n" +
			"  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]\n  placement: {clusterAffinity: {clusterNames: [eu]}}\n"
	)
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	// bound is a state in which web is somewhere.
	bound := func(clusters []karmada.TargetCluster, group string, leaves ...string) *state.State {
		rb := state.NewBinding("apps/v1", webRef)
		rb.Spec.Replicas, rb.Spec.Clusters, rb.Status.SchedulerObservedAffinityName = 10, clusters, group
		for _, c := range leaves {
			rb.Spec.GracefulEvictionTasks = append(rb.Spec.GracefulEvictionTasks, karmada.GracefulEvictionTask{FromCluster: c, CreationTimestamp: new(metav1.NewTime(noon))})
		}
		return &state.State{Bindings: map[object.Ref]*karmada.ResourceBinding{webRef: rb}}
	}
	both := []karmada.TargetCluster{{Name: "eu", Replicas: 7}, {Name: "us", Replicas: 3}}
	more := []karmada.TargetCluster{{Name: "eu", Replicas: 3}, {Name: "us", Replicas: 7}}
	fails := func(enabled bool) func(*schedule.Input) {
		return func(in *schedule.Input) {
			rules := evict.Rules{Timeout: 10 * time.Minute, Limits: evict.Limits{Unhealthy: 55, Large: 50, LargeUnhealthy: 50, OneIn: 1}}
			in.Now = noon
			in.Failover = &failover.Settings{Enabled: enabled, Rules: rules, Evidence: &failover.Live{Rules: rules, Now: in.Now}}
		}
	}
	at := func(hour int) func(*schedule.Input) {
		return func(in *schedule.Input) { in.Now = time.Date(2026, 11, 21, hour, 0, 0, 0, time.UTC) }
	}
	base := decode(t, strings.ReplaceAll(strings.TrimSuffix(fleet, "---\n"), "spec: {syncMode: Pull}\n", "spec: {syncMode: Pull}\nstatus: {resourceSummary: {allocatable: {pods: '100', cpu: '100', memory: 100Gi}}}\n"))
	objects := func(text string) []*object.Object {
		return decode(t, strings.TrimPrefix(strings.TrimPrefix(text, "\n"), "---\n"))
	}
	type step struct {
		source []*object.Object // beside the fleet
		state  *state.State     // nil: that of the step before
		set    func(*schedule.Input)
	}
	with := func(more ...[]*object.Object) []*object.Object { return slices.Concat(more...) }
	alone, asks := objects(configMaps), objects(strings.Replace(web, "image: x, ", "image: x, resources: {requests: {cpu: '1'}}, ", 1))
	app, big := objects(web), objects(strings.Replace(web, "replicas: 10", "replicas: 4", 1))
	duplicates, divides, grouped, roomy := objects(policy("placement: {}")), objects(policy(divided)), objects(policy(affinity)), objects(policy(byRoom))
	inUs, pulls, pullsToUs := objects(policy("placement: {clusterAffinity: {clusterNames: [us]}}")), objects(policy("propagateDeps: true\n  placement: {clusterAffinity: {clusterNames: [eu]}}")),
		objects(policy("propagateDeps: true\n  placement: {clusterAffinity: {clusterNames: [us]}}"))
	waits := objects(policy("dependentOverrides: [o]\n  placement: {}"))
	for name, tt := range map[string]struct{ one, other step }{
		"a cluster more":         {step{source: with(app, duplicates)}, step{source: with(app, duplicates, objects(another))}},
		"another policy":         {step{source: with(app, duplicates)}, step{source: with(app, inUs)}},
		"other replicas":         {step{source: with(app, divides)}, step{source: with(big, divides)}},
		"another hour":           {step{source: with(app, divides, objects(cron)), set: at(12)}, step{source: with(app, divides, objects(cron)), set: at(23)}},
		"another script":         {step{source: with(app, divides)}, step{source: with(app, divides, objects(script))}},
		"a rebalancer":           {step{source: with(app, roomy), state: bound(both, "")}, step{source: with(app, roomy, objects(rebalancer)), state: bound(both, "")}},
		"another group":          {step{source: with(app, grouped), state: bound(both[:1], "near"), set: fails(true)}, step{source: with(app, grouped), state: bound(both[:1], "far"), set: fails(true)}},
		"failover is off":        {step{source: with(app, grouped), state: bound(both[1:], "far"), set: fails(true)}, step{source: with(app, grouped), state: bound(both[1:], "far"), set: fails(false)}},
		"it leaves a cluster":    {step{source: with(app, duplicates), state: bound(both[:1], ""), set: fails(true)}, step{source: with(app, duplicates), state: bound(both[:1], "", "us"), set: fails(true)}},
		"it was elsewhere":       {step{source: with(app, roomy), state: bound(both, "")}, step{source: with(app, roomy), state: bound(more, "")}},
		"it was in fewer":        {step{source: with(app, roomy), state: bound(both, "")}, step{source: with(app, roomy), state: bound(both[:1], "")}},
		"who needs it moves":     {step{source: with(app, alone, pulls)}, step{source: with(app, alone, pullsToUs)}},
		"its policy waits":       {step{source: with(app, duplicates)}, step{source: with(app, waits)}},
		"a quota":                {step{source: with(asks, divides)}, step{source: with(asks, divides, objects(quota))}},
		"a rebalancer that was":  {step{source: with(app, divides, objects(rebalancer))}, step{source: with(app, divides)}},
		"what pulls goes itself": {step{source: with(app, pulls)}, step{source: with(app, duplicates)}},
	} {
		t.Run(name, func(t *testing.T) {
			memo := &schedule.Memo{}
			st := &state.State{}
			var said []string
			for n, s := range []step{tt.one, tt.one, tt.one, tt.other, tt.other, tt.one, tt.other} {
				if s.state != nil {
					st = s.state
				}
				decide := func(memo *schedule.Memo) schedule.Result {
					in := input(t, with(base, s.source), st)
					in.Memo = memo
					if s.set != nil {
						s.set(&in)
					}
					return schedule.Decide(in)
				}
				memo.Turn()
				r, want := decide(memo), decide(&schedule.Memo{})
				if d := cmp.Diff(decided(t, &want), decided(t, &r)); d != "" {
					t.Fatalf("plan %d: %s", n+1, d)
				}
				said = append(said, decided(t, &r))
				st = after(&r)
			}
			if said[2] == said[3] {
				t.Errorf("it decides alike: %s", said[2])
			}
		})
	}
}
