package failover_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/place"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
)

var (
	now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	web = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"}
)

// world is what a case is about: words like "eu", "us:bad" (tainted), "us:seen" (tainted by what was observed), "us:bad+seen",
// "us:soft" (tainted so that nothing new comes), "ap:unready" and "inner@us", a virtual one of us, are clusters.
type world struct {
	clusters string
	off      bool
	keepLast bool
	record   failover.Record
	seen     evict.Evidence
	recorded *karmada.ResourceBinding
	before   *karmada.ResourceBinding
	beside   *karmada.ResourceBinding // of another template
	policy   karmada.PropagationSpec
	goes     string // where a template would be placed: "us ap", or "us=2 ap=1" with replicas; empty for nowhere
	part     *failover.Moves
	rate     float64 // of the pace; 0: nothing is paced
	oneIn    int     // of how many clusters one may be left at a time; 0: all may
	divided  bool    // its replicas are shared out
	kept     bool    // something is wrong with it
}

func (w *world) evictor() *failover.Evictor {
	var clusters []karmada.Cluster
	marks := fleet.Marks{}
	for word := range strings.FieldsSeq(w.clusters) {
		name, is, _ := strings.Cut(word, ":")
		name, host, isVirtual := strings.Cut(name, "@")
		c := karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if isVirtual {
			c.Annotations = map[string]string{karmada.VirtualOfAnnotation: host}
		}
		for is := range strings.SplitSeq(is, "+") {
			switch is {
			case "bad", "seen":
				at := metav1.NewTime(now.Add(-time.Minute))
				c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{Key: is, Effect: corev1.TaintEffectNoExecute, TimeAdded: &at})
				marks[name] = append(marks[name], fleet.Mark{Key: is, Effect: corev1.TaintEffectNoExecute, Policy: true, Observed: is == "seen"})
			case "soft":
				c.Spec.Taints = append(c.Spec.Taints, corev1.Taint{Key: is, Effect: corev1.TaintEffectNoSchedule})
			case "unready":
				c.Status.Conditions = []metav1.Condition{{Type: karmada.ConditionReady, Status: metav1.ConditionFalse}}
			}
		}
		clusters = append(clusters, c)
	}
	rules := evict.Rules{Timeout: 10 * time.Minute, KeepLast: w.keepLast, Rate: w.rate, Limits: evict.Limits{Unhealthy: 55, Large: 50, LargeUnhealthy: 50, OneIn: cmp.Or(w.oneIn, 1)}}
	s := failover.Settings{Enabled: !w.off, Rules: rules, Record: w.record, Evidence: &failover.Live{Seen: w.seen, Rules: rules, Now: now}}
	if w.recorded != nil {
		s.Evidence = &failover.Recorded{Bindings: map[object.Ref]*karmada.ResourceBinding{web: w.recorded}, Now: now}
	}
	bindings := map[object.Ref]*karmada.ResourceBinding{}
	if w.before != nil {
		bindings[web] = w.before
	}
	if w.beside != nil {
		bindings[object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "beside"}] = w.beside
	}
	return failover.New(failover.Input{Settings: &s, Fleet: fleet.New(clusters), Marks: marks, Bindings: bindings, Now: now})
}

