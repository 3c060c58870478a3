package compare

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/test/twin"
)

// TestWhatStaysAsItWasIsNotShown: what a release rendered earlier was made of secrets that neither plan knows, so that a manifest which
// stays as it was is the same in a plan and in its twin. It is not shown, whichever of the two leaves it as it was.
func TestWhatStaysAsItWasIsNotShown(t *testing.T) {
	made := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "made"}
	set := policies.Set{Clusters: []policies.Cluster{{
		Object: one(t, "eu.yaml", "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\n"),
		Spec:   karmada.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "eu"}},
	}}}
	fleet := index.Of(set, nil, &index.Memo{})
	for _, tt := range []struct {
		name           string
		inPlan, inTwin bool // it stays as it was
		isRendered     bool // by a release
		shown          bool
	}{
		{"it stays in neither", false, false, true, true},
		{"it stays in the plan", true, false, true, false},
		{"it stays in the twin", false, true, true, false},
		{"it stays in both, and is a file of the source", true, true, false, true},
	} {
		says := func(value string, stays bool) *plan.Plan {
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: shop}\ndata: {v: " + value + "}\n"
			p := &plan.Plan{Clusters: []plan.Cluster{{Name: "eu", Tree: twin.Tree{tree.Path(made): twin.File([]byte(text))}.Folder()}}}
			p.Expanded.Policies = fleet
			if stays {
				p.Left = map[object.Ref]rollout.LeftRow{made: rollout.LeftRow{}.With(rollout.Left{Kept: true, Reason: reason.NotScaled}, groups.Of(0))}
			}
			if tt.isRendered {
				p.Expanded.Releases = []state.Release{{Objects: []object.Ref{made}}}
			}
			return p
		}
		twins := Twins{Base: says("hunter2", tt.inTwin), Head: says("plain", false)}
		c, err := Plans(says("hunter2", tt.inPlan), says("plain", false), Scope{}, twins)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(&c)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "hunter2") != tt.shown || !strings.Contains(string(text), "plain") {
			t.Errorf("%s: it says %s", tt.name, text)
		}
	}
}

// TestWhatAHeldClusterWouldLoseOfSecrets: what the twin would lose, too, is named with its cause; a name that only one of them has is not,
// and neither is a cause, or a reason, that the twin has not.
func TestWhatAHeldClusterWouldLoseOfSecrets(t *testing.T) {
	told, named := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "told"}, object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "hunter2"}
	own := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "own"} // of no release
	const why, other = "it would lose 2 of 4 objects", "it would lose 2 of 4 objects of hunter2"
	loses := func(r object.Ref, cause string) guard.Removal { return guard.Removal{Object: r, Cause: cause} }
	holds := func(reason string, removals ...guard.Removal) *guard.Hold {
		return &guard.Hold{Reason: reason, Removals: removals}
	}
	const gone, hidden = "it is no longer in the source", "its name depends on a Secret or on a draw"
	nameless := object.Ref{Kind: "ConfigMap", Name: "(not shown)"}
	of := func(h *guard.Hold, renders ...object.Ref) *plan.Plan {
		p := &plan.Plan{Clusters: []plan.Cluster{{Name: "eu", Held: h}, {Name: "us"}}}
		p.Expanded.Releases = []state.Release{{Objects: renders}}
		return p
	}
	has := func(p *plan.Plan, refs ...object.Ref) *plan.Plan {
		for _, r := range refs {
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + r.Name + ", namespace: shop}\n"
			p.Decisions = append(p.Decisions, plan.Decision{Template: &template.Template{Variant: template.Variant{Object: one(t, "x.yaml", text)}}})
		}
		return p
	}
	for _, tt := range []struct {
		name   string
		hold   *guard.Hold
		twin   *plan.Plan // nil: nothing reads a Secret
		reason string
		want   []guard.Removal
	}{
		{"nothing reads a Secret", holds(other, loses(named, gone)), nil, other, []guard.Removal{loses(named, gone)}},
		{"the twin would lose the same", holds(why, loses(told, gone)), has(of(holds(why, loses(told, gone))), told), why, []guard.Removal{loses(told, gone)}},
		{"of another cause", holds(why, loses(told, "of hunter2")), has(of(holds(why, loses(told, gone))), told), why, []guard.Removal{loses(told, hiddenCause)}},
		{"of another reason", holds(other, loses(told, gone)), has(of(holds(why, loses(told, gone))), told), "it would lose " + hiddenCause, []guard.Removal{loses(told, gone)}},
		{"the twin has no such name", holds(why, loses(named, gone)), has(of(holds(why)), told), why, []guard.Removal{loses(nameless, hidden)}},
		{"a name of no release", holds(why, loses(own, gone)), of(holds(why, loses(own, gone))), why, []guard.Removal{loses(own, gone)}},
		{"the twin holds nothing", holds(why, loses(told, gone)), has(of(nil), told), why, []guard.Removal{loses(told, hiddenCause)}},
		{"the twin holds nothing, because of a name", holds(why, loses(named, gone), loses(told, gone)), has(of(nil), told), "it would lose " + hiddenCause, []guard.Removal{loses(nameless, hidden), loses(told, hiddenCause)}},
		{"the twin has no such cluster", holds(why, loses(told, gone)), has(&plan.Plan{Clusters: []plan.Cluster{{Name: "us", Held: holds(why, loses(told, gone))}}}, told), why, []guard.Removal{loses(told, hiddenCause)}},
	} {
		// What the base or the head renders may have such a name.
		for side, rendered := range map[string][2][]object.Ref{"base": {{told, named}, nil}, "head": {nil, {told, named}}} {
			base, head := of(nil, rendered[0]...), of(tt.hold, rendered[1]...)
			c := comparer{base: base, head: head, before: sideOf(base, nil), after: sideOf(head, tt.twin)}
			if tt.twin != nil {
				c.before.twin = of(nil)
			}
			if got := c.reason(&head.Clusters[0]); got != tt.reason {
				t.Errorf("%s, of the %s: it is held because %q, want %q", tt.name, side, got, tt.reason)
			}
			before := slices.Clone(tt.hold.Removals)
			if got := c.removals("eu", tt.hold.Removals); !slices.Equal(got, tt.want) {
				t.Errorf("%s, of the %s: it would lose %v, want %v", tt.name, side, got, tt.want)
			}
			if !slices.Equal(before, tt.hold.Removals) {
				t.Errorf("%s: what the plan says of it was edited: %v", tt.name, tt.hold.Removals)
			}
			if got := c.reason(&head.Clusters[1]); got != "" {
				t.Errorf("%s: a cluster that is not held is held because %q", tt.name, got)
			}
		}
	}
}

