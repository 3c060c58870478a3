package stage_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// A plan has a run go back, and dies when clusters have the base and the record does not say so. However long the next one comes
// after it, and whatever clusters say by then, the run stays back.
func TestARunThatWentBackStaysBack(t *testing.T) {
	for name, then := range map[string]string{
		"at once": "", "the clusters have it": "healthy c1 c2", "one says nothing": "healthy c1; silent c2",
	} {
		w := newWorld(t, strategies["returns"], twelve)
		w.play([]row{
			{"10:00", "source b2", "b2: c1 c2", ""},
			{"10:01", "healthy c1 c2", "", "Soaking canary TimedWait"},
		})
		w.now = clock("10:05")
		w.do("failed@10:03 c2") // it failed for long enough when it is heard of
		w.do("half")
		if changed := w.plan(); len(changed) != 2 || changed["c1"] != "a1" {
			t.Fatalf("%s: it goes back in %v", name, changed)
		}
		w.now = clock("10:25")
		for event := range strings.SplitSeq(then, ";") {
			if then != "" {
				w.do(strings.TrimSpace(event))
			}
		}
		if changed := w.settle(); changed != "" {
			t.Errorf("%s: the next plan changes %s", name, changed)
		}
		if err := w.says("Stopped canary KeptBack"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is published of a cluster by a plan that recorded nothing says nothing of a run by a strategy that does not go back, nor of
// a cluster whose turn had not come.
func TestWhatIsNotGoneBack(t *testing.T) {
	w := newWorld(t, strategies["simple"], four)
	w.play([]row{{"10:00", "source b2", "b2: c1", ""}})
	in := w.input()
	for n := range in.Clusters {
		if c := &in.Clusters[n]; c.Name == "p1" {
			c.WasTarget = true
		}
	}
	if out := stage.Decide(in); out.Phase != rollouts.Updating {
		t.Errorf("the run is %s", out.Phase)
	}
}
