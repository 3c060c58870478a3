package compare

import (
	"reflect"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/expand"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
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

// TestInWhichClustersAnythingChanges: one that is held by the change is, and one that was held before and goes on like that is not.
func TestInWhichClustersAnythingChanges(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cluster preview.Cluster
		is      bool
	}{
		{"nothing", preview.Cluster{}, false},
		{"held", preview.Cluster{Held: "it would lose all"}, true},
		{"held already", preview.Cluster{Held: "it would lose all", Already: true}, false},
		{"held already, and something changes", preview.Cluster{Held: "it would lose all", Already: true, Changed: 1}, true},
		{"added", preview.Cluster{Added: 1}, true},
		{"removed", preview.Cluster{Removed: 1}, true},
		{"left", preview.Cluster{Left: 1}, true},
		{"new", preview.Cluster{New: true}, true},
		{"gone", preview.Cluster{Gone: true}, true},
	} {
		c := comparer{base: &plan.Plan{}, head: &plan.Plan{}, groups: []group{{names: []string{"eu"}, cluster: tt.cluster}}}
		if is := len(c.clusters()) == 1; is != tt.is {
			t.Errorf("%s: something changes: %t, want %t", tt.name, is, tt.is)
		}
	}
}

// TestWhatAHeldClusterWouldLose: a cluster that is held already is held by the change, too, if it would lose more because of that: what it
// would not lose before is shown, and the rest is not the change's.
func TestWhatAHeldClusterWouldLose(t *testing.T) {
	removal := func(name string) guard.Removal {
		return guard.Removal{Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}, Cause: "its file is gone"}
	}
	first, more := removal("first"), removal("more")
	held := func(removals ...guard.Removal) []plan.Cluster {
		kept := twin.Tree{tree.Path(more.Object): twin.File(nil)}
		return []plan.Cluster{{Name: "eu", Tree: kept.Folder(), Held: &guard.Hold{Reason: "it would lose too much", Removals: removals}}}
	}
	for _, tt := range []struct {
		name           string
		head           []plan.Cluster
		holds, already []guard.Removal // of the only hold; nil: there is none
	}{
		{"as much as before", held(first), nil, []guard.Removal{}},
		{"more than before", held(first, more), []guard.Removal{more}, nil},
		{"something else than before", held(more), []guard.Removal{more}, nil},
	} {
		c := comparer{base: &plan.Plan{Clusters: held(first)}, head: &plan.Plan{Clusters: tt.head}}
		for _, got := range []struct {
			what  string
			holds []preview.Hold
			want  []guard.Removal
		}{{"by the change", c.guard().Holds, tt.holds}, {"already", c.guard().Already, tt.already}} {
			if len(got.holds) > 1 || (len(got.holds) == 1) != (got.want != nil) || len(got.holds) == 1 && !slices.Equal(got.holds[0].Removals, got.want) {
				t.Errorf("%s: held %s is %+v, want %v", tt.name, got.what, got.holds, got.want)
			}
		}
	}
}

// TestInWhichRegionAClusterIs: in the one that the change puts it in; one that is gone is in the one that it was in.
func TestInWhichRegionAClusterIs(t *testing.T) {
	planned := func(regions map[string]string) *plan.Plan {
		p := &index.Policies{}
		for name, region := range regions {
			c := &karmada.Cluster{Spec: karmada.ClusterSpec{Region: region}}
			c.Name = name
			p.Set.Clusters = append(p.Set.Clusters, policies.Cluster{Spec: *c})
		}
		return &plan.Plan{Expanded: expand.Result{Policies: p}}
	}
	changed := preview.Cluster{Changed: 1}
	c := comparer{
		base: planned(map[string]string{"eu": "west", "us": "west", "gone": "south", "calm": "west"}), head: planned(map[string]string{"eu": "east", "us": "west", "calm": "west", "nowhere": ""}),
		groups: []group{{names: []string{"eu", "gone", "us"}, cluster: changed}, {names: []string{"calm", "nowhere"}}},
	}
	all := c.clusters()
	var regions []string
	for _, cl := range all {
		regions = append(regions, cl.Name+" in "+cl.Region)
	}
	if want := []string{"eu in east", "gone in south", "us in west"}; !slices.Equal(regions, want) {
		t.Errorf("clusters are %q, want %q", regions, want)
	}
	one := preview.Region{Clusters: 1, Of: 1, Changed: 1}
	var want []preview.Region
	for _, name := range []string{"east", "south", "west"} {
		if one.Name = name; name == "west" {
			one.Of = 2
		}
		want = append(want, one)
	}
	if got := c.regions(all); !slices.Equal(got, want) {
		t.Errorf("regions are %+v, want %+v", got, want)
	}
}

// TestWhichHoldsAreTold: clusters that would lose the same for the same reason are one, and what would lose most comes first.
func TestWhichHoldsAreTold(t *testing.T) {
	loses := func(names ...string) (all []guard.Removal) {
		for _, name := range names {
			all = append(all, guard.Removal{Object: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}, Cause: "its file is gone"})
		}
		return all
	}
	const all, most = "it would lose all", "it would lose most"
	c := comparer{base: &plan.Plan{}, head: &plan.Plan{Clusters: []plan.Cluster{
		{Name: "a", Held: &guard.Hold{Reason: all, Removals: loses("x")}},
		{Name: "b", Held: &guard.Hold{Reason: most, Removals: loses("x")}},
		{Name: "c", Held: &guard.Hold{Reason: all, Removals: loses("x", "y")}},
		{Name: "d", Held: &guard.Hold{Reason: all, Removals: loses("x")}},
		{Name: "e"},
	}}}
	want := []preview.Hold{
		{Clusters: []string{"c"}, Reason: all, Removals: loses("x", "y")},
		{Clusters: []string{"a", "d"}, Reason: all, Removals: loses("x")},
		{Clusters: []string{"b"}, Reason: most, Removals: loses("x")},
	}
	if got := c.guard().Holds; !reflect.DeepEqual(got, want) {
		t.Errorf("there are %+v, want %+v", got, want)
	}
	if c.within.Clusters = []string{"b", "e"}; !reflect.DeepEqual(c.guard().Holds, want[2:]) {
		t.Errorf("within a scope there are %+v", c.guard().Holds)
	}
	if c.within.Clusters = []string{"e"}; c.guard() != nil {
		t.Errorf("of what is not held there are %+v", c.guard())
	}
}
