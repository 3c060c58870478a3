package preview_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/preview"
)

func TestInWhichStepsAChangeGoesOut(t *testing.T) {
	monday := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	stages := []preview.Stage{
		{Name: "canary", Clusters: 2, Width: 2, After: []string{"30m healthy", "an approval"}},
		{Name: "early", Clusters: 4, Width: 2, Before: []string{"an approval"}},
		{Name: "prod", Clusters: 6, Width: 1, Frozen: monday},
	}
	for _, tt := range []struct {
		want string
		r    preview.Rollout
	}{
		{
			"team/web by careful: canary 2 (then 30m healthy and an approval), early 4 (after an approval, 2 at a time), prod 6 (1 at a time); supersedes 8f3a1c2d; prod is frozen until Mon 2 Mar 06:00 UTC; p3 would be held",
			preview.Rollout{Stages: stages, Supersedes: "8f3a1c2d", Held: []string{"p3"}},
		},
		{"team/web by careful: when the run 8f3a1c2d is over: canary 2 (then 30m healthy and an approval)", preview.Rollout{Stages: stages[:1], WaitsFor: "8f3a1c2d"}},
		{"team/web by careful: canary 2 (then 30m healthy and an approval), at the end 1 cluster without it", preview.Rollout{Stages: stages[:1], Leaving: 1}},
		{"team/web by careful: every cluster that has the new version goes back at once", preview.Rollout{Returns: true}},
	} {
		tt.r.Unit, tt.r.Strategy = "team/web", "careful"
		if d := cmp.Diff(tt.want, tt.r.String()); d != "" {
			t.Error(d)
		}
	}
}

func TestTheSchemaHasRollouts(t *testing.T) {
	s := schema(t)
	c := preview.Comparison{APIVersion: preview.APIVersion, Kind: preview.Kind, Changes: []preview.Change{}, Clusters: []preview.Cluster{}}
	c.Rollouts = []preview.Rollout{{
		Unit: "team/web", Strategy: "careful", Supersedes: "8f3a1c2d", WaitsFor: "8f3a1c2d", Returns: true, Leaving: 1, Held: []string{"p3"},
		Stages: []preview.Stage{{Name: "canary", Clusters: 2, Width: 1, Before: []string{"an approval"}, After: []string{"an approval"}, Frozen: time.Unix(1, 0)}, {Name: "prod", Clusters: 1, Width: 1}},
	}}
	if err := validate(t, s, c); err != nil {
		t.Error(err)
	}
	c.Rollouts[0].Stages[0].Width = 0
	if err := validate(t, s, c); err == nil {
		t.Error("a stage that takes no cluster at a time is taken for one")
	}
}
