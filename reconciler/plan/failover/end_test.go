package failover_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

// What becomes of the old copy in eu while the new one is in us.
func TestWhatBecomesOfTheOldCopy(t *testing.T) {
	seen := func(eu, us evict.Seen) evict.Evidence { return evict.Evidence{web: {"eu": eu, "us": us}} }
	healthy, gone := evict.Seen{Health: karmada.ResourceHealthy, Done: true, Current: true}, evict.Seen{Gone: true}
	direct := task("eu", time.Minute)
	direct.PurgeMode = karmada.PurgeModeDirectly
	held := in("us", task("eu", time.Minute))
	held.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "us", Reason: "Drift"}}
	other := in("us", task("eu", time.Minute))
	other.Status.AggregatedStatus = []karmada.AggregatedStatusItem{{ClusterName: "eu", Reason: "Drift"}}
	for _, tt := range []struct {
		name  string
		world world
		want  string
	}{
		{"the new copy is healthy", world{clusters: "eu us", before: in("us", task("eu", time.Minute)), seen: seen(healthy, healthy), goes: "us"}, "over [eu] moved; timed, in 1s"},
		{"it is not", world{clusters: "eu us", before: in("us", task("eu", time.Minute)), goes: "us"}, "tasks [eu]; timed, awaits, in 9m0s"},
		{"the new copy is healthy, and something is wrong with the template", world{clusters: "eu us", kept: true, before: in("us", task("eu", time.Minute)), seen: seen(healthy, healthy), goes: "us"}, "tasks [eu]; timed"},
		{"the new copy is healthy, and the fleet is not ready", world{clusters: "ap:unready eu:unready us", before: in("us", task("eu", time.Minute)), seen: seen(healthy, healthy), goes: "us"}, "tasks [eu] waits FleetNotReady frozen; timed"},
		{"one of two new copies is healthy", world{clusters: "ap eu us", before: in("ap us", task("eu", time.Minute)), seen: seen(healthy, healthy), goes: "ap us"}, "tasks [eu]; timed, awaits, in 9m0s"},
		{"the new copy was healthy where it was not placed before", world{clusters: "ap eu us", before: in("ap", task("eu", time.Minute)), seen: seen(healthy, healthy), goes: "us"}, "tasks [eu]; timed, awaits, in 9m0s"},
		{"the new copy had other replicas", world{clusters: "eu us", before: in("us=1", task("eu", time.Minute)), seen: seen(healthy, healthy), goes: "us=2"}, "tasks [eu]; timed, awaits, in 9m0s"},
		{"the new copy was left as it was", world{clusters: "eu us", before: held, seen: seen(healthy, healthy), goes: "us"}, "tasks [eu]; timed, awaits, in 9m0s"},
		{"another copy was left as it was", world{clusters: "eu us", before: other, seen: seen(healthy, healthy), goes: "us"}, "over [eu] moved; timed, in 1s"},
		{"not all of it could be placed", world{clusters: "eu us", before: in("us", task("eu", time.Minute)), seen: seen(healthy, healthy)}, "tasks [eu]; timed, awaits, in 9m0s"},
		{"the new copy waits for the old one to be gone", world{clusters: "eu us", before: in("us", direct), goes: "us"}, "tasks [eu] gap; timed, awaits, in 9m0s"},
		{"the old one is gone", world{clusters: "eu us", before: in("us", direct), seen: seen(gone, evict.Seen{}), goes: "us"}, "tasks [eu]; timed, awaits, in 9m0s"},
		{"another old one is not gone", world{clusters: "ap eu us", before: in("us", direct, task("ap", time.Minute)), goes: "us"}, "tasks [eu ap] gap; timed, awaits, in 9m0s"},
		{"the time is over", world{clusters: "eu us", before: in("us", task("eu", time.Hour)), goes: "us"}, "over [eu] moved; timed, in 1s"},
		{"the time of one is over", world{clusters: "ap eu us", before: in("us", task("ap", time.Hour), task("eu", time.Minute)), goes: "us"}, "tasks [eu] over [ap] moved; timed, awaits, in 1s"},
		{"the time is over, and no copy is healthy", world{clusters: "eu us", keepLast: true, before: in("us", task("eu", time.Hour)), seen: evict.Evidence{web: {"us": {}}}, goes: "us"}, "tasks [eu] last [eu] waits LastCopy; timed, awaits"},
		{"made again, the new copy waited for the old one", world{clusters: "eu us", before: in("us", direct), recorded: notGone(in("us", direct)), goes: "us"}, "tasks [eu] gap; timed, awaits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, ended := tt.world.run()
			got := strings.TrimSpace(strings.NewReplacer("tasks []", "", " begun []", "", " over []", "").Replace(summary(m)))
			if m.Gap {
				got += " gap"
			}
			if len(m.Last) > 0 {
				got = strings.Replace(got, " waits", fmt.Sprintf(" last %v waits", m.Last), 1)
			}
			if ended.Record.Frozen {
				got += " frozen"
			}
			if ended.Record.Moved.Equal(now) {
				got += " moved"
			}
			if got += "; " + again(ended.Recheck); got != tt.want {
				t.Errorf("it is %s; want %s", got, tt.want)
			}
		})
	}
}

