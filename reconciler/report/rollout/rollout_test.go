package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func in(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(d)) }

// run is one of three stages, of which the second is open.
func run(phase rollouts.Phase, why rollouts.Reason) *rollouts.Rollout {
	wait := rollouts.StageTask{Type: rollouts.WaitTask, WaitTime: metav1.Duration{Duration: time.Hour}}
	return &rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"},
		Strategy: rollouts.Strategy{Name: "careful", Stages: []rollouts.Stage{
			{Name: "canary"}, {Name: "early", AfterStageTasks: []rollouts.StageTask{wait}}, {Name: "rest"},
		}},
		Status: rollouts.Status{
			Run: "r1", Phase: phase, Reason: why, Message: "it is so", StartTime: in(-time.Hour),
			Base: rollouts.Version{Commit: strings.Repeat("a", 40)}, Target: rollouts.Version{Commit: strings.Repeat("b", 40)},
			Stages: []rollouts.StageStatus{{Name: "canary", Phase: rollouts.Done, Deadline: in(time.Minute)}, {Name: "early", Phase: phase}, {Name: "rest", Phase: rollouts.Waiting, Deadline: in(time.Second)}},
		},
	}
}

// TestWhatItPrints is all that is known of a run, in the order in which it happens.
func TestWhatItPrints(t *testing.T) {
	r := run(rollouts.Updating, "")
	r.Status.Stages[0].Skipped = true
	r.Status.Commands = []rollouts.Command{
		{Verb: rollouts.Skip, Stage: "canary", By: "anna", Via: "comment", Ref: "c1"},
		{Verb: rollouts.Skip, Cluster: "eu", Says: "bob", Via: "trailer", Ref: "c2", Refused: true},
	}
	r.Clusters = map[string]rollouts.Cluster{
		"us": {Stage: "early", State: rollouts.Failed, Reason: rollouts.Unhealthy, Message: "web\x1b[31m fails", Shows: strings.Repeat("b", 40), Evidence: "status"},
		"eu": {Stage: "early", State: rollouts.Pending},
		"de": {Stage: "canary", State: rollouts.Skipped},
		"za": {State: rollouts.Leaving},
	}
	const want = `team/web  careful  Updating
  it is so
  run r1, from aaaaaaaaaaaa to bbbbbbbbbbbb, since 2026-11-21T11:00:00Z

canary  Done, skipped
  de  Skipped

early  Updating
  eu  Pending
  us  Failed  shows bbbbbbbbbbbb  Unhealthy web\x1b[31m fails  (status)

rest  Waiting

loses it at the end
  za  Leaving

command: skip canary, by anna (comment, c1): acted

command: skip eu, by who says to be bob (trailer, c2): did nothing: it came for another run, or too early or late

waybill rollout stop team/web@r1
`
	var b strings.Builder
	if err := Write(&b, r, now); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	done := run(rollouts.Done, "")
	done.Status.Message, done.Status.Stages = "", nil
	b.Reset()
	if err := Write(&b, done, now); err != nil || b.String() != "team/web  careful  Done\n  it is at bbbbbbbbbbbb\n" {
		t.Errorf("%v: %q", err, b.String())
	}
}

// TestWhatIsNext is the first thing that happens by itself in the stage that is open, and what somebody may command, the likeliest first.
func TestWhatIsNext(t *testing.T) {
	const soaked, stops = "next: early has soaked, at 2026-11-21T12:30:00Z", "next: early stops if none of its clusters is healthy, at "
	soak := func(r *rollouts.Rollout, since time.Duration) {
		r.Status.Stages[1].After = []rollouts.Task{{Type: rollouts.WaitTask, Since: in(since)}}
	}
	for _, tt := range []struct {
		name     string
		phase    rollouts.Phase
		why      rollouts.Reason
		edit     func(*rollouts.Rollout)
		next     string
		commands string
	}{
		{"waits", rollouts.Waiting, "", nil, "", "stop"},
		{"updates, and has a deadline", rollouts.Updating, "", func(r *rollouts.Rollout) { r.Status.Stages[1].Deadline = in(time.Minute) }, stops + "2026-11-21T12:01:00Z", "stop"},
		{"updates, and had a deadline", rollouts.Updating, "", func(r *rollouts.Rollout) { r.Status.Stages[1].Deadline = in(0) }, "", "stop"},
		{"soaks", rollouts.Soaking, "", func(r *rollouts.Rollout) { soak(r, -30*time.Minute) }, soaked, "stop"},
		{"soaks, and has an earlier deadline", rollouts.Soaking, "", func(r *rollouts.Rollout) { soak(r, -30*time.Minute); r.Status.Stages[1].Deadline = in(time.Minute) }, stops + "2026-11-21T12:01:00Z", "stop"},
		{"soaks, and has a later deadline", rollouts.Soaking, "", func(r *rollouts.Rollout) { soak(r, -30*time.Minute); r.Status.Stages[1].Deadline = in(time.Hour) }, soaked, "stop"},
		{"soaks in the first stage", rollouts.Soaking, "", func(r *rollouts.Rollout) {
			soak(r, -30*time.Minute)
			r.Status.Stages, r.Strategy.Stages = r.Status.Stages[1:], r.Strategy.Stages[1:]
		}, soaked, "stop"},
		{"soaked", rollouts.Soaking, "", func(r *rollouts.Rollout) { soak(r, -2*time.Hour) }, "", "stop"},
		{"does not soak yet", rollouts.Soaking, "", func(r *rollouts.Rollout) { r.Status.Stages[1].After = []rollouts.Task{{Type: rollouts.WaitTask}} }, "", "stop"},
		{"soaks in a stage that the strategy has no more", rollouts.Soaking, "", func(r *rollouts.Rollout) { soak(r, -time.Minute); r.Strategy.Stages = nil }, "", "stop"},
		{"is to be approved", rollouts.Approving, "", nil, "", "approve early, stop"},
		{"its first stage is to be approved", rollouts.Approving, "", func(r *rollouts.Rollout) { r.Status.Stages = r.Status.Stages[1:] }, "", "approve early, stop"},
		{"is to be approved before it begins", rollouts.Waiting, rollouts.ApprovalMissing, nil, "", "approve early, stop"},
		{"stopped", rollouts.Stopped, rollouts.TooManyFailed, func(r *rollouts.Rollout) { r.Status.Stages[1].Deadline = in(time.Minute) }, "", "return, resume"},
		{"is kept back", rollouts.Stopped, rollouts.KeptBack, nil, "", "resume"},
		{"goes back", rollouts.Returning, "", nil, "", ""},
		{"ends", rollouts.Finishing, "", func(r *rollouts.Rollout) { r.Status.Stages = r.Status.Stages[:1] }, "", ""},
		{"waits for an approval of nothing", rollouts.Waiting, rollouts.ApprovalMissing, func(r *rollouts.Rollout) { r.Status.Stages = r.Status.Stages[:1] }, "", "stop"},
	} {
		r := run(tt.phase, tt.why)
		if tt.edit != nil {
			tt.edit(r)
		}
		var b strings.Builder
		if err := Write(&b, r, now); err != nil {
			t.Fatal(err)
		}
		var next string
		var commands []string
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, "next: ") {
				next = line
			}
			if said, ok := strings.CutPrefix(line, "waybill rollout "); ok {
				commands = append(commands, strings.ReplaceAll(said, " team/web@r1", ""))
			}
		}
		if next != tt.next || strings.Join(commands, ", ") != tt.commands {
			t.Errorf("%s: %q, and %q; want %q, and %q", tt.name, next, commands, tt.next, tt.commands)
		}
	}
}
