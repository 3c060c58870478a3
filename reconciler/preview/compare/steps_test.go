package compare

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// goesOut is a plan of a unit with one object, which has a value in each cluster and is decided in some way; no value is none.
func goesOut(o *stage.Output, values map[string]string) *plan.Plan {
	p := &plan.Plan{Units: map[object.Ref]int{config("web"): 1}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		root := twin.Tree{"manifests/other": twin.File([]byte(values["other"]))}
		if value, has := values[name]; has {
			root[tree.Path(config("web"))] = twin.File([]byte(value))
		}
		p.Clusters = append(p.Clusters, plan.Cluster{Name: name, Tree: root.Folder()})
	}
	o.Unit = rollouts.Unit{Namespace: "shop", Name: "web"}
	p.Rollouts = []stage.Output{*o}
	return p
}

// decidedAs is what is decided of the unit: a, b and c are in the first stage, and d in the second one; e leaves.
func decidedAs(source, target string, phase rollouts.Phase, run string) *stage.Output {
	of := func(digest string) rollouts.Version { return rollouts.Version{Commit: "c" + digest, Digest: digest} }
	hour := metav1.Duration{Duration: time.Hour}
	r := &rollouts.Rollout{
		Strategy: rollouts.Strategy{Name: "careful", Stages: []rollouts.Stage{
			{
				Name: "first", MaxConcurrency: intstr.FromString("70%"), BeforeStageTasks: []rollouts.StageTask{{Type: rollouts.ApprovalTask}},
				AfterStageTasks: []rollouts.StageTask{{Type: rollouts.WaitTask, WaitTime: hour}, {Type: "Other"}},
			},
			{Name: "second", MaxConcurrency: intstr.FromString("10%")},
		}},
		Clusters: map[string]rollouts.Cluster{
			"a": {Stage: "first"}, "b": {Stage: "first"}, "c": {Stage: "first"}, "d": {Stage: "second"}, "e": {Stage: "second",
				State: rollouts.Leaving},
			"gone": {Stage: "first"},
		},
	}
	r.Status = rollouts.Status{Run: run, Stages: []rollouts.StageStatus{{Name: "first"}, {Name: "second"}}}
	return &stage.Output{Source: of(source), Target: of(target), Base: of("base"), Phase: phase, After: r}
}

