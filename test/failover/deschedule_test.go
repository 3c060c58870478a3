package failover

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// FuzzDeschedule holds plans against the laws of descheduling, over fleets in which replicas wait
// for nodes at random.
//
//   - The replicas of a workload are as many as it asks for, whatever moves.
//   - A cluster keeps at least those that are ready there, and one in which none waits loses none.
//   - A cluster that replicas left, or in which some wait, gets no others.
//   - A plan of the same time is the same plan, so is one of any time before the one at which it
//     says that it may be another, and so is one that is made again from its record.
func FuzzDeschedule(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint8(2+seed%4))
	}
	f.Fuzz(func(t *testing.T, seed uint64, clusters uint8) {
		f := scarce{t: t, r: rand.New(rand.NewPCG(seed, 1)), clusters: 2 + int(clusters%5)}
		f.now = time.Unix(1_000_000, 0).UTC()
		f.load()
		f.observe(nil, 40)
		f.plan()
		for range 12 {
			f.step()
		}
	})
}

// scarce is a fleet with too few nodes on its way.
type scarce struct {
	t        *testing.T
	r        *rand.Rand
	clusters int
	now      time.Time
	in       plan.Input
	last     plan.Plan
}

// divided are the workloads, with the way in which they are divided.
var divided = map[string]string{
	"dynamic": "replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}",
	"few":     "replicaDivisionPreference: Aggregated",
	"static":  "replicaDivisionPreference: Weighted",
}