func (w *world) item() failover.Item {
	p := policies.Propagation{Object: object.Decode("p", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: p, namespace: a}\n")).Objects[0], Spec: &w.policy}
	return failover.Item{Ref: web, Policy: &p, Before: w.before, IsDelivered: true, IsDivided: w.divided, IsPart: w.part != nil, Release: w.part}
}

// run plays a plan of one template, and returns what it makes of its moves.
func (w *world) run() (moves *failover.Moves, ended failover.Ended) {
	e, item := w.evictor(), w.item()
	if e == nil {
		return nil, ended
	}
	moves, p := e.Resume(&item, e.Start())
	moves, p = e.Begin(&item, moves, p, w.try)
	placed := failover.Placed{Item: item, Moves: moves, IsPlaced: w.goes != "", Clusters: targets(w.goes), IsKept: w.kept}
	ended = e.End([]failover.Placed{placed}, p)
	return ended.Moves[0], ended
}

func (w *world) try([]karmada.TargetCluster, []string) place.Decision {
	if w.goes == "" {
		return place.Decision{Reason: place.NoClusterFit}
	}
	return place.Decision{Reason: place.Success, Targets: targets(w.goes)}
}

func targets(names string) (all []karmada.TargetCluster) {
	for word := range strings.FieldsSeq(names) {
		name, replicas, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(replicas)
		all = append(all, karmada.TargetCluster{Name: name, Replicas: int32(n)})
	}
	return all
}

// in is the binding of a template that is in clusters.
func in(clusters string, tasks ...evict.Task) *karmada.ResourceBinding {
	b := state.NewBinding("apps/v1", web)
	b.Spec.Clusters, b.Spec.GracefulEvictionTasks, b.Spec.Placement = targets(clusters), tasks, &karmada.Placement{}
	return b
}

// waits is a binding that waits.
func waits(b *karmada.ResourceBinding, why state.Waits) *karmada.ResourceBinding {
	state.RecordWaits(b, nil, why, metav1.NewTime(now))
	return b
}

func task(from string, ago time.Duration) evict.Task {
	at := metav1.NewTime(now.Add(-ago))
	return evict.Task{FromCluster: from, CreationTimestamp: &at, PurgeMode: karmada.PurgeModeGracefully, Producer: evict.TaintManager}
}

func summary(m *failover.Moves) string {
	if m == nil {
		return "stays"
	}
	names := func(tasks []evict.Task) (all []string) {
		for _, t := range tasks {
			all = append(all, t.FromCluster)
		}
		return all
	}
	text := fmt.Sprintf("tasks %v begun %v over %v", names(m.Tasks), names(m.Begun), names(m.Over))
	if m.Waits != "" {
		text += " waits " + string(m.Waits)
	}
	return text
}

// fails is a policy by which work leaves clusters where it is not healthy for half a minute.
func fails() karmada.PropagationSpec {
	seconds := int32(30)
	return karmada.PropagationSpec{Failover: &karmada.FailoverBehavior{Application: &karmada.ApplicationFailoverBehavior{
		DecisionConditions: karmada.DecisionConditions{TolerationSeconds: &seconds}, PurgeMode: karmada.PurgeModeGracefully,
	}}}
}

func TestMoves(t *testing.T) {
	healthy := evict.Evidence{web: {"us": {Health: karmada.ResourceHealthy, Done: true, Current: true}}}
	outdated := evict.Evidence{web: {"us": {Health: karmada.ResourceHealthy, Done: true}}}
	rolling := evict.Evidence{web: {"us": {Health: karmada.ResourceHealthy, Current: true}}}
	sick := evict.Evidence{web: {"eu": {Health: karmada.ResourceUnhealthy, Since: now.Add(-time.Minute)}}}
	sickNow := evict.Evidence{web: {"eu": {Health: karmada.ResourceUnhealthy, Since: now.Add(-time.Second)}}}
	failed := task("eu", 0)
	failed.Producer = evict.ApplicationFailover
	for _, tt := range []struct {
		name  string
		world world
		want  string
	}{
		{"nothing is wrong", world{clusters: "eu us", before: in("eu"), goes: "eu"}, "stays"},
		{"a taint drives it out", world{clusters: "eu:bad us", before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []"},
		{"it is off", world{clusters: "eu:bad us", off: true, before: in("eu"), goes: "us"}, "stays"},
		{"it is turned off on the way", world{clusters: "eu:bad us", off: true, before: in("us", task("eu", time.Minute)), goes: "us"}, "tasks [eu] begun [] over []"},
		{"there is nowhere else, and the last copy stays", world{clusters: "eu:bad us", keepLast: true, before: in("eu")}, "tasks [] begun [] over [] waits NowhereElse"},
		{"there is nowhere else, and it goes", world{clusters: "eu:bad us", before: in("eu")}, "tasks [eu] begun [eu] over []"},
		{"too many are not ready", world{clusters: "eu:bad us:unready ap:unready", before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits FleetNotReady"},
		{"they were not a moment ago", world{clusters: "eu:bad us ap", record: failover.Record{Frozen: true}, before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits FleetNotReady"},
		{"something moved at this second", world{clusters: "eu:bad us", record: failover.Record{Moved: now}, before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits Paced"},
		{"it leaves four clusters, and is paced once", world{clusters: "ap:bad eu:bad sa:bad us:bad za", rate: 1, before: in("ap eu sa us"), goes: "za"}, "tasks [ap eu sa us] begun [ap eu sa us] over []"},
		{"another cluster is left first", world{clusters: "ap:bad eu:bad us", oneIn: 3, beside: in("us", task("ap", time.Hour)), before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits OthersMoveFirst"},
		{"another cluster would be left first, and has the last copy of something", world{clusters: "ap:bad eu:bad us", oneIn: 3, beside: waits(in("us", task("ap", time.Hour)), state.WaitsForCopy), before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []"},
		{"another cluster would be left first, and something there has nowhere to go", world{clusters: "ap:bad eu:bad us", oneIn: 3, beside: waits(in("ap"), state.WaitsForPlace), before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []"},
		{"virtual clusters of one server are left at once", world{clusters: "eu in-1@us:bad in-2@us:bad us", oneIn: 10, before: in("in-1 in-2"), goes: "eu"}, "tasks [in-1 in-2] begun [in-1 in-2] over []"},
		{"virtual clusters of several are left one after the other", world{clusters: "ap eu in-1@us:bad in-2@ap:bad us", oneIn: 10, before: in("in-1 in-2"), goes: "eu"}, "tasks [in-1] begun [in-1] over [] waits OthersMoveFirst"},
		{"a server is left with the virtual clusters of it", world{clusters: "eu in-1@us:bad us:bad", oneIn: 10, before: in("in-1 us"), goes: "eu"}, "tasks [in-1 us] begun [in-1 us] over []"},
		{"the new copy is healthy", world{clusters: "eu:bad us", before: in("us", task("eu", time.Minute)), seen: healthy, goes: "us"}, "tasks [] begun [] over [eu]"},
		{"what was there before is healthy", world{clusters: "eu:bad us", before: in("us", task("eu", time.Minute)), seen: outdated, goes: "us"}, "tasks [eu] begun [] over []"},
		{"it is healthy, and on its way", world{clusters: "eu:bad us", before: in("us", task("eu", time.Minute)), seen: rolling, goes: "us"}, "tasks [eu] begun [] over []"},
		{"nobody says that it is", world{clusters: "eu:bad us", before: in("us", task("eu", time.Minute)), goes: "us"}, "tasks [eu] begun [] over []"},
		{"nobody says so in time", world{clusters: "eu:bad us", before: in("us", task("eu", time.Hour)), goes: "us"}, "tasks [] begun [] over [eu]"},
		{"it fails where it is", world{clusters: "eu us", policy: fails(), seen: sick, before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []"},
		{"it fails, and gains nothing elsewhere", world{clusters: "eu us", policy: fails(), seen: sick, before: in("eu us"), goes: "us"}, "tasks [] begun [] over [] waits NowhereElse"},
		{"it has not failed for long enough", world{clusters: "eu us", policy: fails(), seen: sickNow, before: in("eu"), goes: "eu"}, "stays"},
		{"its release leaves", world{clusters: "eu us", part: &failover.Moves{Tasks: []evict.Task{task("eu", 0)}}, before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []"},
		{"its release leaves, and too many are not ready by now", world{clusters: "eu us:unready ap:unready", part: &failover.Moves{Tasks: []evict.Task{task("eu", 0)}}, before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over [] waits FleetNotReady"},
		{"its release stays", world{clusters: "eu:bad us", part: &failover.Moves{}, before: in("eu"), goes: "us"}, "stays"},
		{"made again, it failed", world{clusters: "eu us", policy: fails(), recorded: in("us", failed), before: in("eu"), goes: "us"}, "tasks [eu] begun [eu] over []"},
		{"made again, it had not", world{clusters: "eu us", policy: fails(), recorded: in("eu"), before: in("eu"), goes: "eu"}, "stays"},
		{"made again, the fleet was not ready", world{clusters: "eu:bad us:unready ap:unready", recorded: waits(in("eu"), state.WaitsForFleet), before: in("eu"), goes: "us"}, "tasks [] begun [] over [] waits FleetNotReady"},
		{"made again, the task went on", world{clusters: "eu:bad us", recorded: in("us", task("eu", time.Hour)), before: in("us", task("eu", time.Hour)), goes: "us"}, "tasks [eu] begun [] over []"},
		{"made again, the task was over", world{clusters: "eu:bad us", recorded: in("us"), before: in("us", task("eu", time.Minute)), goes: "us"}, "tasks [] begun [] over [eu]"},
		{"made again, the last copy stayed", world{clusters: "eu:bad us", recorded: waits(in("us", task("eu", time.Hour)), state.WaitsForCopy), before: in("us", task("eu", time.Hour)), goes: "us"}, "tasks [eu] begun [] over [] waits LastCopy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := tt.world.run()
			if got := summary(m); got != tt.want {
				t.Errorf("it %s; want %s", got, tt.want)
			}
		})
	}
}

// What leaves several clusters in one plan is asked for a place by what remains of it after each, and not by what it was.
func TestWhatRemains(t *testing.T) {
	w := world{clusters: "ap:bad eu:bad us", before: in("ap eu us"), goes: "us"}
	if m, _ := w.run(); !slices.Equal(m.Remaining, targets("us")) {
		t.Errorf("of ap, eu and us, of which it leaves two, remain %v", m.Remaining)
	}
}

func TestWhatThePlanSays(t *testing.T) {
	for _, tt := range []struct {
		name    string
		world   world
		code    diag.Code
		recheck time.Duration
		record  failover.Record
	}{
		{"nothing", world{clusters: "eu us", before: in("us", task("eu", time.Minute)), goes: "us"}, "", 9 * time.Minute, failover.Record{}},
		{"it is nowhere else", world{clusters: "eu:bad us", keepLast: true, before: in("eu")}, diag.NowhereElse, 0, failover.Record{}},
		{"the fleet is not ready", world{clusters: "eu:bad us:unready ap:unready", before: in("eu"), goes: "us"}, diag.FailoverFrozen, 0, failover.Record{Frozen: true}},
		{
			"virtual clusters of one server are one",
			world{clusters: "eu:bad us ap sa in-1@us:unready in-2@us:unready in-3@us:unready", before: in("eu"), goes: "us"},
			"", time.Second,
			failover.Record{Moved: now},
		},
		{
			"virtual clusters of several are several",
			world{clusters: "eu:bad us ap sa in-1@us:unready in-2@ap:unready in-3@sa:unready", before: in("eu"), goes: "us"},
			diag.FailoverFrozen, 0,
			failover.Record{Frozen: true},
		},
		{"the fleet is ready again", world{clusters: "eu:bad us ap", record: failover.Record{Frozen: true}, before: in("eu"), goes: "us"}, diag.FailoverFrozen, time.Minute, failover.Record{DelayedUntil: now.Add(time.Minute)}},
		{"nobody says how it is", world{clusters: "eu us", policy: fails(), seen: evict.Evidence{web: nil}, before: in("eu"), goes: "eu"}, diag.HealthUnknown, 0, failover.Record{}},
		{"something moves", world{clusters: "eu:bad us", before: in("eu"), goes: "us"}, "", time.Second, failover.Record{Moved: now}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ended := tt.world.run()
			codes := make([]diag.Code, 0, 1)
			for _, d := range ended.Diags {
				codes = append(codes, d.Code)
			}
			if got := strings.Trim(fmt.Sprint(codes), "[]"); got != string(tt.code) {
				t.Errorf("it says %q; want %q", got, tt.code)
			}
			var again time.Duration
			if !ended.Recheck.At.IsZero() {
				again = ended.Recheck.At.Sub(now)
			}
			if again != tt.recheck {
				t.Errorf("it asks again in %s; want %s", again, tt.recheck)
			}
			ended.Record.Pace = time.Time{}
			if ended.Record != tt.record {
				t.Errorf("it records %+v; want %+v", ended.Record, tt.record)
			}
		})
	}
}

// What is not to be left any longer is not asked for either: a template is not placed where it would
// have to leave at once.
func TestEvicting(t *testing.T) {
	w := world{clusters: "eu:bad us ap:bad", before: in("eu")}
	e, item := w.evictor(), w.item()
	if got, _ := e.Evicting(&item, nil, targets("eu")); !slices.Equal(got, []string{"ap"}) {
		t.Errorf("while it is in eu it avoids %v; want ap", got)
	}
	m := &failover.Moves{Tasks: []evict.Task{task("us", 0)}}
	if got, _ := e.Evicting(&item, m, nil); !slices.Equal(got, []string{"ap", "eu", "us"}) {
		t.Errorf("while it is nowhere and leaves us it avoids %v; want ap, eu, us", got)
	}
}

// A step returns moves of its own: those that it was given are as they were.
func TestMovesAreValues(t *testing.T) {
	leader := &failover.Moves{Tasks: []evict.Task{task("eu", 0)}}
	first := (*failover.Moves)(nil).Follow(leader)
	second := first.Follow(&failover.Moves{Over: []evict.Task{task("us", 0)}})
	if !slices.Equal(first.From(), []string{"eu"}) || !slices.Equal(second.From(), []string{"eu", "us"}) {
		t.Errorf("they follow from %v, and from %v", first.From(), second.From())
	}
}
