package stage_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// atOnce is the strategy of a unit that is bound to none, and that windows hold back.
var atOnce = &rollouts.Strategy{Name: "none", Stages: []rollouts.Stage{{
	Name: "all", LabelSelector: &metav1.LabelSelector{}, MaxConcurrency: part("all", "100%", "100%", "").MaxConcurrency,
	MaxFailures: part("all", "100%", "100%", "").MaxFailures,
}}}

// A unit without a strategy waits for its windows, and for nothing else.
func TestAtOnce(t *testing.T) {
	for _, s := range []scenario{
		{name: "while no window is closed there is no run", rows: []row{
			{"10:00", "source b2", "b2: c1 c2 c3", "Done b2"},
			{"10:01", "closed all 11:00", "", "Done b2"},
			{"10:02", "join j1 all", "b2: j1", "Done b2"},
		}},
		{name: "what changes waits, the newest of it goes out, and nobody is asked how it is", rows: []row{
			{"10:00", "closed all 11:00; source b2", "", "Waiting all WindowClosed c1:Pending"},
			{"10:01", "source b3; silent c1; failed c2; close c3", "", "Waiting all WindowClosed c1:Pending c2:Pending c3:Pending"},
			{"11:00", "open all", "b3: c1 c2 c3", "Done b3"},
		}},
		{name: "what changes nothing waits for nothing", rows: []row{
			{"10:00", "closed all 11:00; same b2 c1 a1; same b2 c2 a1; same b2 c3 a1; source b2", "", "Done b2"},
		}},
		{name: "it is taken back", rows: []row{
			{"10:00", "closed all 11:00; source b2", "", "Waiting all WindowClosed"},
			{"10:01", "source b3=a1", "", "Done a1"},
		}},
		{name: "it is bypassed, and the next change waits again", rows: []row{
			{"10:00", "closed all 11:00; source b2; bypass@trailer", "b2: c1 c2 c3", "Done b2"},
			{"10:01", "source b3", "", "Waiting all WindowClosed"},
			{"10:02", "bypass", "b3: c1 c2 c3", "Done b3"},
		}},
		{name: "it is kept back, and tried again", rows: []row{
			{"10:00", "closed all 11:00; source b2", "", "Waiting all WindowClosed"},
			{"10:01", "return", "", "Stopped all KeptBack"},
			{"11:00", "open all", "", "Stopped all KeptBack"},
			{"11:01", "resume", "b2: c1 c2 c3", "Done b2"},
		}},
		{name: "one cluster loses it, and one is skipped", rows: []row{
			{"10:00", "closed all 11:00; drops b2 c3; source b2", "", "Waiting all WindowClosed c3:Leaving"},
			{"10:01", "skip c1", "", "Waiting all WindowClosed c1:Skipped"},
			{"11:00", "open all", ": c3; b2: c2", "Done b2 c1:Skipped c2: c3:"},
			{"11:01", "source b3", "b3: c1 c2 c3", "Done b3"},
		}},
		{name: "what the guard holds is the guard's", rows: []row{
			{"10:00", "hold c1; source b2", "b2: c2 c3", "Done b2"},
			{"10:01", "-hold c1", "b2: c1", "Done b2"},
		}},
		{name: "the source refuses it", rows: []row{
			{"10:00", "refused it cannot be read; source b2", "", "Done a1"},
			{"10:01", "refused ", "b2: c1 c2 c3", "Done b2"},
		}},
		{name: "a strategy that was bound goes on", strategy: "simple", rows: []row{
			{"10:00", "source b2; strategy none", "b2: c1", "Updating canary"},
			{"10:01", "healthy c1", "b2: c2 c3", "Updating prod"},
		}},
	} {
		t.Run(s.name, func(t *testing.T) {
			stages := "all: c1 c2 c3"
			if s.strategy != "" {
				stages = "canary: c1; prod: c2 c3"
			}
			w := newWorld(t, map[string]*rollouts.Strategy{"": atOnce, "simple": strategies["simple"]}[s.strategy], stages)
			w.play(s.rows)
		})
	}
}

