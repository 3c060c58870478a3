package reconciler_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/render/object"
)

func TestWhatIsToldOfARound(t *testing.T) {
	web := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	outcome := func(err error) apply.Outcome { return apply.Outcome{Action: apply.Action{Ref: web}, Err: err} }
	for _, c := range []struct {
		name string
		app  reconciler.Application
		want string // reason and message; a star before a warning
	}{
		{"nothing to do", reconciler.Application{}, ""},
		{"done", reconciler.Application{Report: apply.Report{Outcomes: []apply.Outcome{outcome(nil)}}}, "Applied 1 object changed, to commit 000000000000"},
		{"one of two", reconciler.Application{Report: apply.Report{Outcomes: []apply.Outcome{outcome(nil), outcome(errors.New("no room"))}}}, "*ObjectsRefused 1 object of commit 000000000000 refused: ConfigMap/shop/web: no room"},
		{"stopped", reconciler.Application{Report: apply.Report{Stopped: "a hook failed"}}, "*ApplyStopped a hook failed; commit 000000000000"},
		{"failed", reconciler.Application{Err: errors.New("no way there")}, "*ApplyFailed no way there"},
		{"no credential", reconciler.Application{Err: clusters.ErrNoCredential}, "*NoCredential there is no credential for it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.app.Cluster = "eu-1"
			var got strings.Builder
			for _, e := range c.app.Events() {
				if e.Warning {
					got.WriteString("*")
				}
				got.WriteString(e.Reason + " " + e.Message)
				if e.Cluster != "eu-1" {
					t.Errorf("it is told of %s", e.Cluster)
				}
			}
			if d := cmp.Diff(c.want, got.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWhatIsToldIsNotTooLong(t *testing.T) {
	app := reconciler.Application{Err: errors.New(strings.Repeat("ä", 2000))}
	if m := app.Events()[0].Message; len(m) > 1024 || !strings.HasSuffix(m, "ä...") {
		t.Errorf("it has %d bytes: %q", len(m), m[len(m)-10:])
	}
}

func TestHeldClustersAreTold(t *testing.T) {
	sync := reconciler.Sync{Result: reconciler.Result{Plan: plan.Plan{Clusters: []plan.Cluster{
		{Name: "eu"}, {Name: "us", Held: &guard.Hold{Reason: "it would lose all"}},
	}}}}
	want := []reconciler.Event{{Cluster: "us", Warning: true, Reason: "Held", Message: "it would lose all; it would lose 0 objects, and nothing is published for it"}}
	if d := cmp.Diff(want, sync.Events()); d != "" {
		t.Error(d)
	}
}
