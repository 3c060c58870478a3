package compare

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/twin"
)

// config is the ref of a ConfigMap.
func config(name string) object.Ref {
	return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name}
}

// decided are decisions about ConfigMaps.
func decided(t *testing.T, names ...string) (all []plan.Decision) {
	t.Helper()
	for _, name := range names {
		o := one(t, name+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: shop}\n")
		all = append(all, plan.Decision{Template: &template.Template{Variant: template.Variant{Object: o}}})
	}
	return all
}

// TestANameThatDependsOnASecretIsNotShown: that of what a release renders, if neither twin has it; of a twin's cluster or of a file of the
// source it is.
func TestANameThatDependsOnASecretIsNotShown(t *testing.T) {
	rendered := &plan.Plan{}
	rendered.Expanded.Releases = []state.Release{{Objects: []object.Ref{config("made-hunter2"), config("made"), config("before")}}}
	before, after := &plan.Plan{Decisions: decided(t, "before")}, &plan.Plan{Decisions: decided(t, "made", "made-other")}
	after.Clusters = []plan.Cluster{{Name: "eu"}}
	after.Expanded.Bound = map[string][]*object.Object{"eu": {one(t, "x.yaml",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: folder, namespace: shop}\n")}}
	rendered.Expanded.Releases[0].Objects = append(rendered.Expanded.Releases[0].Objects, config("folder"))
	hidden := object.Ref{Kind: "ConfigMap", Name: "(not shown)"}
	for _, twins := range []bool{true, false} {
		for name, want := range map[string]object.Ref{
			"made-hunter2": hidden, "made": config("made"), "before": config("before"), "folder": config("folder"), "file": config("file"),
		} {
			for _, ofBase := range []bool{true, false} {
				c := comparer{base: &plan.Plan{}, head: rendered}
				if ofBase {
					c.base, c.head = rendered, &plan.Plan{}
				}
				if twins {
					c.before.twin, c.after.twin = before, after
				} else {
					want = config(name)
				}
				if got := c.named(config(name)); got != want {
					t.Errorf("with twins: %t; %s is called %s, want %s", twins, name, got, want)
				}
			}
		}
	}
}

// TestWhatIsWrongIsSaidWithoutSecrets: what the twin says, too, is said; of anything else only that it is, and where.
func TestWhatIsWrongIsSaidWithoutSecrets(t *testing.T) {
	says := func(message string) diag.Diagnostic {
		return diag.Diagnostic{Code: diag.Helm, Severity: diag.Error, Pos: diag.Pos{File: "web.yaml", Line: 3}, Message: message, Hint: message}
	}
	p, other := &plan.Plan{Diags: []diag.Diagnostic{says("open"), says("hunter2")}}, &plan.Plan{Diags: []diag.Diagnostic{says("open"),
		says("other")}}
	hidden := says("what this says depends on the value of a Secret or on a draw, and is not shown")
	hidden.Hint = "waybill validate says it to who may read both"
	if diff := cmp.Diff([]diag.Diagnostic{says("open"), hidden}, (&side{plan: p, twin: other}).said()); diff != "" {
		t.Error(diff)
	}
	if p.Diags[1].Message != "hunter2" {
		t.Error("the plan says another thing then")
	}
	if all := (&side{plan: p}).said(); !slices.Equal(all, p.Diags) {
		t.Errorf("without a twin it says %v", all)
	}
}

// TestWhatIsHeldIsSaidWithoutSecrets: removals and reasons that the twin has are said; of others it is not said why, nor of what.
func TestWhatIsHeldIsSaidWithoutSecrets(t *testing.T) {
	removal := func(name, cause string) guard.Removal { return guard.Removal{Object: config(name), Cause: cause} }
	held := func(reason string, removals ...guard.Removal) []plan.Cluster {
		return []plan.Cluster{{Name: "eu", Tree: twin.Tree{}.Folder(), Held: &guard.Hold{Reason: reason, Removals: removals}}}
	}
	unnamed := guard.Removal{Object: object.Ref{Kind: "ConfigMap", Name: "(not shown)"}, Cause: "its name depends on a Secret or on a draw"}
	const hiddenReason = "it would lose what depends on the value of a Secret or on a draw, and is not shown"
	for _, tt := range []struct {
		name   string
		head   []plan.Cluster
		twin   []plan.Cluster // nil: it holds nothing; the plan has none
		alone  bool           // there is no twin
		reason string
		want   []guard.Removal
	}{
		{"both hold the same", held("it would lose a", removal("a", "gone")), held("it would lose a", removal("a", "gone")), false,
			"it would lose a", []guard.Removal{removal("a", "gone")}},
		{"for another reason", held("it would lose hunter2", removal("a", "gone")), held("it would lose other", removal("a", "gone")), false,
			hiddenReason, []guard.Removal{removal("a", "gone")}},
		{"of another cause", held("much", removal("a", "hunter2")), held("much", removal("a", "other")), false, "much",
			[]guard.Removal{removal("a", hiddenCause)}},
		{"of another name", held("much", removal("made-hunter2", "gone")), held("much", removal("made-other", "gone")), false, "much",
			[]guard.Removal{unnamed}},
		{"the twin holds nothing", held("much", removal("a", "gone")), nil, false, "much", []guard.Removal{removal("a", hiddenCause)}},
		{"the twin holds nothing, for names differ", held("hunter2", removal("made-hunter2", "gone")), nil, false, hiddenReason,
			[]guard.Removal{unnamed}},
		{"there is no twin", held("hunter2", removal("made-hunter2", "gone")), nil, true, "hunter2", []guard.Removal{removal("made-hunter2",
			"gone")}},
	} {
		head := &plan.Plan{Clusters: tt.head}
		head.Expanded.Releases = []state.Release{{Objects: []object.Ref{config("made-hunter2")}}}
		c := comparer{base: &plan.Plan{}, head: head, before: side{plan: &plan.Plan{}}, after: side{plan: head}}
		if !tt.alone {
			c.before.twin = &plan.Plan{}
			c.after.twin = &plan.Plan{Clusters: tt.twin, Decisions: decided(t, "a", "made-other")}
		}
		g := c.guard()
		if g == nil || len(g.Holds) != 1 {
			t.Errorf("%s: held is %+v", tt.name, g)
			continue
		}
		want := saidOf(tt.reason, tt.want)
		if diff := cmp.Diff(want, saidOf(g.Holds[0].Reason, g.Holds[0].Removals)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if tt.head[0].Held.Removals[0].Object.Name == "(not shown)" {
			t.Errorf("%s: the plan says another thing then", tt.name)
		}
	}
}

// saidOf is a reason with removals, a line each.
func saidOf(reason string, removals []guard.Removal) []string {
	all := []string{reason}
	for _, r := range removals {
		all = append(all, r.Object.String()+": "+r.Cause)
	}
	return all
}
