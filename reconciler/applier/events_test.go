package applier_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/render/object"
)

func TestWhatIsToldOfARound(t *testing.T) {
	web := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	api := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "api"}
	outcome := func(err error) apply.Outcome { return apply.Outcome{Action: apply.Action{Ref: web}, Err: err} }
	for _, c := range []struct {
		name string
		res  applier.Result
		want string // reason and message; a star before a warning
	}{
		{"nothing to do", applier.Result{}, ""},
		{"done", applier.Result{Report: apply.Report{Outcomes: []apply.Outcome{outcome(nil)}}}, "Applied 1 object changed, to commit 000000000000"},
		{"one of two", applier.Result{Report: apply.Report{Outcomes: []apply.Outcome{outcome(nil), outcome(errors.New("no room"))}}}, "*ObjectsRefused 1 object of commit 000000000000 refused: ConfigMap/shop/web: no room"},
		{"one refused, and one failed", applier.Result{Report: apply.Report{
			Plan:     apply.Plan{Refused: []apply.Action{{Ref: api, Why: "it is there already"}}},
			Outcomes: []apply.Outcome{outcome(errors.New("no room"))},
		}}, "*ObjectsRefused 2 objects of commit 000000000000 refused: ConfigMap/shop/api: it is there already; ConfigMap/shop/web: no room"},
		{"held", applier.Result{Report: apply.Report{
			Plan: apply.Plan{Hold: &apply.Hold{Reason: "all leave"}},
		}}, "*ApplyHeld all leave; nothing was done for commit 000000000000"},
		{"stopped", applier.Result{Report: apply.Report{Stopped: "a hook failed"}}, "*ApplyStopped a hook failed; commit 000000000000"},
		{"failed", applier.Result{Err: errors.New("no way there")}, "*ApplyFailed no way there"},
		{"no credential", applier.Result{Err: clusters.ErrNoCredential}, "*NoCredential there is no credential for it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.res.Cluster = "eu-1"
			var got strings.Builder
			for _, e := range c.res.Events() {
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
	res := applier.Result{Err: errors.New(strings.Repeat("ä", 2000))}
	if m := res.Events()[0].Message; len(m) > 1024 || !strings.HasSuffix(m, "ä...") {
		t.Errorf("it has %d bytes: %q", len(m), m[len(m)-10:])
	}
}
