package pages

import (
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// How a run went on is said of the run: a stage of another run is news, in whatever phase the one before was.
func TestHowARunWentOn(t *testing.T) {
	run := func(id string, phase rollouts.Phase) *rollouts.Rollout {
		return &rollouts.Rollout{Unit: rollouts.Unit{Namespace: "team", Name: "web"}, Status: rollouts.Status{
			Run: id, Phase: phase, Base: rollouts.Version{Commit: "a1"}, Target: rollouts.Version{Commit: "b2"},
			Stages: []rollouts.StageStatus{{Name: "canary", Phase: phase}, {Name: "prod", Phase: rollouts.Waiting}},
		}}
	}
	const begins = "run second of team/web takes it from a1 to b2"
	for _, tt := range []struct {
		name    string
		was, is *rollouts.Rollout
		want    []string
	}{
		{"nothing went on", run("first", rollouts.Updating), run("first", rollouts.Updating), nil},
		{"the next phase", run("first", rollouts.Updating), run("first", rollouts.Soaking), []string{"stage canary: Soaking"}},
		{"the first run", nil, run("second", rollouts.Updating), []string{begins, "stage canary: Updating"}},
		{"another run, in the phase of the one before", run("first", rollouts.Updating), run("second", rollouts.Updating), []string{begins, "stage canary: Updating"}},
		{"another run that waits", run("first", rollouts.Updating), run("second", rollouts.Waiting), []string{begins}},
		{"it is no longer known", run("first", rollouts.Updating), nil, nil},
	} {
		var got []string
		for _, d := range wentOn(tt.was, tt.is) {
			got = append(got, d.text)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
