package failover_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state"
)

// begin is the first half of a plan of one template: what goes on, what begins, and when it is asked again.
func (w *world) begin() string {
	e, item := w.evictor(), w.item()
	m, p := e.Resume(&item, e.Start())
	m, p = e.Begin(&item, m, p, w.try)
	return summary(m) + "; " + again(p.Recheck)
}

// again says when it is asked again: "timed, awaits, in 30s".
func again(r recheck.Recheck) string {
	var said []string
	if r.Timed {
		said = append(said, "timed")
	}
	if r.Awaits {
		said = append(said, "awaits")
	}
	if !r.At.IsZero() {
		said = append(said, "in "+r.At.Sub(now).String())
	}
	return strings.Join(said, ", ")
}

// tolerates is a policy that tolerates the taints "bad" and "seen" for so many seconds; -1 is not at all, 0 for good.
func tolerates(bad, seen int64) (spec karmada.PropagationSpec) {
	for key, seconds := range map[string]int64{"bad": bad, "seen": seen} {
		if seconds < 0 {
			continue
		}
		t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists}
		if seconds > 0 {
			t.TolerationSeconds = &seconds
		}
		spec.Placement.ClusterTolerations = append(spec.Placement.ClusterTolerations, t)
	}
	return spec
}

// Taints are a minute old, and work that fails has failed for a minute, and leaves after half a minute.
func TestWhenItLeaves(t *testing.T) {
	sick := func(since time.Duration, clusters ...string) evict.Evidence {
		seen := map[string]evict.Seen{}
		for _, c := range clusters {
			seen[c] = evict.Seen{Health: karmada.ResourceUnhealthy, Since: now.Add(-since)}
		}
		return evict.Evidence{web: seen}
	}
	both := func(p karmada.PropagationSpec) karmada.PropagationSpec {
		p.Failover = fails().Failover
		return p
	}
	kept := task("eu", time.Minute)
	isKept := true
	kept.PurgeMode, kept.SuppressDeletion = karmada.PurgeModeNever, &isKept
	failing := task("ap", time.Minute)
	failing.Producer = evict.ApplicationFailover
	for _, tt := range []struct {
		name  string
		world world
		want  string
	}{
		{"it is new", world{clusters: "eu:bad us", goes: "us"}, "stays; "},
		{"where it is not", world{clusters: "ap:bad eu us", before: in("eu"), goes: "us"}, "stays; "},
		{"at once", world{clusters: "eu:bad us", before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
		{"the taint is tolerated", world{clusters: "eu:bad us", policy: tolerates(0, -1), before: in("eu"), goes: "us"}, "stays; "},
		{"the taint is tolerated for a while", world{clusters: "eu:bad us", policy: tolerates(90, -1), before: in("eu"), goes: "us"}, "stays; timed, in 30s"},
		{"one of two clusters", world{clusters: "ap:bad eu us", before: in("ap eu"), goes: "us"}, "tasks [ap] begun [ap] over []; timed"},
		{"by what was observed, where it gains a copy", world{clusters: "eu:seen us", before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
		{"by what was observed, where it gains none", world{clusters: "eu:seen us", before: in("eu us"), goes: "us"}, "tasks [] begun [] over [] waits NowhereElse; timed"},
		{"by what files say, where it gains none", world{clusters: "eu:bad us", before: in("eu us"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
		{"by what files say, where it gains none, and the last copy stays", world{clusters: "eu:bad us", keepLast: true, before: in("eu us"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
		{"by what files say now, and what was observed earlier", world{clusters: "eu:bad+seen us", before: in("eu us"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
		{"by what files say later, and what was observed now", world{clusters: "eu:bad+seen us", policy: tolerates(90, -1), before: in("eu us"), goes: "us"}, "tasks [] begun [] over [] waits NowhereElse; timed, in 30s"},
		{"by what files say soon, and what was observed later", world{clusters: "eu:bad+seen us", policy: tolerates(80, 90), before: in("eu us"), goes: "us"}, "stays; timed, in 20s"},
		{"by what files say later, and what was observed soon", world{clusters: "eu:bad+seen us", policy: tolerates(90, 80), before: in("eu us"), goes: "us"}, "stays; timed, in 20s"},
		{"by what files never say, and what was observed soon", world{clusters: "eu:bad+seen us", policy: tolerates(0, 80), before: in("eu us"), goes: "us"}, "stays; timed, in 20s"},
		{"replicas find a place in a cluster that has some", world{clusters: "eu:seen us", divided: true, before: in("eu=2 us=1"), goes: "us=3"}, "tasks [eu] begun [eu] over []; timed"},
		{"replicas find none", world{clusters: "eu:seen us", divided: true, before: in("eu=2 us=1"), goes: "us=1"}, "tasks [] begun [] over [] waits NowhereElse; timed"},
		{"a copy elsewhere is no gain by its replicas", world{clusters: "eu:seen us", before: in("eu=2 us=1"), goes: "us=3"}, "tasks [] begun [] over [] waits NowhereElse; timed"},

		{"its policy does not say that it fails over", world{clusters: "eu us", policy: karmada.PropagationSpec{Failover: &karmada.FailoverBehavior{}}, seen: sick(time.Minute, "eu"), before: in("eu"), goes: "us"}, "stays; "},
		{"it is well", world{clusters: "eu us", policy: fails(), before: in("eu"), goes: "us"}, "stays; awaits"},
		{"it fails since a moment ago", world{clusters: "eu us", policy: fails(), seen: sick(10*time.Second, "eu"), before: in("eu"), goes: "us"}, "stays; timed, awaits, in 20s"},
		{"it fails, before a taint drives it out", world{clusters: "eu:bad us", policy: both(tolerates(90, -1)), seen: sick(10*time.Second, "eu"), before: in("eu"), goes: "us"}, "stays; timed, awaits, in 20s"},
		{"a taint drives it out, before it fails", world{clusters: "eu:bad us", policy: both(tolerates(70, -1)), seen: sick(10*time.Second, "eu"), before: in("eu"), goes: "us"}, "stays; timed, awaits, in 10s"},
		{"a taint drives it out, and it does not fail", world{clusters: "eu:bad us", policy: both(tolerates(70, -1)), before: in("eu"), goes: "us"}, "stays; timed, awaits, in 10s"},
		{"a taint drives it out now, and it fails", world{clusters: "eu:bad us", policy: both(tolerates(40, -1)), seen: sick(time.Minute, "eu"), before: in("eu us"), goes: "us"}, "tasks [eu] begun [eu] over []; timed, awaits"},
		{"it fails in two clusters, and leaves one after the other", world{clusters: "ap eu us za", policy: fails(), seen: sick(time.Minute, "ap", "eu"), before: in("ap eu"), goes: "us"}, "tasks [ap] begun [ap] over []; timed, awaits"},
		{"it fails, and leaves another cluster for that already", world{clusters: "ap eu us", policy: fails(), seen: sick(time.Minute, "eu"), before: in("eu", failing), goes: "us"}, "tasks [ap] begun [] over []; timed, awaits"},
		{"it fails, and leaves another cluster for a taint", world{clusters: "ap eu us", policy: fails(), seen: sick(time.Minute, "eu"), before: in("eu", task("ap", time.Minute)), goes: "us"}, "tasks [ap eu] begun [eu] over []; timed, awaits"},

		{"an old copy that stayed for good, which the policy does not say any more", world{clusters: "eu us", before: in("us", kept), goes: "us"}, "tasks [eu] begun [] over []; timed"},
		{"it waited, and has no reason any more", world{clusters: "eu us", before: waits(in("eu"), state.WaitsForPlace), goes: "us"}, "tasks [] begun [] over []; timed"},
		{"it is turned off on the way, and a second cluster is bad", world{clusters: "ap:bad eu:bad us", off: true, before: in("ap", task("eu", time.Minute)), goes: "us"}, "tasks [eu] begun [] over []; timed"},

		{"the fleet is not ready", world{clusters: "eu:bad us:unready ap:unready", before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits FleetNotReady; timed"},
		{"the fleet is ready since long", world{clusters: "eu:bad us ap", record: failover.Record{DelayedUntil: now}, before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
		{"the fleet is ready, and it is not sure yet", world{clusters: "eu:bad us ap", record: failover.Record{DelayedUntil: now.Add(time.Second)}, before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits FleetNotReady; timed"},
		{"another cluster moved in this second", world{clusters: "eu:bad us", record: failover.Record{Moved: now}, before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits Paced; timed, in 1s"},
		{"another cluster moved in this second, and it waits for its turn", world{clusters: "eu:bad us", record: failover.Record{Moved: now}, before: waits(in("eu"), state.WaitsForCluster), goes: "us"}, "tasks [] begun [] over [] waits OthersMoveFirst; timed, in 1s"},
		{"another cluster is left first", world{clusters: "ap:bad eu:bad us", oneIn: 3, beside: in("us", task("ap", time.Minute)), before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits OthersMoveFirst; timed"},
		{"it waits for its turn in one cluster, and has nowhere to go from another", world{clusters: "ap:bad eu:seen us", record: failover.Record{Moved: now}, before: in("ap eu us"), goes: "us"}, "tasks [] begun [] over [] waits Paced; timed, in 1s"},
		{"its cluster is being left, and something moved in this second", world{clusters: "eu:bad us", record: failover.Record{Moved: now}, beside: in("us", task("eu", time.Minute)), before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
		{"it fails, and another cluster moved in this second", world{clusters: "eu us", policy: fails(), record: failover.Record{Moved: now}, seen: sick(time.Minute, "eu"), before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []; timed, awaits"},
		{"it fails, and another cluster is left first", world{clusters: "ap:bad eu us", oneIn: 3, policy: fails(), beside: in("us", task("ap", time.Minute)), seen: sick(time.Minute, "eu"), before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []; timed, awaits"},
		{"its release fails, and it gains nothing", world{clusters: "eu us", keepLast: true, part: &failover.Moves{Tasks: []evict.Task{task("eu", 0)}}, before: in("eu")}, "tasks [eu] begun [eu] over []; timed"},
		{"its release leaves another cluster", world{clusters: "eu us", part: &failover.Moves{Tasks: []evict.Task{task("us", 0)}}, before: in("eu"), goes: "us"}, "stays; "},
		{"its release left just now", world{clusters: "eu us", part: &failover.Moves{Over: []evict.Task{task("eu", 0)}}, before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []; timed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.world.begin(); got != tt.want {
				t.Errorf("it %s; want %s", got, tt.want)
			}
		})
	}
}

// A task says why, since when, how many replicas it moves, and where the work was; and that of an old copy that was to stay for good
// goes on as the policy says now.
func TestWhatATaskSays(t *testing.T) {
	never, stays := fails(), task("eu", time.Minute)
	never.Failover.Application.PurgeMode = karmada.PurgeModeNever
	isKept := true
	stays.PurgeMode, stays.SuppressDeletion = karmada.PurgeModeNever, &isKept
	direct := task("eu", time.Minute)
	direct.PurgeMode = karmada.PurgeModeDirectly
	along := task("eu", 0)
	along.Message = "its release says why"
	for _, tt := range []struct {
		name  string
		world world
		want  string
	}{
		{"a taint", world{clusters: "eu:bad us", before: in("ap eu=3"), goes: "us"}, "Gracefully TaintManager [ap eu] 3 the taint bad:NoExecute is not tolerated"},
		{"a release", world{clusters: "eu us", part: &failover.Moves{Tasks: []evict.Task{task("us", 0), along}}, before: in("eu"), goes: "us"}, "Gracefully TaintManager [eu] 0 its release says why"},
		{"a release that left", world{clusters: "eu us", part: &failover.Moves{Over: []evict.Task{along}}, before: in("eu"), goes: "us"}, "Gracefully TaintManager [eu] 0 its release says why"},
		{"it stays for good", world{clusters: "eu us", policy: never, before: in("us", stays), goes: "us"}, "Never true TaintManager [] 0 "},
		{"it stayed for good", world{clusters: "eu us", policy: fails(), before: in("us", stays), goes: "us"}, "Gracefully TaintManager [] 0 "},
		{"it goes before the new copy", world{clusters: "eu us", policy: fails(), before: in("us", direct), goes: "us"}, "Directly TaintManager [] 0 "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, item := tt.world.evictor(), tt.world.item()
			m, p := e.Resume(&item, e.Start())
			if m, _ = e.Begin(&item, m, p, tt.world.try); m == nil || len(m.Tasks) != 1 {
				t.Fatalf("it %s", summary(m))
			}
			is, suppressed, replicas := m.Tasks[0], "", int32(0)
			if is.SuppressDeletion != nil {
				suppressed = fmt.Sprint(*is.SuppressDeletion, " ")
			}
			if is.Replicas != nil {
				replicas = *is.Replicas
			}
			if got := fmt.Sprintf("%s %s%s %v %d %s", is.PurgeMode, suppressed, is.Producer, is.ClustersBeforeFailover, replicas, is.Message); got != tt.want {
				t.Errorf("it says %s; want %s", got, tt.want)
			}
		})
	}
}

// Three templates leave at once, and then one a second: the fourth is asked again then. What no cluster gets takes nobody's turn.
func TestPace(t *testing.T) {
	w := world{clusters: "eu:bad us", rate: 1, before: in("eu"), goes: "us"}
	e := w.evictor()
	p := e.Start()
	got := make([]string, 0, 6)
	for n := range 6 {
		item := w.item()
		item.IsDelivered = n != 1
		var m *failover.Moves
		m, p = e.Begin(&item, nil, p, w.try)
		got = append(got, summary(m)+"; "+again(p.Recheck))
	}
	leaves, waits := "tasks [eu] begun [eu] over []; timed", "tasks [] begun [] over [] waits Paced; timed, in 1s"
	if !slices.Equal(got, []string{leaves, leaves, leaves, leaves, waits, waits}) {
		t.Errorf("they %s", strings.Join(got, "\n     "))
	}
	if full := e.End(nil, p).Record.Pace; !full.Equal(now.Add(3 * time.Second)) {
		t.Errorf("the next plan counts from %s", full)
	}
}

// Of the clusters that are to be left as many go first as may at a time: one that is being left, then the one that should have been
// left first, then by name. What is recorded of work that waits for something that never comes keeps nobody waiting, and virtual
// clusters of one API server are one.
func TestTurns(t *testing.T) {
	stays, isKept, goes := task("eu", time.Minute), true, false
	stays.PurgeMode, stays.SuppressDeletion = karmada.PurgeModeNever, &isKept
	resumed := task("eu", time.Minute)
	resumed.SuppressDeletion = &goes
	late := in("ap")
	late.Spec.Placement.ClusterTolerations = tolerates(30, -1).Placement.ClusterTolerations
	tolerant := in("ap")
	tolerant.Spec.Placement.ClusterTolerations = tolerates(90, -1).Placement.ClusterTolerations
	unplaced := in("ap")
	unplaced.Spec.Placement = nil
	for _, tt := range []struct {
		name     string
		clusters string
		beside   *karmada.ResourceBinding
		want     string // which of ap and eu is left
	}{
		{"by name", "ap:bad eu:bad us", nil, "ap"},
		{"nothing is in the first", "ap:bad eu:bad us", in("eu"), "eu"},
		{"the first has a taint that drives nothing out", "ap:soft eu:bad us", nil, "eu"},
		{"something is in both", "ap:bad eu:bad us", in("ap eu"), "ap"},
		{"the second is left already", "ap:bad eu:bad us", in("us", task("eu", time.Minute)), "eu"},
		{"the second was left, and has what stays for good", "ap:bad eu:bad us", in("us", stays), "ap"},
		{"the second is left after all", "ap:bad eu:bad us", in("us", resumed), "eu"},
		{"a cluster is left that is well", "ap:bad eu:bad us", in("us", task("us", time.Minute)), "ap"},
		{"what is in the first tolerates it for longer", "ap:bad eu:bad us", late, "ap"},
		{"what is in the first tolerates it by now", "ap:bad eu:bad us", tolerant, "ap"},
		{"what is in the first was not placed by a policy", "ap:bad eu:bad us", unplaced, "ap"},
		{"virtual clusters of one server", "ap@us:bad eu@us:bad us", nil, "ap eu"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var left []string
			for _, cluster := range []string{"ap", "eu"} {
				w := world{clusters: tt.clusters, oneIn: 3, beside: tt.beside, goes: "us"}
				e, item := w.evictor(), w.item()
				item.Before = in(cluster)
				if m, _ := e.Begin(&item, nil, e.Start(), w.try); m.Begins() {
					left = append(left, cluster)
				}
			}
			if got := strings.Join(left, " "); got != tt.want {
				t.Errorf("%q is left; want %q", got, tt.want)
			}
		})
	}
}

// Since when the first of what is in a cluster should have left counts over names, in whatever order bindings are read.
func TestWhoWaitsLongestGoesFirst(t *testing.T) {
	after := func(seconds int64, b *karmada.ResourceBinding) *karmada.ResourceBinding {
		b.Spec.Placement.ClusterTolerations = tolerates(seconds, -1).Placement.ClusterTolerations
		return b
	}
	for _, tt := range []struct {
		name       string
		one, other *karmada.ResourceBinding
		first      string
	}{
		{"ap since 10 seconds, eu since 30", after(50, in("ap")), after(30, in("eu")), "eu"},
		{"ap since 10 seconds, both since 25", after(50, in("ap")), after(35, in("ap eu")), "ap"},
		{"ap in 10 seconds, eu since 10", after(70, in("ap")), after(50, in("eu")), "eu"},
		{"ap is tolerated, eu since 10 seconds", after(0, in("ap")), after(50, in("eu")), "eu"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 20 { // bindings are in a map
				for _, cluster := range []string{"ap", "eu"} {
					w := world{clusters: "ap:bad eu:bad us", oneIn: 3, before: tt.one, beside: tt.other, goes: "us"}
					e, item := w.evictor(), w.item()
					item.Before = in(cluster)
					if m, _ := e.Begin(&item, nil, e.Start(), w.try); m.Begins() != (cluster == tt.first) {
						t.Fatalf("what is in %s %s; %s goes first", cluster, summary(m), tt.first)
					}
				}
			}
		})
	}
}

// Whoever places a template that leaves is told what remains of it, and where it cannot go: what it leaves, and what it would leave at once.
func TestWhereItMayGo(t *testing.T) {
	w := world{clusters: "ap:bad eu:bad sa us za:bad", keepLast: true, before: in("eu sa", task("us", time.Minute))}
	e, item := w.evictor(), w.item()
	m, p := e.Resume(&item, e.Start())
	asked := ""
	e.Begin(&item, m, p, func(previous []karmada.TargetCluster, evicting []string) place.Decision {
		asked = fmt.Sprint(previous, evicting)
		return place.Decision{Reason: place.Success, Targets: targets("sa")}
	})
	if want := fmt.Sprint(targets("sa"), []string{"ap", "eu", "us", "za"}); asked != want {
		t.Errorf("it asks for a place by %s; want %s", asked, want)
	}
	for _, d := range []place.Decision{{Reason: place.Success}, {Reason: place.Unschedulable, Targets: targets("sa")}} {
		m, _ := e.Begin(&item, nil, p, func([]karmada.TargetCluster, []string) place.Decision { return d })
		if got := summary(m); got != "tasks [] begun [] over [] waits NowhereElse" {
			t.Errorf("placed in %v for %q it %s", d.Targets, d.Reason, got)
		}
	}
}

// A template is not placed where it would have to leave at once, and may be where it would later.
func TestWhereItIsNotPlaced(t *testing.T) {
	sick := evict.Evidence{web: {"us": {Health: karmada.ResourceUnhealthy, Since: now.Add(-time.Minute)}}}
	for _, tt := range []struct {
		name     string
		world    world
		tasks    []evict.Task
		previous string
		want     string
	}{
		{"where it leaves, once", world{clusters: "eu:bad us"}, []evict.Task{task("eu", 0)}, "", "[eu]; "},
		{"where it is", world{clusters: "eu:bad us:bad"}, nil, "eu", "[us]; "},
		{"where the taint is tolerated", world{clusters: "eu:bad us", policy: tolerates(0, -1)}, nil, "", "[]; "},
		{"where the taint is tolerated for a while", world{clusters: "ap:bad eu:seen us", policy: tolerates(90, 70)}, nil, "", "[]; "},
		{"where either is tolerated for a while", world{clusters: "eu:bad+seen us", policy: tolerates(90, -1)}, nil, "", "[eu]; timed, in 30s"},
		{"where it failed", world{clusters: "eu:bad us:bad", policy: fails(), seen: sick}, nil, "eu", "[us]; "},
		{"it is off", world{clusters: "ap:bad eu:bad us:bad", off: true, before: in("us", task("eu", 0))}, []evict.Task{task("eu", 0)}, "us", "[eu]; "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, item := tt.world.evictor(), tt.world.item()
			names, r := e.Evicting(&item, &failover.Moves{Tasks: tt.tasks}, targets(tt.previous))
			if got := fmt.Sprint(names) + "; " + again(r); got != tt.want {
				t.Errorf("it avoids %s; want %s", got, tt.want)
			}
		})
	}
	w := world{clusters: "eu:bad us"}
	e, item := w.evictor(), w.item()
	item.Policy = nil
	if names, _ := e.Evicting(&item, nil, nil); names != nil {
		t.Errorf("what no policy claims avoids %v", names)
	}
	if names, _ := (*failover.Evictor)(nil).Evicting(&item, nil, nil); names != nil {
		t.Errorf("where nothing fails over it avoids %v", names)
	}
}

// Work stays in the group of clusters that it failed over to as long as work fails over.
func TestWhoStaysInAGroup(t *testing.T) {
	on, off := world{clusters: "eu"}, world{clusters: "eu", off: true, before: in("eu", task("us", 0))}
	if !on.evictor().StaysInGroup() || off.evictor().StaysInGroup() || (*failover.Evictor)(nil).StaysInGroup() {
		t.Error("it stays where nothing fails over, or does not where it does")
	}
	var none *failover.Evictor
	w := world{clusters: "eu:bad us", before: in("eu", task("us", time.Minute)), goes: "us"}
	item := w.item()
	if m, _ := none.Resume(&item, none.Start()); m != nil {
		t.Errorf("where nothing fails over it %s", summary(m))
	}
	given := &failover.Moves{Tasks: []evict.Task{task("ap", 0)}}
	if m, p := none.Begin(&item, given, none.Start(), w.try); m != given || again(p.Recheck) != "" {
		t.Errorf("where nothing fails over it %s", summary(m))
	}
	if failover.New(failover.Input{}) != nil {
		t.Error("without settings there is an evictor")
	}
	if still := (world{clusters: "eu", off: true, before: in("eu")}); still.evictor() != nil {
		t.Error("that is off and has nothing on its way is one")
	}
}