// notGone is a binding that records that new copies wait for an old one.
func notGone(b *karmada.ResourceBinding) *karmada.ResourceBinding {
	b.Status.AggregatedStatus = append(b.Status.AggregatedStatus, karmada.AggregatedStatusItem{ClusterName: "us", Reason: string(reason.NotGone)})
	return b
}

// What something moved last is remembered, until something else moves.
func TestWhenSomethingMovedLast(t *testing.T) {
	last := failover.Record{Moved: now.Add(-time.Hour)}
	w := world{clusters: "eu us", record: last, before: in("us", task("eu", time.Minute)), goes: "us"}
	if _, ended := w.run(); ended.Record != last {
		t.Errorf("where nothing moves it records %+v", ended.Record)
	}
}

// Everybody is told what does not move that should, and why, each reason once for all templates.
func TestSentences(t *testing.T) {
	preserves := karmada.PropagationSpec{Failover: &karmada.FailoverBehavior{Cluster: &karmada.ClusterFailoverBehavior{
		StatePreservation: &karmada.StatePreservation{Rules: []karmada.StatePreservationRule{{AliasLabelName: "rows", JSONPath: "{.rows}"}}},
	}}}
	sick := evict.Evidence{web: {"eu": {Health: karmada.ResourceUnhealthy, Since: now.Add(-time.Minute)}}}
	known := evict.Evidence{web: {"eu": {Preserved: map[string]string{"rows": "7"}}}}
	for _, tt := range []struct {
		name  string
		world world
		want  []string
	}{
		{"it moves", world{clusters: "eu:bad us", before: in("eu"), goes: "us"}, nil},
		{
			"the fleet is not ready",
			world{clusters: "eu:bad us:unready ap:unready", before: in("eu"), goes: "us"},
			[]string{"2 clusters of 3 are not ready (ap, us), and nothing moves while 55 % are not, or more: Deployment.apps/a/web would"},
		},
		{
			"the fleet was not ready",
			world{clusters: "eu:bad us", record: failover.Record{Frozen: true}, before: in("eu"), goes: "us"},
			[]string{"so many clusters were not ready that nothing moved, and until 2026-01-01T12:01:00Z nothing does: Deployment.apps/a/web would"},
		},
		{"there is nowhere else", world{clusters: "eu:bad us", keepLast: true, before: in("eu")}, []string{"Deployment.apps/a/web should leave a cluster, and no other takes it"}},
		{"it fails, and there is nowhere else", world{clusters: "eu us", policy: fails(), seen: sick, before: in("eu us"), goes: "us"}, []string{"Deployment.apps/a/web should leave a cluster, and no other takes it"}},
		{"a cluster does not answer, and it is elsewhere as well", world{clusters: "eu:seen us", before: in("eu us"), goes: "us"}, nil},
		{"two clusters do not answer, and it is nowhere else", world{clusters: "eu:seen us:seen", before: in("eu us")}, []string{"Deployment.apps/a/web should leave a cluster, and no other takes it"}},
		{"its turn comes", world{clusters: "eu:bad us", record: failover.Record{Moved: now}, before: in("eu"), goes: "us"}, nil},
		{
			"no copy is healthy",
			world{clusters: "eu us", keepLast: true, before: in("us", task("eu", time.Hour)), seen: evict.Evidence{web: {"us": {}}}, goes: "us"},
			[]string{"Deployment.apps/a/web left a cluster, and the old copy stays there although its time is over: no other copy is healthy"},
		},
		{"what is to be preserved is known", world{clusters: "eu:bad us", policy: preserves, before: in("eu"), seen: known, goes: "us"}, nil},
		{
			"what is to be preserved is not known",
			world{clusters: "eu:bad us", policy: preserves, before: in("eu"), goes: "us"},
			[]string{"Deployment.apps/a/web should leave a cluster, and what its policy preserves of its status there cannot be read"},
		},
		{
			"nobody says how it is",
			world{clusters: "eu us", policy: fails(), seen: evict.Evidence{web: nil}, before: in("eu")},
			[]string{"ConfigMap a/p has Deployment.apps/a/web leave clusters where it is not healthy, and no cluster says whether it is"},
		},
		{"nobody was asked how it is", world{clusters: "eu us", policy: fails(), before: in("eu")}, nil},
		{"somebody says how it is", world{clusters: "eu us", policy: fails(), seen: evict.Evidence{web: {"eu": {}}}, before: in("eu")}, nil},
		{"nobody says how it is that does not fail over", world{clusters: "eu us", seen: evict.Evidence{web: nil}, before: in("eu")}, nil},
		{"nobody says how it is, and it is off", world{clusters: "eu us", off: true, policy: fails(), seen: evict.Evidence{web: nil}, before: in("us", task("eu", time.Minute))}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ended := tt.world.run()
			var got []string
			for _, d := range ended.Diags {
				got = append(got, d.Message)
				if isNotice := d.Code == diag.HealthUnknown; isNotice != (d.Severity == diag.Notice) || !isNotice && d.Severity != diag.Warning {
					t.Errorf("%s is a %v", d.Code, d.Severity)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("it says %q; want %q", got, tt.want)
			}
		})
	}
}

