package compare

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

var (
	app  = object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "app"}
	unit = rollouts.Unit{Namespace: "shop", Name: "app"}
)

// holding is a cluster that holds app with some text, and nothing for an empty one.
func holding(name, text string) plan.Cluster {
	held := twin.Tree{"README": twin.File([]byte(name))}
	if text != "" {
		held[tree.Path(app)] = twin.File([]byte(manifest(text)))
	}
	return plan.Cluster{Name: name, Tree: held.Folder()}
}

func manifest(text string) string {
	return "apiVersion: v1\ndata:\n  v: " + text + "\nkind: ConfigMap\nmetadata:\n  name: app\n  namespace: shop\n"
}

// version is one of the unit, which is known by its text.
func version(text string) rollouts.Version {
	return rollouts.Version{Commit: "of-" + text, Digest: text}
}

// goingOut is a plan of a version of the unit, of which clusters are in their stages, or leave.
func goingOut(text, run string, states map[string]rollouts.Cluster, clusters ...plan.Cluster) *plan.Plan {
	stages := []rollouts.Stage{
		{Name: "canary", MaxConcurrency: intstr.FromInt32(1), AfterStageTasks: []rollouts.StageTask{
			{Type: rollouts.WaitTask, WaitTime: metav1.Duration{Duration: time.Hour}}, {Type: rollouts.ApprovalTask},
		}},
		{Name: "prod", MaxConcurrency: intstr.FromString("50%"), BeforeStageTasks: []rollouts.StageTask{{Type: rollouts.ApprovalTask}}},
	}
	after := &rollouts.Rollout{
		Unit: unit, Strategy: rollouts.Strategy{Name: "careful", Stages: stages}, Clusters: states,
		Status: rollouts.Status{Run: run, Stages: []rollouts.StageStatus{{Name: "canary"}, {Name: "prod"}}},
	}
	out := stage.Output{Unit: unit, Source: version(text), Target: version(text), Phase: rollouts.Updating, After: after}
	return &plan.Plan{Clusters: clusters, Rollouts: []stage.Output{out}, Units: map[object.Ref]int{app: 1}}
}

