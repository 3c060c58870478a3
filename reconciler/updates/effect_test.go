package updates_test

import (
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/render/diag"
)

// TestEffects: what is carried out unasked brings no error, holds nothing and ends no run; one that waits for a run is for those who
// may wait.
func TestEffects(t *testing.T) {
	changed := preview.Cluster{Name: "eu"}
	for _, tt := range []struct {
		name            string
		c               preview.Comparison
		merges, commits string // why it is not, empty: it is; and - for commits that are made all the same
	}{
		{name: "nothing hinders it", c: preview.Comparison{Clusters: []preview.Cluster{changed}, Rollouts: []preview.Rollout{{Unit: "shop/web"}}}},
		{
			name:   "it brings an error",
			c:      preview.Comparison{Diags: []diag.Diagnostic{{Code: diag.BadConfig, Severity: diag.Error}}},
			merges: "it would not go through: the source has 1 error; no cluster changes as far as is known",
		},
		{name: "the error is there already", c: preview.Comparison{Already: []diag.Diagnostic{{Code: diag.BadConfig, Severity: diag.Error}}}},
		{
			name:   "a cluster would be held",
			c:      preview.Comparison{Clusters: []preview.Cluster{{Name: "eu", Held: "it would lose much"}}},
			merges: "it would not go through: 0 objects in 1 cluster; 1 cluster would be held",
		},
		{
			name:   "a cluster is held already",
			c:      preview.Comparison{Clusters: []preview.Cluster{{Name: "eu", Held: "it would lose much", Already: true}}},
			merges: "it would not go through: held is what publishing would change in eu",
		},
		{
			name:   "a cluster would be held when its turn comes",
			c:      preview.Comparison{Rollouts: []preview.Rollout{{Unit: "shop/web", Held: []string{"us"}}}},
			merges: "it would not go through: us would be held when its turn comes",
		},
		{
			name:   "it brings an error, and clusters are held and would be",
			c:      preview.Comparison{Diags: []diag.Diagnostic{{Code: diag.BadConfig, Severity: diag.Error}}, Clusters: []preview.Cluster{{Name: "eu", Held: "x", Already: true}}, Rollouts: []preview.Rollout{{Unit: "shop/web", Held: []string{"us"}}}},
			merges: "it would not go through: the source has 1 error; 0 objects in 1 cluster as far as is known",
		},
		{
			name:   "a cluster is held, and another one would be",
			c:      preview.Comparison{Clusters: []preview.Cluster{{Name: "eu", Held: "x", Already: true}}, Rollouts: []preview.Rollout{{Unit: "shop/web", Held: []string{"us"}}}},
			merges: "it would not go through: held is what publishing would change in eu",
		},
		{
			name:   "it waits for a run, and ends another one",
			c:      preview.Comparison{Rollouts: []preview.Rollout{{Unit: "shop/web", WaitsFor: "8f3a"}, {Unit: "shop/api", Supersedes: "9f3a"}}},
			merges: "a roll-out is open: shop/api, shop/web", commits: "a roll-out is open: shop/api",
		},
		{name: "it ends a run", c: preview.Comparison{Rollouts: []preview.Rollout{{Unit: "shop/web", Supersedes: "8f3a"}}}, merges: "a roll-out is open: shop/web"},
		{name: "it takes a run back", c: preview.Comparison{Rollouts: []preview.Rollout{{Unit: "shop/web", Returns: true}}}, merges: "a roll-out is open: shop/web"},
		{
			name:   "it waits for a run",
			c:      preview.Comparison{Rollouts: []preview.Rollout{{Unit: "shop/web", WaitsFor: "8f3a"}}},
			merges: "a roll-out is open: shop/web", commits: "-",
		},
	} {
		e := updates.EffectOf(&tt.c)
		want := tt.merges
		if got := e.HindersMerge(); got != want {
			t.Errorf("%s: it is not merged because %q, want %q", tt.name, got, want)
		}
		if tt.commits != "" {
			want = strings.TrimPrefix(tt.commits, "-")
		}
		if got := e.HindersCommit(); got != want {
			t.Errorf("%s: it is not committed because %q, want %q", tt.name, got, want)
		}
	}
}