// TestInWhichStepsAUnitChanges: stages with how many clusters change in each, of how many that goes on at once, and what it takes besides;
// which run it ends, waits for or takes back; and nothing of a unit that stays as it is.
func TestInWhichStepsAUnitChanges(t *testing.T) {
	was := map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1"}
	first := preview.Stage{Name: "first", Width: 2, Before: []string{"an approval"}, After: []string{"1h healthy"}} // 70% of 4 are 2
	second := preview.Stage{Name: "second", Clusters: 1, Width: 1}
	in := func(s preview.Stage, n int) preview.Stage {
		s.Clusters = n
		return s
	}
	all := []preview.Stage{in(first, 3), second}
	now := map[string]string{"a": "2", "b": "2", "c": "2", "d": "2"}
	const run, other = "0123456789abcdef", "fedcba9876543210"
	started := func(phase rollouts.Phase) *stage.Output { return decidedAs("old", "old", phase, run) }
	for _, tt := range []struct {
		name       string
		base, head *stage.Output
		now        map[string]string
		edit       func(base, head *plan.Plan)
		within     Scope
		want       *preview.Rollout
	}{
		{"it changes everywhere", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other), now, nil, Scope{},
			&preview.Rollout{Stages: all, Leaving: 1}},
		{"the unit is new", nil, decidedAs("new", "new", rollouts.Waiting, other), now, nil, Scope{}, &preview.Rollout{Stages: all, Leaving: 1}},
		{"it changes in one cluster", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other),
			map[string]string{"a": "1", "b": "2", "c": "1", "d": "1", "e": "1"}, nil, Scope{}, &preview.Rollout{Stages: []preview.Stage{in(first,
				1)}}},
		{"it leaves one cluster", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other),
			map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"}, nil, Scope{}, &preview.Rollout{Leaving: 1}},
		{"something else changes in all", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other),
			map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "other": "x"}, nil, Scope{}, nil},
		{"the source says the same of it", started(rollouts.Done), decidedAs("old", "old", rollouts.Waiting, other), now, nil, Scope{}, nil},
		{"nothing is recorded of it", started(rollouts.Done), func() *stage.Output {
			o := decidedAs("new", "new", rollouts.Waiting, other)
			o.After = nil
			return o
		}(), now, nil, Scope{}, nil},
		{"an open run ends", started(rollouts.Updating), decidedAs("new", "new", rollouts.Waiting, other), now, nil, Scope{},
			&preview.Rollout{Stages: all, Leaving: 1, Supersedes: "01234567"}},
		{"an open run goes on", started(rollouts.Updating), decidedAs("new", "new", rollouts.Updating, run), now, nil, Scope{},
			&preview.Rollout{Stages: all, Leaving: 1}},
		{"an open run comes first", started(rollouts.Updating), decidedAs("new", "old", rollouts.Updating, run), now, nil, Scope{},
			&preview.Rollout{Stages: all, Leaving: 1, WaitsFor: "01234567"}},
		{"another run comes first", started(rollouts.Updating), decidedAs("new", "old", rollouts.Updating, other), now, nil, Scope{},
			&preview.Rollout{Stages: all, Leaving: 1, WaitsFor: "fedcba98"}},
		{"an open run is taken back", started(rollouts.Updating), decidedAs("base", "base", rollouts.Returning, run), now, nil, Scope{},
			&preview.Rollout{Returns: true}},
		{"a run goes back, and not to that", started(rollouts.Updating), decidedAs("new", "new", rollouts.Returning, run), now, nil, Scope{},
			nil},
		{"of one cluster", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other), now, nil, Scope{Clusters: []string{"d"}},
			&preview.Rollout{Stages: []preview.Stage{second}}},
		{"the guard holds some", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other), now, func(base, head *plan.Plan) {
			for _, n := range []int{2, 1, 3, 4} { // c, b, d and e
				head.Clusters[n].Held = &guard.Hold{Reason: "all leave"}
			}
			base.Clusters[4].Held = &guard.Hold{Reason: "all leave"} // as before
		}, Scope{}, &preview.Rollout{Stages: all, Leaving: 1, Held: []string{"b", "c", "d"}}},
		{"a window is closed", started(rollouts.Done), func() *stage.Output {
			o := decidedAs("new", "new", rollouts.Waiting, other)
			edge := time.Unix(7, 0)
			o.Windows = map[string]stage.Window{"first": {IsClosed: true, Edge: edge}, "second": {Edge: edge}}
			return o
		}(), now, nil, Scope{}, &preview.Rollout{Stages: []preview.Stage{func() preview.Stage {
			s := in(first, 3)
			s.Frozen = time.Unix(7, 0)
			return s
		}(), second}, Leaving: 1}},
		{"one of its objects is new", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other), was, func(base, head *plan.Plan) {
			head.Units[config("more")] = 1
			more := twin.Of(head.Clusters[3].Tree)
			more[tree.Path(config("more"))] = twin.File([]byte("x"))
			head.Clusters[3].Tree = more.Folder()
		}, Scope{}, &preview.Rollout{Stages: []preview.Stage{second}}},
		{"one of its objects is none any more", started(rollouts.Done), decidedAs("new", "new", rollouts.Waiting, other), map[string]string{},
			func(_, head *plan.Plan) {
				delete(head.Units, config("web"))
			}, Scope{}, &preview.Rollout{Stages: all, Leaving: 1}},
	} {
		base, head := &plan.Plan{}, goesOut(tt.head, tt.now)
		if tt.base != nil {
			base = goesOut(tt.base, was)
		} else {
			base.Clusters = goesOut(&stage.Output{}, was).Clusters
		}
		if tt.edit != nil {
			tt.edit(base, head)
		}
		var want []preview.Rollout
		if tt.want != nil {
			tt.want.Unit, tt.want.Strategy = "shop/web", "careful"
			want = append(want, *tt.want)
		}
		got := stepsOf(&comparer{base: base, head: head, within: tt.within})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if all := stepsOf(&comparer{base: goesOut(started(rollouts.Done), was), head: &plan.Plan{}}); len(all) > 0 {
		t.Errorf("where nothing goes out there is %+v", all)
	}
}

// TestAClusterThatGoesChanges with the object that it had, and one that comes with what it gets.
func TestAClusterThatGoesChanges(t *testing.T) {
	p := goesOut(decidedAs("old", "old", rollouts.Done, "1"), map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"})
	w := stepwise{comparer: &comparer{base: p, head: p}}
	refs := w.refsOf(rollouts.Unit{Namespace: "shop", Name: "web"})
	if !refs[config("web")] || len(refs) != 1 || len(w.refsOf(rollouts.Unit{Namespace: "shop", Name: "api"})) > 0 {
		t.Errorf("its objects are %v", refs)
	}
	a, e := &p.Clusters[0], &p.Clusters[4]
	for i, tt := range []struct {
		pair [2]*plan.Cluster
		want bool
	}{
		{[2]*plan.Cluster{a, a}, false}, {[2]*plan.Cluster{a, nil}, true}, {[2]*plan.Cluster{nil, a}, true}, {[2]*plan.Cluster{e, nil}, false},
		{[2]*plan.Cluster{nil, e}, false}, {[2]*plan.Cluster{a, e}, true},
	} {
		if got := w.differs(tt.pair, refs); got != tt.want {
			t.Errorf("pair %d differs: %t", i, got)
		}
	}
	if id := blobOf(p, [2]*plan.Cluster{a, a}, a.Tree, config("web")); id != files.Sum("blob", []byte("1")) {
		t.Errorf("it is %s", id)
	}
	if all := tasks(nil); !slices.Equal(all, nil) {
		t.Errorf("of no tasks it says %q", all)
	}
}