func TestInWhichStepsAUnitChanges(t *testing.T) {
	in := func(stages ...string) map[string]rollouts.Cluster {
		all := map[string]rollouts.Cluster{}
		for n, name := range slices.Backward(stages) {
			all[fmt.Sprint("c", n+1)] = rollouts.Cluster{Stage: name}
		}
		return all
	}
	staged := in("canary", "prod", "prod", "prod", "prod")
	leaving := in("canary", "prod", "prod")
	leaving["c3"] = rollouts.Cluster{Stage: "prod", State: rollouts.Leaving}
	// fleet is clusters that hold the texts, in their order.
	fleet := func(texts ...string) (all []plan.Cluster) {
		for n, text := range texts {
			all = append(all, holding(fmt.Sprint("c", n+1), text))
		}
		return all
	}
	ones, twos := fleet("one", "one", "one", "one", "one"), fleet("two", "two", "two", "two", "two")
	base, head := goingOut("one", "aaaaaaaaaa", staged, ones...), goingOut("two", "bbbbbbbbbb", staged, twos...)
	const canary, prod = "canary 1 (then 1h healthy and an approval)", "prod 4 (after an approval, 2 at a time)"
	const says, supersedes = "shop/app by careful: ", "; supersedes aaaaaaaa"
	edited := func(p *plan.Plan, edit func(o *stage.Output)) *plan.Plan {
		out := *p
		out.Rollouts = slices.Clone(p.Rollouts)
		after := *out.Rollouts[0].After
		out.Rollouts[0].After = &after
		edit(&out.Rollouts[0])
		return &out
	}
	loses := func(p *plan.Plan, names ...string) *plan.Plan {
		out := *p
		out.Clusters = slices.Clone(p.Clusters)
		for i := range out.Clusters {
			if slices.Contains(names, out.Clusters[i].Name) {
				out.Clusters[i].Held = &guard.Hold{Reason: "it would lose all"}
			}
		}
		return &out
	}
	// besides is a plan in which something else is otherwise: another unit, and a file of none.
	besides := goingOut("two", "b", staged, ones...)
	besides.Clusters = slices.Clone(ones)
	for i := range besides.Clusters {
		all := twin.Of(besides.Clusters[i].Tree)
		all[tree.Path(object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "besides"})] = twin.File([]byte("x"))
		besides.Clusters[i].Tree = all.Folder()
	}
	besides.Rollouts = append(besides.Rollouts, stage.Output{Unit: rollouts.Unit{Namespace: "shop", Name: "besides"}})
	besides.Units[object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "besides"}] = 2
	done := edited(base, func(o *stage.Output) { o.Phase = rollouts.Done })
	for _, tt := range []struct {
		name       string
		base, head *plan.Plan
		scope      Scope
		want       string
	}{
		{"two stages", base, head, Scope{}, says + canary + ", " + prod + supersedes},
		{"the run before is over", done, head, Scope{}, says + canary + ", " + prod},
		{"no run before", edited(base, func(o *stage.Output) { o.After = nil }), head, Scope{}, says + canary + ", " + prod},
		{"the unit is new", &plan.Plan{Clusters: fleet("", "", "", "", "")}, head, Scope{}, says + canary + ", " + prod},
		{"the same run goes on", base, goingOut("two", "aaaaaaaaaa", staged, twos...), Scope{}, says + canary + ", " + prod},
		{"the same version", base, goingOut("one", "aaaaaaaaaa", staged, twos...), Scope{}, ""},
		{"nothing is recorded", base, edited(head, func(o *stage.Output) { o.After = nil }), Scope{}, ""},
		{"no cluster gets anything else", done, goingOut("two", "bbbbbbbbbb", staged, ones...), Scope{}, ""},
		{"something else changes", done, besides, Scope{}, ""},
		{"one stage", done, goingOut("two", "b", staged, fleet("one", "two", "one", "two", "one")...), Scope{}, says + "prod 2 (after an approval)"},
		{"one of the clusters", done, head, Scope{Clusters: []string{"c3"}}, says + "prod 1 (after an approval)"},
		{"another cluster", done, head, Scope{Clusters: []string{"c9"}}, ""},
		{"a cluster that comes", done, goingOut("two", "b", in("canary", "prod"), append(slices.Clone(ones[:1]), twos[1])...), Scope{}, says + "prod 1 (after an approval)"},
		{"one loses it", done, goingOut("two", "b", leaving, fleet("two", "two", "")...), Scope{}, says + canary + ", prod 1 (after an approval), at the end 1 cluster without it"},
		{"one loses it, and no other changes", done, goingOut("two", "b", leaving, fleet("one", "one", "")...), Scope{}, says + "at the end 1 cluster without it"},
		{"it waits", base, edited(head, func(o *stage.Output) { o.Target, o.After.Status.Run = version("one"), "aaaaaaaaaa" }), Scope{}, says + "when the run aaaaaaaa is over: " + canary + ", " + prod},
		{"it goes back", base, edited(head, func(o *stage.Output) { o.Phase, o.Base = rollouts.Returning, version("two") }), Scope{}, says + "every cluster that has the new version goes back at once"},
		{"it goes back to another version", base, edited(head, func(o *stage.Output) { o.Phase, o.Base = rollouts.Returning, version("zero") }), Scope{}, ""},
		{"held clusters", done, loses(head, "c4", "c2", "c5", "c3"), Scope{}, says + canary + ", " + prod + "; c2, c3, c4, c5 would be held"},
		{"held before", loses(done, "c4", "c2", "c5", "c3"), loses(head, "c4", "c2", "c5", "c3"), Scope{}, says + canary + ", " + prod},
		{"nothing goes out", base, &plan.Plan{Clusters: twos}, Scope{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := comparer{base: tt.base, head: tt.head, within: tt.scope}
			var said strings.Builder
			for _, r := range stepsOf(&c) {
				said.WriteString(r.String())
			}
			if got := said.String(); got != tt.want {
				t.Errorf("it is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestWhatAStageSaysOfItself: how many of its clusters go at once is of all that are in it, and at least one; it is frozen until its own
// window opens.
func TestWhatAStageSaysOfItself(t *testing.T) {
	opens := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	approval := []string{"an approval"}
	for _, tt := range []struct {
		name         string
		stage        string
		changing, of int
		windows      map[string]stage.Window
		want         preview.Stage
	}{
		{"a part", "prod", 3, 8, nil, preview.Stage{Name: "prod", Clusters: 3, Width: 4, Before: approval}},
		{"a part of one", "prod", 1, 1, nil, preview.Stage{Name: "prod", Clusters: 1, Width: 1, Before: approval}},
		{"a number", "canary", 3, 8, nil, preview.Stage{Name: "canary", Clusters: 3, Width: 1, After: []string{"1h healthy", "an approval"}}},
		{"no stage of the strategy", rollouts.Unmatched, 3, 8, nil, preview.Stage{Name: rollouts.Unmatched, Clusters: 3, Width: 1}},
		{"a window that is closed", "prod", 3, 8, map[string]stage.Window{"prod": {IsClosed: true, Edge: opens}}, preview.Stage{Name: "prod", Clusters: 3, Width: 4, Before: approval, Frozen: opens}},
		{"a window that is open", "prod", 3, 8, map[string]stage.Window{"prod": {Edge: opens}}, preview.Stage{Name: "prod", Clusters: 3, Width: 4, Before: approval}},
		{"a window of another stage", "prod", 3, 8, map[string]stage.Window{"canary": {IsClosed: true, Edge: opens}}, preview.Stage{Name: "prod", Clusters: 3, Width: 4, Before: approval}},
	} {
		out := goingOut("two", "b", nil).Rollouts[0]
		out.Windows = tt.windows
		if got := stageOf(&out, tt.stage, tt.changing, tt.of); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: it is %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
