package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/test/twin"
)

// How a move goes is said by why the old copy stays, and until when: of one that begins for how long, for a plan that is shown is no publication.
func TestHowAMoveGoes(t *testing.T) {
	until := time.Date(2026, 11, 28, 12, 0, 0, 0, time.FixedZone("", 3600))
	for name, tt := range map[string]struct {
		m    plan.Move
		how  string
		gone string // a part of what is said of that it is nowhere
	}{
		"it begins, by health":  {plan.Move{Way: move.ByHealth, Stays: reason.Moving, Within: 10 * time.Minute, Until: until}, "the old copy stays until the new ones are healthy; after 10m0s one of them is enough", "it is always in a cluster"},
		"it began, by health":   {plan.Move{Way: move.ByHealth, Stays: reason.Moving, Began: true, Until: until}, "the old copy stays until the new ones are healthy; after 2026-11-28T11:00:00Z one of them is enough", "it is always in a cluster"},
		"it begins, by time":    {plan.Move{Way: move.ByTime, Stays: reason.GivenTime, Within: time.Minute}, "the old copy stays for 1m0s: nobody says how the new ones are", "it is nowhere only if the new copies are not there"},
		"it began, by time":     {plan.Move{Way: move.ByTime, Stays: reason.GivenTime, Began: true, Until: until}, "the old copy stays until 2026-11-28T11:00:00Z: nobody says", "it is nowhere only if"},
		"the last one":          {plan.Move{Way: move.ByHealth, Stays: reason.LastCopy}, "the old copy stays although its time is over", "it is always in a cluster"},
		"with others":           {plan.Move{Way: move.ByHealth, Stays: reason.Needed}, "the old copy stays until what leaves with it may go", "it is always in a cluster"},
		"at once":               {plan.Move{Way: move.AtOnce, Direct: move.OnceOnly, To: []string{"eu", "us"}}, "at once: " + string(move.OnceOnly), "it may be nowhere until who applies to eu, us has looked"},
		"it is over, by health": {plan.Move{Way: move.ByHealth}, "the old copy goes", "it is always in a cluster"},
	} {
		if how, gone := tt.m.How(), tt.m.Nowhere(); !strings.HasPrefix(how, tt.how) || !strings.HasPrefix(gone, tt.gone) {
			t.Errorf("%s: %s; %s", name, how, gone)
		}
	}
	one := plan.Move{Object: ref("a"), From: "eu", To: []string{"us"}}
	if !one.IsThatOf(plan.Move{Object: ref("a"), From: "eu"}) || one.IsThatOf(plan.Move{Object: ref("a"), From: "us"}) || one.IsThatOf(plan.Move{Object: ref("b"), From: "eu"}) {
		t.Error("a move is that of its object and the cluster that it leaves")
	}
}

// What was allowed is said once of everybody who allowed it.
func TestWhoAllowedWhat(t *testing.T) {
	r := plan.Released{By: map[string][]string{"eu": {"wendy", "ann"}, "us": {"wendy"}, "ap": nil}}
	if by := r.Approvers(); !slices.Equal(by, []string{"ann", "wendy"}) {
		t.Errorf("it was allowed by %q", by)
	}
	if by := (&plan.Released{}).Approvers(); len(by) > 0 {
		t.Errorf("what nobody allowed was allowed by %q", by)
	}
}

// A plan that nobody made says nothing, and one of nothing is vacant unless it is so because of errors.
func TestAPlanOfNothing(t *testing.T) {
	none := &plan.Plan{}
	if _, known := none.Replicas(files.NewBlob(nil)); known || none.Template("eu", ref("a")) != ref("a") || none.LeftAt(ref("a"), "eu") != (rollout.Left{}) || !none.Vacant() {
		t.Error("a plan that nobody made says something")
	}
	if wrong := (&plan.Plan{Diags: []diag.Diagnostic{{Severity: diag.Error}}}); wrong.Vacant() {
		t.Error("a plan of errors is vacant")
	}
	p := planned(t, twin.Texts{"policy.yaml": policy, "a.yaml": configMap("a")}, func(*plan.Input) {})
	if p.Vacant() || p.Template("gone", ref("a")) != ref("a") || p.LeftAt(ref("a"), "eu") != (rollout.Left{}) {
		t.Error("a plan of a ConfigMap is vacant")
	}
}

// Of clusters that would lose all that they hold, the one whose removals are allowed by its name is released, and no other one.
func TestAClusterIsReleasedByItsName(t *testing.T) {
	before := planned(t, twin.Texts{"policy.yaml": policy, "a.yaml": configMap("a"), "b.yaml": configMap("b")}, func(*plan.Input) {})
	less := twin.Texts{"policy.yaml": policy}
	p := planned(t, less, func(in *plan.Input) {
		in.Published, in.Allow.Named = published(&before), guard.OfCluster("eu")
	})
	for _, cluster := range []string{"ap", "eu", "us"} {
		held := slices.ContainsFunc(p.Clusters, func(c plan.Cluster) bool { return c.Name == cluster && c.Held != nil })
		if held != (cluster != "eu") {
			t.Errorf("%s is held: %t", cluster, held)
		}
	}
	if by := p.Released.Clusters; len(by) != 1 || !by["eu"] {
		t.Errorf("released are %v", by)
	}
}
