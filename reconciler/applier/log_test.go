package applier

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/credential"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/object"
)

// TestWhatALogSaysOfARound: what was done, or why it was not, and of many objects that were not applied the first.
func TestWhatALogSaysOfARound(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ref := func(n int) object.Ref {
		return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprint("c", n)}
	}
	outcomes := func(errs ...error) (all []apply.Outcome) {
		for n, err := range errs {
			all = append(all, apply.Outcome{Action: apply.Action{Ref: ref(n)}, Err: err})
		}
		return all
	}
	no := errors.New("no room")
	refused := func(names string) []string {
		var lines []string
		for name := range strings.FieldsSeq(names) {
			lines = append(lines, `WARN "object not applied" cluster=eu commit=000000000000 object=ConfigMap/shop/`+name+` reason="no room"`)
		}
		return lines
	}
	for _, tt := range []struct {
		name string
		res  Result
		want []string
	}{
		{"nothing was done", Result{}, nil},
		{"no credential", Result{Err: clusters.ErrNoCredential}, []string{
			`WARN "cluster has no credential" cluster=eu err="there is no credential for it"`,
		}},
		{"suspended", Result{Suspension: suspend.Suspension{Why: "by hand", Until: at}}, []string{
			`INFO "apply suspended" cluster=eu reason="by hand" until=2026-11-22T12:00:00.000Z`,
		}},
		{"nothing published", Result{Err: published.ErrUnpublished}, []string{
			`INFO "nothing to apply" cluster=eu reason="` + published.ErrUnpublished.Error() + `"`,
		}},
		{"it failed", Result{Err: no}, []string{`ERROR "apply failed" cluster=eu err="no room"`}},
		{"it is held", Result{
			Report: apply.Report{Plan: apply.Plan{Hold: &apply.Hold{Reason: "all leave", Removals: []object.Ref{ref(1), ref(2)}}}},
		}, []string{
			`WARN "apply held" cluster=eu commit=000000000000 reason="all leave" removals=2`,
		}},
		{"it stopped", Result{Report: apply.Report{Stopped: "a hook failed", Outcomes: outcomes(nil, nil)}}, []string{
			`WARN "apply stopped" cluster=eu commit=000000000000 reason="a hook failed"`,
			`INFO applied cluster=eu commit=000000000000 objects=2 errors=0`,
		}},
		{"many were not applied", Result{Report: apply.Report{
			Plan: apply.Plan{
				Refused: []apply.Action{{Ref: ref(8), Why: "no room"}, {Ref: ref(9), Why: "no room"}},
			}, Outcomes: outcomes(nil, no, no, no, no),
		}}, append(refused("c8 c9 c1 c2 c3"), `INFO applied cluster=eu commit=000000000000 objects=5 errors=6`)},
		{"its credential is another one, and ends", Result{
			Credential: clusters.Credential{Lifetime: credential.Lifetime{Until: at}}, news: credentialNews{Rotated: true, Ending: true},
		}, []string{
			`INFO "credential rotated" cluster=eu until=2026-11-22T12:00:00.000Z`, `WARN "credential expires" cluster=eu until=2026-11-22T12:00:00.000Z`,
		}},
	} {
		var text bytes.Buffer
		f := &Follower{Log: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))}
		tt.res.Cluster = "eu"
		f.log(&tt.res)
		short := strings.NewReplacer("level=", "", "msg=", "", strings.Repeat("0", 40), strings.Repeat("0", 12))
		var got []string
		for line := range strings.Lines(short.Replace(text.String())) {
			got = append(got, strings.TrimSpace(line))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// TestRoundsAreByCluster: those of which there is something to say.
func TestRoundsAreByCluster(t *testing.T) {
	t.Parallel()
	rounds := Rounds([]Result{
		{Cluster: "asia"}, {Cluster: "eu", Err: errors.New("no route")}, {
			Cluster: "us", observed: observed{reached: true, branch: "waybill/cluster/us", source: "0badcafe"},
		},
	})
	want := map[string]*status.Round{
		"eu": {
			Trouble: status.Verdict{Reason: status.Unreachable, Message: "no route"},
		}, "us": {Branch: "waybill/cluster/us", Source: "0badcafe"},
	}
	if diff := cmp.Diff(want, rounds, cmpopts.IgnoreUnexported(apply.Plan{})); diff != "" {
		t.Error(diff)
	}
}