// load reads the source.
func (f *scarce) load() {
	f.t.Helper()
	var b strings.Builder
	for i := range f.clusters {
		fmt.Fprintf(&b, "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%d}\nspec: {syncMode: Push}\n---\n", i)
	}
	for _, name := range slices.Sorted(maps.Keys(divided)) {
		fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: a}\nspec: {replicas: %d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}}\n---\n", name, replicas)
		fmt.Fprintf(&b, "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: %s, namespace: a}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: %[1]s}]\n  placement: {replicaScheduling: {replicaSchedulingType: Divided, %s}}\n---\n", name, divided[name])
	}
	texts := twin.Texts{"all.yaml": b.String(), "waybill.yaml": "apiVersion: waybill.dev/v1alpha1\nkind: Config\nspec: {descheduler: {enabled: true, cooldown: 20m}}\n"}
	src, err := render.Load(f.t.Context(), source{texts}, render.With{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.in = plan.Input{Source: src, Medium: plan.Branch, Memo: plan.NewMemo(), Now: f.now}
}

// waiting is what is observed of replicas that wait, by workload and cluster.
type waiting map[string]map[string]*karmada.Unschedulable

// observe has clusters seem to have room for about so many pods, and some of the replicas that
// they have wait.
func (f *scarce) observe(waiting waiting, about int) {
	seen := map[string]*karmada.ClusterStatus{}
	for i := range f.clusters {
		seen[fmt.Sprint("c", i)] = &karmada.ClusterStatus{
			Conditions:      []metav1.Condition{{Type: karmada.ConditionReady, Status: metav1.ConditionTrue}},
			ResourceSummary: &karmada.ResourceSummary{Allocatable: corev1.ResourceList{"pods": *resource.NewQuantity(int64(about/2+f.r.IntN(about)), resource.DecimalSI)}},
		}
	}
	for name, all := range waiting {
		for cluster, u := range all {
			u.APIVersion, u.Kind, u.Namespace, u.Name = "apps/v1", "Deployment", "a", name
			if seen[cluster].Waybill == nil {
				seen[cluster].Waybill = &karmada.ObservedBesides{}
			}
			seen[cluster].Waybill.Unschedulable = append(seen[cluster].Waybill.Unschedulable, *u)
		}
	}
	f.in.State.Observed = seen
}

// of returns where a workload is by the last plan.
func (f *scarce) of(name string) []karmada.TargetCluster {
	if b := f.in.State.Bindings[ref(name)]; b != nil {
		return b.Spec.Clusters
	}
	return nil
}

// plan plans, and has the next plan follow.
func (f *scarce) plan() {
	f.t.Helper()
	f.in.Now = f.now
	f.last = plan.Build(f.in)
	again := f.in
	again.Memo, again.Replay = plan.NewMemo(), nil
	if !f.last.Basis.Scheduled {
		again.Now = time.Time{}
	}
	follower := fleet{t: f.t, in: f.in, now: f.now}
	follower.follow(&f.last)
	again.Replay = &plan.Replay{State: follower.in.State}
	f.same("made again from its record", plan.Build(again))
	observed := f.in.State.Observed
	f.in = follower.in
	f.in.State.Observed = observed
}

// same holds that a plan is the last one.
func (f *scarce) same(what string, p plan.Plan) {
	f.t.Helper()
	for c := range files.Diff(f.last.State, p.State) {
		if !strings.HasPrefix(c.Path, "observed/") {
			f.t.Errorf("%s: %s it is another plan: %s is\n%s\nand was\n%s", f.now.Format(time.TimeOnly), what, c.Path, text(c.New), text(c.Old))
		}
	}
}

// step has replicas wait, and holds the plan after it against the laws.
func (f *scarce) step() {
	f.t.Helper()
	passes := time.Duration(1+f.r.IntN(900)) * time.Second
	if at := f.last.Basis.RecheckAt; !at.IsZero() && f.r.IntN(2) == 0 {
		passes = at.Sub(f.now)
	}
	f.now = f.now.Add(passes)
	before, waiting := map[string][]karmada.TargetCluster{}, waiting{}
	for name := range divided {
		before[name], waiting[name] = f.of(name), map[string]*karmada.Unschedulable{}
		for _, c := range before[name] {
			if f.r.IntN(2) == 0 {
				continue
			}
			u := &karmada.Unschedulable{Pods: c.Replicas + int32(f.r.IntN(3)) - int32(f.r.IntN(2))}
			u.Unschedulable = int32(f.r.IntN(int(max(u.Pods, 0)) + 1))
			u.Ready = int32(f.r.IntN(int(max(u.Pods-u.Unschedulable, 0)) + 1))
			u.Since = metav1.NewTime(f.now.Add(-time.Duration(f.r.IntN(600)) * time.Second))
			waiting[name][c.Name] = u
		}
	}
	f.observe(waiting, 12)
	f.plan()
	for name := range divided {
		f.holds(name, before[name], waiting[name])
	}
	until := f.last.Basis.RecheckAt
	if until.IsZero() {
		until = f.now.Add(time.Hour)
	}
	for _, at := range []time.Time{f.now, until.Add(-time.Second)} {
		in := f.in
		in.Now, in.Memo = at, plan.NewMemo()
		f.same("at "+at.Format(time.TimeOnly), plan.Build(in))
	}
}

// holds compares where a workload is now with where it was, and what waited.
func (f *scarce) holds(name string, before []karmada.TargetCluster, waiting map[string]*karmada.Unschedulable) {
	f.t.Helper()
	now := map[string]int32{}
	var total int32
	for _, c := range f.of(name) {
		now[c.Name] = c.Replicas
		total += c.Replicas
	}
	if total != replicas {
		f.t.Errorf("%s: %s has %d replicas, want %d", f.now.Format(time.TimeOnly), name, total, replicas)
	}
	for _, c := range before {
		u := waiting[c.Name]
		switch {
		case u == nil && now[c.Name] < c.Replicas:
			f.t.Errorf("%s: of %s in %s none waits, and %d of %d leave", f.now.Format(time.TimeOnly), name, c.Name, c.Replicas-now[c.Name], c.Replicas)
		case u != nil && now[c.Name] < min(u.Ready, c.Replicas):
			f.t.Errorf("%s: of %s in %s %d are ready, and %d stay", f.now.Format(time.TimeOnly), name, c.Name, u.Ready, now[c.Name])
		case name == "static" && now[c.Name] != c.Replicas:
			f.t.Errorf("%s: %s moves", f.now.Format(time.TimeOnly), name)
		}
	}
	for cluster, n := range now {
		i := slices.IndexFunc(before, func(c karmada.TargetCluster) bool { return c.Name == cluster })
		if u := waiting[cluster]; i >= 0 && u != nil && u.Pods >= before[i].Replicas && u.Unschedulable > u.Pods-before[i].Replicas && n > before[i].Replicas {
			f.t.Errorf("%s: %s gets %d more in %s, where some wait", f.now.Format(time.TimeOnly), name, n-before[i].Replicas, cluster)
		}
	}
}
