package notify_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/facts"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// web is a run from a1 to b2.
func web(run string, phase rollouts.Phase, why rollouts.Reason) rollouts.Rollout {
	r := rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Strategy: rollouts.Strategy{Name: "careful"},
		Status: rollouts.Status{
			Run: run, Phase: phase, Reason: why, Message: "e2 failed",
			Base: rollouts.Version{Commit: "a1", Digest: "1"}, Target: rollouts.Version{Commit: "b2", Digest: "2"},
		},
	}
	if phase != rollouts.Done {
		r.Status.Stages = []rollouts.StageStatus{{Name: "canary", Phase: phase}}
	}
	return r
}

// staged are facts with a unit that goes out in stages.
func staged(key string, all ...rollouts.Rollout) *facts.Facts {
	return &facts.Facts{Key: key, Rollouts: func() facts.Rollouts { return facts.Rollouts{Units: all} }}
}

func TestStepsThatSomebodyShouldKnowOf(t *testing.T) {
	next := web("r1", rollouts.Approving, rollouts.ApprovalMissing)
	next.Status.Stages = []rollouts.StageStatus{{Name: "canary", Phase: rollouts.Done}, {Name: "early", Phase: rollouts.Approving}}
	returned := web("r1", rollouts.Done, "")
	returned.Status.Target = returned.Status.Base
	backByAnother := web("r2", rollouts.Done, "")
	backByAnother.Status.Target = backByAnother.Status.Base
	for _, tt := range []struct {
		name        string
		before, now []rollouts.Rollout
		want        string
	}{
		{"adopted", nil, []rollouts.Rollout{web("", rollouts.Done, "")}, ""},
		{"began", []rollouts.Rollout{web("", rollouts.Done, "")}, []rollouts.Rollout{web("r1", rollouts.Updating, "")}, "team/web goes out: by careful, commit b2"},
		{"a first delivery", nil, []rollouts.Rollout{web("r1", rollouts.Updating, "")}, "team/web goes out: by careful, commit b2"},
		{"goes on", []rollouts.Rollout{web("r1", rollouts.Updating, "")}, []rollouts.Rollout{web("r1", rollouts.Soaking, rollouts.TimedWait)}, ""},
		{"another one began", []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.TooManyFailed)}, []rollouts.Rollout{web("r2", rollouts.Updating, "")}, "team/web goes out: by careful, commit b2"},
		{
			"waits for an approval",
			[]rollouts.Rollout{web("r1", rollouts.Soaking, "")},
			[]rollouts.Rollout{web("r1", rollouts.Approving, rollouts.ApprovalMissing)},
			"team/web waits for an approval: canary; to approve it: waybill rollout approve team/web@r1 canary",
		},
		{"waits still", []rollouts.Rollout{web("r1", rollouts.Approving, rollouts.ApprovalMissing)}, []rollouts.Rollout{web("r1", rollouts.Approving, rollouts.ApprovalMissing)}, ""},
		{
			"waits for the next approval",
			[]rollouts.Rollout{web("r1", rollouts.Approving, rollouts.ApprovalMissing)},
			[]rollouts.Rollout{next},
			"team/web waits for an approval: early; to approve it: waybill rollout approve team/web@r1 early",
		},
		{"stopped", []rollouts.Rollout{web("r1", rollouts.Updating, "")}, []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.TooManyFailed)}, "team/web stopped: e2 failed"},
		{"stopped still", []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.TooManyFailed)}, []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.TooManyFailed)}, ""},
		{"goes back", []rollouts.Rollout{web("r1", rollouts.Updating, "")}, []rollouts.Rollout{web("r1", rollouts.Returning, rollouts.TooManyFailed)}, "team/web goes back: e2 failed"},
		{"went back", []rollouts.Rollout{web("r1", rollouts.Returning, "")}, []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.KeptBack)}, ""},
		{"went back unseen", []rollouts.Rollout{web("r1", rollouts.Updating, "")}, []rollouts.Rollout{returned}, "team/web goes back: e2 failed"},
		{"is out", []rollouts.Rollout{web("r1", rollouts.Finishing, "")}, []rollouts.Rollout{web("r1", rollouts.Done, "")}, "team/web is out: commit b2"},
		{"stops again after it was resumed", []rollouts.Rollout{web("r1", rollouts.Updating, "")}, []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.TooManyFailed)}, "team/web stopped: e2 failed"},
		{"another one stopped", []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.TooManyFailed)}, []rollouts.Rollout{web("r2", rollouts.Stopped, rollouts.TooManyFailed)}, "team/web stopped: e2 failed"},
		{"another one went back", []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.KeptBack)}, []rollouts.Rollout{web("r2", rollouts.Stopped, rollouts.KeptBack)}, "team/web goes back: e2 failed"},
		{"stopped, and goes back", []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.TooManyFailed)}, []rollouts.Rollout{web("r1", rollouts.Returning, "")}, "team/web goes back: e2 failed"},
		{"it was told that it goes back", []rollouts.Rollout{web("r1", rollouts.Returning, "")}, []rollouts.Rollout{web("r1", rollouts.Done, "")}, ""},
		{"another one is out", []rollouts.Rollout{web("r1", rollouts.Returning, "")}, []rollouts.Rollout{web("r2", rollouts.Done, "")}, "team/web is out: commit b2"},
		{"the next run is out, unseen", []rollouts.Rollout{web("r1", rollouts.Done, "")}, []rollouts.Rollout{web("r2", rollouts.Done, "")}, "team/web is out: commit b2"},
		{"another one waits", []rollouts.Rollout{web("r1", rollouts.Approving, rollouts.ApprovalMissing)}, []rollouts.Rollout{web("r2", rollouts.Approving, rollouts.ApprovalMissing)}, "team/web waits for an approval: canary; to approve it: waybill rollout approve team/web@r2 canary"},
		{"it is its turn to be approved", []rollouts.Rollout{web("r1", rollouts.Approving, rollouts.TimedWait)}, []rollouts.Rollout{web("r1", rollouts.Approving, rollouts.ApprovalMissing)}, "team/web waits for an approval: canary; to approve it: waybill rollout approve team/web@r1 canary"},
		{"goes out in stages no more", []rollouts.Rollout{web("r1", rollouts.Updating, "")}, []rollouts.Rollout{web("", rollouts.Done, "")}, ""},
		{"another one put back what was before", []rollouts.Rollout{web("r1", rollouts.Updating, "")}, []rollouts.Rollout{backByAnother}, "team/web is out: commit a1"},
		{"went back, and is still there", []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.KeptBack)}, []rollouts.Rollout{web("r1", rollouts.Stopped, rollouts.KeptBack)}, ""},
		{"is out still", []rollouts.Rollout{web("r1", rollouts.Done, "")}, []rollouts.Rollout{web("r1", rollouts.Done, "")}, ""},
	} {
		var got []string
		for _, e := range told(staged("1", tt.before...), staged("2", tt.now...)) {
			got = append(got, e.String())
		}
		if d := cmp.Diff(tt.want, strings.Join(got, "\n")); d != "" {
			t.Errorf("%s: %s", tt.name, d)
		}
	}
}
