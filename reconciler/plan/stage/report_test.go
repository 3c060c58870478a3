package stage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
)

// heard are rows without what comes of them, in one line each: "10:00 source b2".
func heard(lines ...string) (rows []row) {
	for _, line := range lines {
		at, event, _ := strings.Cut(line, " ")
		rows = append(rows, row{time: at, arrives: event})
	}
	return rows
}

// happen has rows happen, whatever comes of them.
func (w *world) happen(rows []row) {
	for _, r := range rows {
		w.now = clock(r.time)
		for event := range strings.SplitSeq(r.arrives, ";") {
			w.do(strings.TrimSpace(event))
		}
		w.settle()
	}
}

// TestDiagnostics has what is said of a unit, and how loudly.
func TestDiagnostics(t *testing.T) {
	for _, tt := range []struct {
		name, strategy string
		rows           []row
		want, about    string
	}{
		{"nothing", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2"), "", ""},
		{"it stopped", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 failed c1", "10:02 failed c1"), "error rollout-stopped", "canary: c1 failed, 1 of 1; 0 are tolerated"},
		{"it was stopped", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 stop"), "warning rollout-stopped", "stop was commanded by anna"},
		{"it goes back", "returns", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 failed c1", "10:02 hold c1"), "error rollout-stopped", "canary: c1 failed"},
		{"it went back", "returns", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 failed c1", "10:02 healthy p1"), "error rollout-stopped", "this version is not tried again"},
		{"one is late", "simple", heard("10:00 healthy c1 p1 p2;silent p3;source b2"), "warning rollout-late", "p3"},
		{"newer ones come and come", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 source b3", "10:02 source b4", "10:03 source b5"), "warning rollout-starved", "3 runs in a row"},
		{"two are few", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 source b3", "10:02 source b4"), "", ""},
		{"nothing speaks", "simple", heard("10:00 healthy p1 p2 p3;source b2"), "warning rollout-no-evidence", "c1"},
		{"nobody watches", "simple", heard("10:00 unwatched p1;healthy c1 p1 p2 p3;source b2"), "notice rollout-unwatched", "p1"},
		{"a command is refused", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 skip@other p1"), "warning rollout-stale-command", "skip p1 (orders/1)"},
		{"one takes over, and its version cannot be read", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 unreadable a1;takes p1"), "warning rollout-unsoaked", "p1"},
		{"the target cannot be read", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 unreadable b2"), "warning rollout-unreadable", "from commit b2"},
		{"the record is lost", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 lost"), "warning rollout-lost", "nothing is recorded"},
		{"the clock goes back", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "09:30 healthy p1"), "warning rollout-clock", "30m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, strategies[tt.strategy], four)
			w.in.Pos = diag.Pos{File: "policy.yaml", Line: 7}
			w.happen(tt.rows)
			var got []string
			for _, d := range w.last.Diags {
				got = append(got, fmt.Sprintf("%s %s", d.Severity, d.Code))
				if d.Hint == "" || d.Pos.Line != 7 || !strings.HasPrefix(d.Message, "team/web: ") || !strings.Contains(d.Message, tt.about) {
					t.Errorf("it says %+v; want something of %q", d, tt.about)
				}
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
		})
	}
}

// TestHints has what to type next where a run does not go on by itself: each strategy has other ways out.
func TestHints(t *testing.T) {
	for _, tt := range []struct {
		name, strategy string
		rows           []row
		want           string
	}{
		{"a run that the next one replaces", "simple", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 stop"), "push a version that is mended, or waybill rollout return team/web, or waybill rollout resume team/web"},
		{"one for which the next one waits", "queued", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 stop"), "waybill rollout return team/web, and the newest version follows; or waybill rollout resume team/web"},
		{"one that has nothing to go back to", "queued", heard("10:00 lost;forgotten;healthy c1 p1 p2 p3;source b2", "10:01 stop"), "waybill rollout skip team/web STAGE, and the newest version follows when no stage is left; or waybill rollout resume team/web"},
		{"one that goes back", "returns", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 failed c1", "10:02 hold c1"), "every cluster goes back to the version before"},
		{"one that went back", "returns", heard("10:00 healthy c1 p1 p2 p3;source b2", "10:01 failed c1", "10:02 healthy p1"), "push a version that is mended; waybill rollout resume team/web tries this one again"},
	} {
		w := newWorld(t, strategies[tt.strategy], four)
		w.happen(tt.rows)
		var got []string
		for _, d := range w.last.Diags {
			if d.Code == diag.RolloutStopped {
				got = append(got, d.Hint)
			}
		}
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: the hint is %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestRecheck has when to look again: the instants at which something happens by itself.
func TestRecheck(t *testing.T) {
	for _, tt := range []struct {
		name, strategy string
		rows           []row
		want           string
	}{
		{"nothing is open", "careful", heard("10:00 healthy c1"), ""},
		{"a deadline", "careful", heard("10:00 source b2"), "10:20:00"},
		{"the end of a soak", "careful", heard("10:00 source b2", "10:03 healthy c1 c2"), "10:33:00"},
		{"a failure that may pass", "careful", heard("10:00 source b2", "10:03 failed@10:02:30 c1"), "10:03:30"},
		{"the edge of a window", "careful", heard("10:00 closed canary 11:00;source b2"), "11:00:00"},
		{"what is to be published", "careful", heard("10:00 source b2;hold c1;bypass@trailer"), "10:00:01"},
		{"what was heard of last", "careful", heard("10:00 source b2", "10:03 healthy c1 c2", "10:05 silent c1"), "10:25:00"},
		{"nothing but what people say", "asked", heard("10:00 source b2", "10:03 healthy c1 c2", "10:13 healthy c1 c2"), ""},
	} {
		w := newWorld(t, strategies[tt.strategy], twelve)
		w.happen(tt.rows)
		again, got := w.last.Recheck, ""
		if !again.At.IsZero() {
			got = again.At.Format("15:04:05")
		}
		isOpen := w.last.Phase != rollouts.Done
		if got != tt.want || again.Timed != isOpen || again.Awaits != isOpen {
			t.Errorf("%s: it looks again at %q (%+v), want %q", tt.name, got, again, tt.want)
		}
	}
}

// TestReplicas divides 30 replicas otherwise over 12 clusters: in no step are there fewer.
func TestReplicas(t *testing.T) {
	old := []int32{5, 5, 5, 5, 5, 5, 0, 0, 0, 0, 0, 0}
	next := []int32{0, 0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 5}
	for released := range 13 {
		var total int32
		for n := range 12 {
			choice := stage.Older
			if n >= 12-released {
				choice = stage.Target
			}
			total += stage.Replicas(rollouts.Updating, choice, old[n], next[n])
		}
		if total < 30 {
			t.Errorf("with %d clusters released there are %d replicas", released, total)
		}
	}
	for _, tt := range []struct {
		phase     rollouts.Phase
		choice    stage.Choice
		old, next int32
		want      int32
	}{
		{rollouts.Updating, stage.Target, 3, 5, 5},
		{rollouts.Updating, stage.Target, 5, 3, 5},
		{rollouts.Updating, stage.Older, 3, 5, 3},
		{rollouts.Stopped, stage.Target, 5, 3, 5},
		{rollouts.Stopped, stage.Kept, 5, 3, 5},
		{rollouts.Returning, stage.Older, 5, 3, 5},
		{rollouts.Finishing, stage.Target, 5, 3, 3},
		{rollouts.Done, stage.Target, 5, 3, 3},
		{rollouts.Done, stage.Older, 5, 3, 3}, // a cluster that is behind
	} {
		if got := stage.Replicas(tt.phase, tt.choice, tt.old, tt.next); got != tt.want {
			t.Errorf("%s, %s, of %d and %d: %d, want %d", tt.phase, tt.choice, tt.old, tt.next, got, tt.want)
		}
	}
}

// TestVersions has which versions a decision is about, before anything is known of clusters.
func TestVersions(t *testing.T) {
	v := func(text string) rollouts.Version {
		commit, digest, _ := strings.Cut(text, "=")
		return rollouts.Version{Commit: commit, Digest: digest}
	}
	record := func(phase rollouts.Phase, reason rollouts.Reason, newer rollouts.Newer) *rollouts.Rollout {
		base := v("a1=a")
		if phase == rollouts.Done {
			base = v("b2=b")
		}
		return &rollouts.Rollout{Strategy: rollouts.Strategy{Newer: newer, Stages: []rollouts.Stage{{Name: "all"}}}, Status: rollouts.Status{Phase: phase, Reason: reason, Base: base, Target: v("b2=b")}}
	}
	for _, tt := range []struct {
		name              string
		before            *rollouts.Rollout
		source, published string
		refused           string
		want              string
	}{
		{"nothing is recorded", nil, "b2=b", "a1=a", "", "a1=a to b2=b"},
		{"nothing is recorded, and nothing changed", nil, "b2=a", "a1=a", "", "= to b2=a"},
		{"nothing may begin", nil, "b2=b", "a1=a", "no", "a1=a to a1=a"},
		{"done, and nothing changed", record(rollouts.Done, "", ""), "b3=b", "b3=b", "", "b2=b to b2=b"},
		{"done, and it changed: the base commit is the one that is published", record(rollouts.Done, "", ""), "b4=d", "b3=b", "", "b3=b to b4=d"},
		{"done, and it changed, and something else is published", record(rollouts.Done, "", ""), "b4=d", "b3=c", "", "b2=b to b4=d"},
		{"done, and nothing may begin", record(rollouts.Done, "", ""), "b4=d", "b3=b", "no", "b2=b to b2=b"},
		{"open", record(rollouts.Updating, "", ""), "b3=b", "b3=b", "", "a1=a to b2=b"},
		{"open, and it changed", record(rollouts.Stopped, "", ""), "b4=d", "b3=b", "", "a1=a to b4=d"},
		{"open, and it is the base", record(rollouts.Stopped, "", ""), "b4=a", "b3=b", "", "b4=a to b2=b"},
		{"open, and it changed, and waits", record(rollouts.Stopped, "", rollouts.WaitForNewer), "b4=d", "b3=b", "", "a1=a to b2=b"},
		{"kept back, and it changed, and would wait", record(rollouts.Stopped, rollouts.KeptBack, rollouts.WaitForNewer), "b4=d", "b3=b", "", "a1=a to b4=d"},
		{"finishing, and it changed", record(rollouts.Finishing, "", ""), "b4=d", "b4=d", "", "b2=b to b4=d"},
		{"finishing, and it changed, and waits", record(rollouts.Finishing, "", rollouts.WaitForNewer), "b4=d", "b4=d", "", "a1=a to b2=b"},
		{"finishing did not come to every branch, and it changed", stuck(record(rollouts.Finishing, "", "")), "b4=d", "b4=d", "", "a1=a to b4=d"},
		{"finishing did not come to every branch, and it changed, and would wait", stuck(record(rollouts.Finishing, "", rollouts.WaitForNewer)), "b4=d", "b4=d", "", "a1=a to b4=d"},
	} {
		in := stage.Input{Source: v(tt.source), Published: v(tt.published), Before: tt.before, Refused: tt.refused}
		if tt.before == nil {
			in.Strategy = &rollouts.Strategy{}
		}
		base, target := stage.Versions(in)
		if got := fmt.Sprintf("%s=%s to %s=%s", base.Commit, base.Digest, target.Commit, target.Digest); got != tt.want {
			t.Errorf("%s: it is about %s, want %s", tt.name, got, tt.want)
		}
		if out := stage.Decide(in); !slices.Contains([]rollouts.Phase{rollouts.Done, rollouts.Waiting}, out.Phase) && (out.Base != base || out.Target != target) {
			t.Errorf("%s: decided is about %v to %v", tt.name, out.Base, out.Target)
		}
	}
}

// TestWhomTheGuardKeepsFromGoingBack: the record of a run that goes back names the clusters that the guard holds, as long as it does, and
// nothing of one whose branch has caught up.
func TestWhomTheGuardKeepsFromGoingBack(t *testing.T) {
	w := newWorld(t, strategies["careful"], twelve)
	for _, tt := range []struct {
		row
		kept string
	}{
		{row{"10:00", "source b2", "b2: c1 c2", "Updating canary"}, ""},
		{row{"10:01", "hold c1; missed c2; return", "a1: c2", "Returning canary Commanded"}, "c1 ClusterHeld"}, // by the plan after that
		{row{"10:02", "source b3=a1", "", "Returning canary Commanded"}, "c1 ClusterHeld"},
		{row{"10:03", "-hold c1", "a1: c1", "Done a1"}, ""},
	} {
		w.play([]row{tt.row})
		var kept []string
		for name, c := range w.last.After.Clusters {
			if c.Reason != "" {
				kept = append(kept, name+" "+string(c.Reason))
			}
		}
		slices.Sort(kept)
		if got := strings.Join(kept, ", "); got != tt.kept {
			t.Errorf("%s: it is kept from going back by %q, want %q", tt.time, got, tt.kept)
		}
	}
}

// stuck returns a run of which a cluster does not have on its branch what it should have in the end.
func stuck(r *rollouts.Rollout) *rollouts.Rollout {
	r.Clusters = map[string]rollouts.Cluster{"p1": {Stage: "all", State: rollouts.Healthy, Released: metav1.NewTime(clock("09:30")), Reason: rollouts.NotPublished}}
	return r
}

// TestWhyTheLastStageIsNotOver names what it waits for that is in another stage.
func TestWhyTheLastStageIsNotOver(t *testing.T) {
	w := newWorld(t, strategies["simple"], "canary: c1 c2; prod: p1")
	w.happen(heard(
		"10:00 silent c1;source b2", "10:01 healthy c2", "10:02 progressing c2", "10:03 healthy c1", "10:04 healthy p1",
	))
	if got, want := w.message(), "prod: a cluster of an earlier stage has its turn when others there are healthy"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
