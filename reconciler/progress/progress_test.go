package progress_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
)

var noon = metav1.NewTime(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))

func later(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(d)) }

// web is a run with three stages: canary soaks for 30 minutes, and early is to be approved.
func web(phase rollouts.Phase, why rollouts.Reason, stages ...rollouts.Phase) *rollouts.Rollout {
	r := &rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"},
		Strategy: rollouts.Strategy{Name: "careful", Stages: []rollouts.Stage{
			{Name: "canary", AfterStageTasks: []rollouts.StageTask{{
				Type:     rollouts.WaitTask,
				WaitTime: metav1.Duration{Duration: 30 * time.Minute},
			}}},
			{Name: "early", AfterStageTasks: []rollouts.StageTask{{Type: rollouts.ApprovalTask}}},
			{Name: "prod"},
		}},
		Status: rollouts.Status{
			Run: "8f3a1c2d00000000", Phase: phase, Reason: why, Message: "the message", StartTime: noon,
			Base: rollouts.Version{Commit: "a1a1a1a1a1a1a1"}, Target: rollouts.Version{Commit: "b2b2b2b2b2b2b2"},
		},
		Clusters: map[string]rollouts.Cluster{
			"c1": {Stage: "canary", State: rollouts.Healthy, Shows: "b2b2b2b2b2b2b2", Released: noon},
			"e1": {Stage: "early", State: rollouts.Pending, Shows: "a1a1a1a1a1a1a1"},
			"e2": {Stage: "early", State: rollouts.Pending, Shows: "a1a1a1a1a1a1a1"},
			"p1": {Stage: "prod", State: rollouts.Pending, Shows: "a1a1a1a1a1a1a1"},
			"p2": {Stage: "prod", State: rollouts.Late, Shows: "a1a1a1a1a1a1a1"},
			"x":  {State: rollouts.Leaving, Shows: "a1a1a1a1a1a1a1"},
		},
	}
	for n, name := range []string{"canary", "early", "prod"} {
		st := rollouts.StageStatus{Name: name, Phase: rollouts.Waiting}
		if n < len(stages) {
			st.Phase = stages[n]
		}
		r.Status.Stages = append(r.Status.Stages, st)
	}
	return r
}

// with returns a run in which a cluster is otherwise.
func with(r *rollouts.Rollout, name string, c rollouts.Cluster) *rollouts.Rollout {
	r.Clusters[name] = c
	return r
}