// unstagedHappenings are what may happen to a unit without a strategy between two plans.
var unstagedHappenings = []string{
	"", "healthy %", "failed %", "silent %", "source #", "source #", "source #=a1", "absent #", "drops # %; source #", "same # % a1; source #",
	"stop", "resume", "resume", "skip %", "skip all", "return", "bypass", "bypass@trailer", "approve all",
	"closed all 23:00", "closed all 23:00", "open all", "open all", "hold %", "-hold %", "suspend %", "-suspend %", "close %", "-close %",
	"unwritable %", "-unwritable %", "join j1 all", "takes %", "-takes %", "unreadable a1", "unreadable ",
	"missed %", "half", "lost", "forgotten", "refused it cannot be read", "refused ", "refused ",
}

// Whatever happens to a unit without a strategy: while its window is closed no cluster gains the target unless somebody bypasses it or
// something has to run there at once, and when the window is open nothing waits.
func TestAtOnceSequences(t *testing.T) {
	for seed := range *sequences {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		w := &walk{world: newWorld(t, atOnce, "all: c1 c2 c3 c4")}
		for range 60 {
			event := unstagedHappenings[random.IntN(len(unstagedHappenings))]
			if event == "join j1 all" && len(w.clusters) > 4 {
				event = "gone j1"
			}
			w.happen(event, w.clusters[random.IntN(len(w.clusters))].Name, "all")
			w.now = w.now.Add(10e9)
			in, before := w.input(), maps.Clone(w.has)
			missed := strings.Fields(w.missed)
			w.plan()
			if broken := unstagedLaws(w.world, in, before, missed); broken != "" {
				t.Fatalf("%d: %s: %s\nfrom %s\nto   %s\nshown %v", seed, event, broken, dump(in.Before), dump(w.last.After), w.last.Shown)
			}
		}
	}
}

// unstagedLaws says which law the last decision breaks.
func unstagedLaws(w *world, in stage.Input, before map[string]string, missed []string) string {
	out := w.last
	switch out.Phase {
	case rollouts.Updating, rollouts.Soaking, rollouts.Approving:
		return "it waits for evidence"
	case rollouts.Waiting, rollouts.Stopped, rollouts.Returning, rollouts.Finishing, rollouts.Done:
	}
	isClosed := in.Windows["all"].IsClosed
	wasOver := in.Before != nil && (in.Before.Status.Phase == rollouts.Done || in.Before.Status.Phase == rollouts.Finishing)
	wasDone := wasOver && in.Before.Status.Target.Is(in.Source)
	for n := range in.Clusters {
		c := &in.Clusters[n]
		has, target := w.has[c.Name], w.gives(out.Target, c.Name)
		var e rollouts.Cluster
		if out.After != nil {
			e = out.After.Clusters[c.Name]
		}
		gains := has != before[c.Name] && has == target && out.Shown[n].Choice == stage.Target
		if gains && (isClosed || in.Refused != "") && !c.Takes && !wasDone && !e.Joined && out.Phase != rollouts.Finishing {
			return c.Name + " gains the target while it may not"
		}
		isIn := !c.Held && !c.Suspended && c.Unwritable == "" && e.State != rollouts.Skipped && !slices.Contains(missed, c.Name)
		if out.Phase == rollouts.Done && out.Target.Is(in.Source) && in.Refused == "" && isIn && has != w.gives(in.Source, c.Name) {
			return "it is done, and " + c.Name + " does not have it"
		}
	}
	if isOpen := out.Phase == rollouts.Waiting; isOpen && !isClosed && in.Refused == "" {
		return "it waits, and nothing is in its way"
	}
	if at := in.Windows["all"].Edge; out.Phase == rollouts.Waiting && in.Refused == "" && !out.Recheck.At.Equal(at) {
		return "it is not looked at when the window opens"
	}
	return ""
}