// Two templates of one policy of which nobody says anything are said once, and two that wait for the same in one sentence.
func TestSentencesOfTwo(t *testing.T) {
	w := world{clusters: "eu:bad us:unready ap:unready", policy: fails(), seen: evict.Evidence{web: nil, api: nil}, before: in("eu"), goes: "us"}
	e := w.evictor()
	one, other, unclaimed := w.item(), w.item(), w.item()
	other.Ref, unclaimed.Ref, unclaimed.Policy = api, api, nil
	other.Policy = one.Policy
	waiting := &failover.Moves{Waits: state.WaitsForFleet}
	ended := e.End([]failover.Placed{{Item: one, Moves: waiting}, {Item: other, Moves: waiting}, {Item: unclaimed}}, e.Start())
	got := make([]string, 0, 2)
	for _, d := range ended.Diags {
		got = append(got, d.String())
	}
	if len(got) != 2 || !strings.Contains(got[0], "Deployment.apps/a/web, Deployment.apps/a/api would") || !strings.Contains(got[1], "Deployment.apps/a/web leave") {
		t.Errorf("it says %s", strings.Join(got, "\n"))
	}
}

var api = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "api"}

// A plan that is made again has the evidence that the plan before it recorded: of failures, only what began then or waited for what
// only failures wait for.
func TestRecordedEvidence(t *testing.T) {
	failed := func(change func(*evict.Task)) *karmada.ResourceBinding {
		k := task("eu", 0)
		k.Producer, k.Message = evict.ApplicationFailover, "as recorded"
		change(&k)
		return in("us", k)
	}
	earlier := metav1.NewTime(now.Add(-time.Second))
	for _, tt := range []struct {
		name   string
		b      *karmada.ResourceBinding
		fails  bool
		begins string
	}{
		{"a template of which nothing is recorded", nil, false, "as computed"},
		{"it stayed", in("eu"), false, "as computed"},
		{"it left", failed(func(*evict.Task) {}), true, "as recorded"},
		{"it left another cluster", failed(func(k *evict.Task) { k.FromCluster = "ap" }), false, "as computed"},
		{"it left for a taint", failed(func(k *evict.Task) { k.Producer = evict.TaintManager }), false, "as recorded"},
		{"it had left before", failed(func(k *evict.Task) { k.CreationTimestamp = &earlier }), false, "as computed"},
		{"it waited for the fleet", waits(in("eu"), state.WaitsForFleet), true, "waits FleetNotReady"},
		{"it waited for a place", waits(in("eu"), state.WaitsForPlace), true, "waits NowhereElse"},
		{"it waited for its status", waits(in("eu"), state.WaitsForStatus), true, "waits StatusNotRead"},
		{"it waited for other clusters", waits(in("eu"), state.WaitsForCluster), false, "waits OthersMoveFirst"},
		{"its old copy stayed", waits(in("eu"), state.WaitsForCopy), false, "waits LastCopy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec := failover.Recorded{Bindings: map[object.Ref]*karmada.ResourceBinding{}, Now: now}
			if tt.b != nil {
				rec.Bindings[web] = tt.b
			}
			policy := fails()
			says := policy.Failover
			if due := rec.Fails(web, "eu", says.Application, nil); due.Now(now) != tt.fails {
				t.Errorf("it leaves: %v", due.Now(now))
			}
			begins := func(due evict.Due) string {
				due.Why = "as computed"
				k, why := rec.Begins(web, due, evict.From{Cluster: karmada.TargetCluster{Name: "eu"}}, says)
				if why != "" {
					return "waits " + string(why)
				}
				return k.Message
			}
			due := evict.ByHealth(evict.Seen{Health: karmada.ResourceUnhealthy}, says.Application, nil)
			if got := begins(due); got != tt.begins {
				t.Errorf("what fails begins %s; want %s", got, tt.begins)
			}
			byTaint := tt.begins // only its status holds up what a taint drives out
			if strings.HasPrefix(byTaint, "waits") && tt.begins != "waits StatusNotRead" {
				byTaint = "as computed"
			}
			if got := begins(evict.Along("")); got != byTaint {
				t.Errorf("what is driven out begins %s; want %s", got, byTaint)
			}
			k := task("eu", 0)
			if over := rec.Ends(web, &k, failover.Copies{}).Over; over != (tt.begins != "as recorded") {
				t.Errorf("the task is over: %v", over)
			}
		})
	}
}