// TestWhichNamesAreShown: one that a twin has, of the base or of the head, by a policy or in the folder of a cluster, and one that no
// release rendered.
func TestWhichNamesAreShown(t *testing.T) {
	text := func(name string) *object.Object {
		return one(t, "x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: shop}\n")
	}
	placed := &plan.Plan{Decisions: []plan.Decision{{Template: &template.Template{Variant: template.Variant{Object: text("made")}}}}}
	inFolder := &plan.Plan{Clusters: []plan.Cluster{{Name: "eu"}}}
	inFolder.Expanded.Bound = map[string][]*object.Object{"eu": {text("made")}}
	rendered, none := &plan.Plan{}, &plan.Plan{}
	made := text("made").Ref()
	rendered.Expanded.Releases = []state.Release{{Objects: []object.Ref{made}}}
	for _, tt := range []struct {
		name       string
		base, head *plan.Plan
		twins      Twins
		is         bool
	}{
		{"there are no twins", rendered, none, Twins{}, true},
		{"no twin has it", rendered, none, Twins{none, none}, false},
		{"no twin has it, and the head renders it", none, rendered, Twins{none, none}, false},
		{"nothing renders it", none, none, Twins{none, none}, true},
		{"the twin of the base has it", rendered, none, Twins{placed, none}, true},
		{"the twin of the head has it", none, rendered, Twins{none, placed}, true},
		{"the twin of the base has it in a folder", rendered, none, Twins{inFolder, none}, true},
		{"the twin of the head has it in a folder", none, rendered, Twins{none, inFolder}, true},
	} {
		c := comparer{base: tt.base, head: tt.head, before: sideOf(tt.base, tt.twins.Base), after: sideOf(tt.head, tt.twins.Head)}
		if got := c.named(made); (got == made) != tt.is {
			t.Errorf("%s: it is called %v", tt.name, got)
		}
	}
}

func sideOf(p, twin *plan.Plan) side { return side{plan: p, twin: twin} }

// TestWhatWasPublishedBeforeAHoldIsNotShown: a cluster that was held goes from what is published, which was made of secrets that the plan
// does not know, and not from the tree that it was to get.
func TestWhatWasPublishedBeforeAHoldIsNotShown(t *testing.T) {
	for _, tt := range []struct {
		name       string
		wanted     string // what it was to get; empty for nothing
		isRendered bool
		shown      bool
	}{
		{"it was to get something else", "other", true, false},
		{"it was to lose it", "", true, false},
		{"it was to get the same", "hunter2", true, true},
		{"it is a file of the source", "other", false, true},
	} {
		base, head := &plan.Plan{Clusters: []plan.Cluster{holding("eu", tt.wanted)}}, &plan.Plan{Clusters: []plan.Cluster{holding("eu", "plain")}}
		base.Clusters[0].Held = &guard.Hold{Reason: "it would lose all"}
		base.Published = map[string]tree.Published{"eu": {Built: holding("eu", "hunter2").Tree}}
		if tt.isRendered {
			base.Expanded.Releases = []state.Release{{Objects: []object.Ref{app}}}
		}
		c, err := Plans(base, head, Scope{}, Twins{})
		if err != nil || len(c.Changes) != 1 || len(c.Changes[0].Changed) != 1 {
			t.Fatalf("%s: there are %+v, %v", tt.name, c.Changes, err)
		}
		if from := c.Changes[0].Changed[0].Fields[0].From; (from == "hunter2") != tt.shown {
			t.Errorf("%s: it goes from %v", tt.name, from)
		}
	}
}