func TestProgress(t *testing.T) {
	soaking := web(rollouts.Soaking, rollouts.TimedWait, rollouts.Soaking)
	soaking.Status.Stages[0].After = []rollouts.Task{{Type: rollouts.WaitTask, Since: noon}}
	asked := web(rollouts.Waiting, rollouts.ApprovalMissing, rollouts.Done, rollouts.Waiting)
	out := rollouts.Cluster{Stage: "early", State: rollouts.Released, Released: noon, Deadline: later(time.Hour)}
	longer := rollouts.Cluster{Stage: "early", State: rollouts.Released, Released: noon, Deadline: later(2 * time.Hour)}
	failed := rollouts.Cluster{Stage: "early", State: rollouts.Failed, Released: noon}
	back := web(rollouts.Stopped, rollouts.KeptBack, rollouts.Done, rollouts.Updating)
	done := web(rollouts.Done, "")
	done.Status.Stages, done.Clusters = nil, map[string]rollouts.Cluster{"p2": {Stage: "prod", State: rollouts.Late}}
	approvedBefore := web(rollouts.Soaking, rollouts.TimedWait, rollouts.Done, rollouts.Soaking)
	approvedBefore.Strategy.Stages[1].AfterStageTasks = nil
	approvedBefore.Strategy.Stages[2].BeforeStageTasks = []rollouts.StageTask{{Type: rollouts.WaitTask}, {Type: rollouts.ApprovalTask}}
	resting := out
	resting.Rests = later(time.Minute)
	unstaged := web(rollouts.Waiting, rollouts.WindowClosed)
	unstaged.Strategy = rollouts.Strategy{Name: render.NoStrategy}
	approved := web(rollouts.Soaking, rollouts.TimedWait, rollouts.Done, rollouts.Soaking)
	approved.Status.Stages[1].After = []rollouts.Task{{Type: rollouts.ApprovalTask, DoneTime: noon}}
	last := web(rollouts.Soaking, rollouts.TimedWait, rollouts.Done, rollouts.Done, rollouts.Soaking)
	every := web(rollouts.Updating, "", rollouts.Done, rollouts.Updating)
	for _, is := range []rollouts.State{rollouts.Healthy, rollouts.Released, rollouts.Late, rollouts.Suspended, rollouts.Skipped, rollouts.Unchanged} {
		every = with(every, string(is), rollouts.Cluster{Stage: "early", State: is, Released: noon})
	}
	delete(every.Clusters, "e1")
	skipsEarly := web(rollouts.Soaking, rollouts.TimedWait, rollouts.Soaking)
	skipsEarly.Strategy.Stages[1].BeforeStageTasks = []rollouts.StageTask{{Type: rollouts.ApprovalTask}}
	for name, c := range skipsEarly.Clusters {
		if c.Stage == "early" {
			skipsEarly = with(skipsEarly, name, rollouts.Cluster{Stage: "early", State: rollouts.Unchanged})
		}
	}
	for _, tt := range []struct {
		name     string
		run      *rollouts.Rollout
		clusters string
		then     string
		next     metav1.Time
		commands string
	}{
		{
			"soaking", soaking, "1 healthy; early 2 behind; prod 2 behind", "early begins", later(30 * time.Minute),
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"soaking before a stage in which nothing changes", skipsEarly, "1 healthy; prod 2 behind", "prod begins",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"to be healthy again", web(rollouts.Soaking, rollouts.NotHealthy, rollouts.Soaking), "1 healthy; early 2 behind; prod 2 behind",
			"canary soaks again when its clusters are healthy",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"updating, and more to come", with(web(rollouts.Updating, "", rollouts.Done, rollouts.Updating), "e1",
				out), "1 out, 1 pending; prod 2 behind",
			"when they are healthy more clusters of early are released; what is not by then has failed", later(time.Hour), "waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"updating the last", with(with(web(rollouts.Updating, "", rollouts.Done, rollouts.Updating), "e1", out), "e2",
				out), "2 out; prod 2 behind",
			"when they are healthy early waits for an approval; what is not by then has failed", later(time.Hour), "waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"updating two, of which one has less time", with(with(web(rollouts.Updating, "", rollouts.Done, rollouts.Updating), "e1", out), "e2",
				longer), "2 out; prod 2 behind",
			"when they are healthy early waits for an approval; what is not by then has failed", later(time.Hour), "waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"approving", web(rollouts.Approving, rollouts.ApprovalMissing, rollouts.Done,
				rollouts.Approving), "2 pending; prod 2 behind", "with an approval prod begins",
			metav1.Time{},
			"waybill rollout approve team/web@8f3a1c2d early\nwaybill rollout stop team/web@8f3a1c2d",
		},
		{
			"an approval before", asked, "2 pending; prod 2 behind", "an approval begins early",
			metav1.Time{},
			"waybill rollout approve team/web@8f3a1c2d early\nwaybill rollout stop team/web@8f3a1c2d",
		},
		{
			"stopped", with(web(rollouts.Stopped, rollouts.TooManyFailed, rollouts.Done, rollouts.Updating), "e2",
				failed), "1 failed, 1 pending; prod 2 behind",
			"nothing is released until somebody resumes or returns it, or the source changes",
			metav1.Time{},
			"waybill rollout return team/web@8f3a1c2d\nwaybill rollout resume team/web@8f3a1c2d",
		},
		{
			"went back", back, "2 pending; prod 2 behind",
			"nothing is released until somebody resumes or returns it, or the source changes",
			metav1.Time{},
			"waybill rollout resume team/web@8f3a1c2d",
		},
		{
			"an approval before it is past", approvedBefore, "2 pending; prod 2 behind", "prod waits for an approval",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"updating, and then it soaks", with(web(rollouts.Updating, "", rollouts.Updating), "c1",
				rollouts.Cluster{Stage: "canary", State: rollouts.Failing, Released: noon}),
			"1 out; early 2 behind; prod 2 behind", "when they are healthy canary has to stay so for 30m",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"resting", with(web(rollouts.Updating, "", rollouts.Done, rollouts.Updating), "e1", resting), "1 out, 1 pending; prod 2 behind",
			"when they are healthy more clusters of early are released",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"waiting", web(rollouts.Waiting, rollouts.WindowClosed), "1 healthy; early 2 behind; prod 2 behind",
			"canary begins when nothing is in its way",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"waiting, without stages", unstaged, "1 healthy; early 2 behind; prod 2 behind",
			"every cluster gets it at once when nothing is in its way",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{
			"it soaks, and is not asked for again", approved, "2 pending; prod 2 behind", "prod begins",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{"the last stage", last, "1 pending, 1 late", "the run ends", metav1.Time{}, "waybill rollout stop team/web@8f3a1c2d"},
		{
			"it goes back", web(rollouts.Returning, rollouts.Commanded, rollouts.Updating), "early 2 behind; prod 2 behind",
			"every cluster goes back to the version before, and the run ends",
			metav1.Time{},
			"",
		},
		{
			"the end of it", web(rollouts.Finishing, "", rollouts.Done, rollouts.Done, rollouts.Done), "early 2 behind; prod 2 behind",
			"clusters that the unit leaves lose it, and the run ends",
			metav1.Time{},
			"",
		},
		{"before the first run", &rollouts.Rollout{}, "", "", metav1.Time{}, ""},
		{"all is done", &rollouts.Rollout{Status: rollouts.Status{Phase: rollouts.Done, Run: "8f3a1c2d"}}, "", "", metav1.Time{}, ""},
		{
			"of every state", every, "1 healthy, 1 out, 1 pending, 1 late, 1 suspended, 1 skipped, 1 unchanged; prod 2 behind", "when they are healthy more clusters of early are released",
			metav1.Time{},
			"waybill rollout stop team/web@8f3a1c2d",
		},
		{"done but for one", done, "prod 1 behind", "clusters that are behind get it when they can take it", metav1.Time{}, ""},
	} {
		p := progress.Of(tt.run)
		got := []string{p.Clusters(), p.Then, p.Next.UTC().Format(time.RFC3339), strings.Join(p.Commands, "\n")}
		want := []string{tt.clusters, tt.then, tt.next.UTC().Format(time.RFC3339), tt.commands}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// heldBack is a cluster that the guard keeps from going back.
var heldBack = rollouts.Cluster{Stage: "early", State: rollouts.Pending, Reason: rollouts.ClusterHeld}

func TestWhomTheGuardKeepsFromGoingBack(t *testing.T) {
	p := progress.Of(with(web(rollouts.Returning, rollouts.Commanded), "e2", heldBack))
	if want := "the message; the guard holds e2"; p.Message != want {
		t.Errorf("it says %q, want %q", p.Message, want)
	}
}

func TestWhyAClusterShowsNoNewerVersion(t *testing.T) {
	failed := rollouts.Cluster{Stage: "early", State: rollouts.Failed, Released: noon}
	stopped := with(web(rollouts.Stopped, rollouts.TooManyFailed, rollouts.Done, rollouts.Updating), "e2", failed)
	stopped = with(stopped, "e3", rollouts.Cluster{
		Stage: "early", State: rollouts.Failed, Released: noon,
		WasUnhealthy: true,
	}) // which does not count
	for _, tt := range []struct {
		name string
		run  *rollouts.Rollout
		want map[string]string
	}{
		{"updating", web(rollouts.Updating, "", rollouts.Done, rollouts.Updating), map[string]string{
			"e1": "its turn in early has not come", "p1": "prod waits for early, which is updating", "p2": "it does not answer; it gets it when it does",
			"x": "the new version does not want it: it loses what goes out when every stage is over",
		}},
		{"waiting", web(rollouts.Waiting, rollouts.WindowClosed), map[string]string{"c1": "", "e1": "early waits for canary, which is waiting"}},
		{"stopped", stopped, map[string]string{
			"e1": "early stopped: e2 failed", "e2": "",
			"p1": "prod waits for early, which stopped: e2 failed",
		}},
		{"one is kept from going back", with(web(rollouts.Returning, rollouts.Commanded), "e2", heldBack), map[string]string{
			"e1": "every cluster goes back", "e2": "every cluster goes back, and the guard holds it",
		}},
		{
			"kept back", web(rollouts.Stopped, rollouts.KeptBack, rollouts.Updating),
			map[string]string{"p1": "prod waits for canary, which stopped: it went back, and this version is not tried again"},
		},
	} {
		got := map[string]string{}
		for _, c := range progress.Clusters(tt.run) {
			if _, asked := tt.want[c.Name]; asked {
				got[c.Name] = c.Waits
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}

// Clusters come by their stages, and those that the unit leaves last.
func TestClustersComeByTheirStages(t *testing.T) {
	var names []string
	for _, c := range progress.Clusters(web(rollouts.Updating, "")) {
		names = append(names, c.Name)
	}
	if d := cmp.Diff([]string{"c1", "e1", "e2", "p1", "p2", "x"}, names); d != "" {
		t.Error(d)
	}
}

// A unit is told in a line, with the stage that its run is in and why; what of it is behind is counted over all stages.
func TestAUnitInALine(t *testing.T) {
	open := progress.Of(with(web(rollouts.Updating, "", rollouts.Done, rollouts.Updating), "e3",
		rollouts.Cluster{Stage: "early", State: rollouts.Unchanged}))
	if is := open.String(); is != "team/web by careful: Updating in early: the message" || !open.IsOpen() || open.Behind() != 4 || open.Leaving != 1 {
		t.Errorf("it is %q, open: %t, %d are behind, and %d leave", is, open.IsOpen(), open.Behind(), open.Leaving)
	}
	if early := open.Stages[1].Counts; early.Of != 3 || early.Behind != 2 || early.Finished() != 1 || open.Stages[2].Counts.Finished() != 1 {
		t.Errorf("its stages are %+v", open.Stages)
	}
	over := web(rollouts.Done, "")
	over.Status.Message = ""
	over.Clusters = map[string]rollouts.Cluster{
		"p2": {Stage: "prod", State: rollouts.Late},
		"z":  {Stage: rollouts.Unmatched, State: rollouts.Late},
	}
	done := progress.Of(over)
	if is := done.String(); is != "team/web by careful: Done" || done.IsOpen() || done.Behind() != 2 || len(done.Stages) != 2 {
		t.Errorf("it is %q, open: %t, and %d are behind in %+v", is, done.IsOpen(), done.Behind(), done.Stages)
	}
}

// A time is written in the largest unit that divides it.
func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1m": time.Minute, "90m": 90 * time.Minute, "1h": time.Hour, "48h": 48 * time.Hour, "1m30s": 90 * time.Second, "59s": 59 * time.Second,
		"1h0m1s": time.Hour + time.Second,
	} {
		if is := progress.Span(d); is != want {
			t.Errorf("%d is %s, want %s", d, is, want)
		}
	}
}