// A new copy counts once the last plan had it, if there was one.
func TestANewCopyOfNoPlan(t *testing.T) {
	live := failover.Live{Seen: evict.Evidence{web: {"us": {Done: true, Current: true}}}, Rules: evict.Rules{Timeout: time.Hour}, Now: now}
	k := task("eu", 0)
	if live.Ends(web, &k, failover.Copies{IsPlaced: true, Clusters: targets("us")}).Over {
		t.Error("a copy that no plan had yet is there")
	}
}

// Where a template leaves, left, and stays for now.
func TestWhereItLeaves(t *testing.T) {
	direct := task("sa", 0)
	direct.PurgeMode = karmada.PurgeModeDirectly
	m := &failover.Moves{Tasks: []evict.Task{task("eu", 0), direct}, Over: []evict.Task{task("us", 0)}, With: []string{"eu", "za"}}
	for _, tt := range []struct{ cluster, want string }{
		{"eu", "leaves, is leaving, stays"},
		{"sa", "leaves, is leaving"},
		{"us", "leaves"},
		{"za", ""}, // what needs it does
		{"ap", ""},
	} {
		var got []string
		if m.Leaves(tt.cluster) {
			got = append(got, "leaves")
		}
		if m.IsLeaving(tt.cluster) {
			got = append(got, "is leaving")
		}
		if k := m.Stays(tt.cluster); k != nil {
			got = append(got, "stays")
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: it %q; want %q", tt.cluster, got, tt.want)
		}
	}
	if got := m.From(); !slices.Equal(got, []string{"eu", "sa", "us", "za"}) {
		t.Errorf("it leaves %v", got)
	}
	var none *failover.Moves
	if none.Leaves("eu") || none.IsLeaving("eu") || none.Stays("eu") != nil || none.From() != nil || none.Begins() || m.Begins() {
		t.Error("what does not move does")
	}
	first := m.Follow(&failover.Moves{Tasks: []evict.Task{task("b", 0)}})
	second := first.Follow(&failover.Moves{Tasks: []evict.Task{task("c", 0)}})
	third := first.Follow(&failover.Moves{Tasks: []evict.Task{task("d", 0)}})
	if !slices.Equal(second.With, []string{"eu", "za", "b", "c"}) || !slices.Equal(third.With, []string{"eu", "za", "b", "d"}) {
		t.Errorf("of two that follow one leaves %v, the other %v", second.With, third.With)
	}
}

// A binding records what leaves, why it waits, and since when it waits for that.
func TestABindingRecordsMoves(t *testing.T) {
	before := waits(in("eu"), state.WaitsForPlace)
	b := in("eu")
	(&failover.Moves{Tasks: []evict.Task{task("eu", 0)}, Waits: state.WaitsForPlace}).Bind(b, before, now.Add(time.Hour))
	if len(b.Spec.GracefulEvictionTasks) != 1 || state.WaitsOf(b) != state.WaitsForPlace || !b.Status.Conditions[0].LastTransitionTime.Time.Equal(now) {
		t.Errorf("it records %v, and %v", b.Spec.GracefulEvictionTasks, b.Status.Conditions)
	}
	still := in("us")
	(*failover.Moves)(nil).Bind(still, before, now)
	if len(still.Status.Conditions) > 0 {
		t.Errorf("of what does not move it records %v", still.Status.Conditions)
	}
}
