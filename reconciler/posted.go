package reconciler

import (
	"context"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/status/posts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/sources/files"
)

// posted reads what commit statuses say of the clusters that somebody waits for; nil if nobody can ask, and nothing
// where they do not count.
func posted(ctx context.Context, r *Reconciler, heads map[string]files.ID, obs *Observation) (map[string]*staged.Posted, error) {
	config, in := &obs.Source.Config, &obs.Input
	if r.Statuses == nil {
		return nil, nil
	}
	if c := &config.Rollout; !plan.Stages(&in.State, &obs.Source) ||
		!slices.Contains(c.Evidence, render.EvidenceCommitStatus) || len(c.CommitStatus.Creators) == 0 {
		return map[string]*staged.Posted{}, nil
	}
	reader := posts.Reader{Target: r.Target, Forge: r.Statuses, Now: in.Now, Cache: &r.Seen.posts}
	return reader.Read(ctx, &posts.Asked{
		Clusters: awaited(&in.State), Creators: config.Rollout.CommitStatus.Creators,
		Heads: heads, Addresses: config.Publish.Addresses(), Published: in.Published,
	})
}

// awaited are the clusters of which evidence matters now, each with when it was released first.
func awaited(s *state.State) map[string]time.Time {
	all := map[string]time.Time{}
	for i := range s.Rollouts {
		for _, name := range stage.Awaited(&s.Rollouts[i]) {
			released := s.Rollouts[i].Clusters[name].Released.Time
			if first, known := all[name]; !known || released.Before(first) {
				all[name] = released
			}
		}
	}
	return all
}
