package compare

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
)

// TestHowWhatIsHeldMayBeAllowed: a trailer is offered where trailers count, and nothing is that would allow more than what is shown.
func TestHowWhatIsHeldMayBeAllowed(t *testing.T) {
	removal := guard.Removal{Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "settings"}, Cause: "its file is gone"}
	held := func(name string) plan.Cluster {
		return plan.Cluster{Name: name, Held: &guard.Hold{Reason: "it would lose all", Removals: []guard.Removal{removal}}}
	}
	const trailer = guard.AllowTrailer + ": a1b2"
	for _, tt := range []struct {
		name             string
		base             []plan.Cluster
		isByComment      bool
		command, trailer string
	}{
		{"by a trailer", nil, false, "waybill publish --allow-prune", trailer},
		{"by comments alone", nil, true, "waybill publish --allow-prune", ""},
		{"another cluster is held by the base already", []plan.Cluster{held("us")}, false, "", ""},
	} {
		c := comparer{base: &plan.Plan{Clusters: tt.base}, head: &plan.Plan{Clusters: []plan.Cluster{held("eu")}, ByComment: tt.isByComment, Removals: "a1b2"}}
		if tt.base != nil {
			c.head.Clusters = append(c.head.Clusters, held("us"))
			c.head.Clusters[1].Held.Removals = nil
		}
		if g := c.guard(); g == nil || g.Command != tt.command || g.Trailer != tt.trailer {
			t.Errorf("%s: it is %+v, want %q and %q", tt.name, g, tt.command, tt.trailer)
		}
	}
}
