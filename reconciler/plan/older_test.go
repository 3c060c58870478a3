package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

// TestWhichOlderCommitsAreEvaluated: where there are more than a plan evaluates, those of runs come first, then those that most clusters
// show, and equal inputs give the same ones.
func TestWhichOlderCommitsAreEvaluated(t *testing.T) {
	shows := map[string]rollouts.Cluster{}
	for i := range 20 {
		shows[fmt.Sprintf("c%02d", i)] = rollouts.Cluster{Shows: fmt.Sprintf("old%02d", i)}
	}
	shows["c20"], shows["c21"] = rollouts.Cluster{Shows: "old17"}, rollouts.Cluster{Shows: "now"}
	in := &plan.Input{State: state.State{Rollouts: []rollouts.Rollout{
		{Status: rollouts.Status{Phase: rollouts.Updating, Base: rollouts.Version{Commit: "base"}, Target: rollouts.Version{Commit: "now"}}, Clusters: shows},
		{Status: rollouts.Status{Phase: rollouts.Done, Target: rollouts.Version{Commit: "over"}}},
	}}}
	in.Source.Revision.Commit = "now"
	want := []string{"base", "old17", "old00", "old01", "old02", "old03", "old04", "old05"}
	for range 20 {
		if got := plan.OlderCommits(in); !slices.Equal(got, want) {
			t.Fatalf("they are %v, want %v", got, want)
		}
	}
}
