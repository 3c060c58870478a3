package evidence_test

import (
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/evidence"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/status"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// noon is when the cluster was given what is published.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func after(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

var (
	web    = object.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}
	config = object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "web"}
	older  = files.NewBlob([]byte("older"))
	newer  = files.NewBlob([]byte("newer"))
	kept   = files.NewBlob([]byte("kept"))
)

// rolled is a unit of which the Deployment is new and the ConfigMap as it was, applied a minute after the release, and well a
// minute later.
func rolled() *evidence.Unit {
	return &evidence.Unit{
		Report: &status.Report{
			Summary: status.Summary{Name: "m1", Verdict: status.Verdict{Reason: status.Applied}, Since: after(-90)}, At: after(3),
			Objects: map[object.Ref]*status.Object{
				web:    {Applied: status.Application{Phase: status.PhaseApplied, Since: after(1)}, Health: status.Health{State: karmada.ResourceHealthy, Since: after(2)}},
				config: {Applied: status.Application{Phase: status.PhaseApplied, Since: after(-60)}, Health: status.Health{State: karmada.ResourceHealthy, Since: after(-60)}},
			},
		},
		Objects: []evidence.UnitObject{
			{Ref: config, Published: kept, Before: kept, Applied: kept, Round: kept},
			{Ref: web, Published: newer, Before: older, Applied: newer, Round: newer},
		},
		Released: noon,
	}
}

func TestUnit(t *testing.T) {
	t.Parallel()
	const lasting = 24 * time.Hour
	unwell := func(u *evidence.Unit, r object.Ref, reason string, since int) {
		u.Report.Objects[r].Health = status.Health{State: karmada.ResourceUnhealthy, Reason: reason, Message: "it says why", Since: after(since)}
	}
	for _, tt := range []struct {
		name   string
		change func(*evidence.Unit)
		want   evidence.UnitState
		since  time.Time
		ref    object.Ref
		says   string
	}{
		{name: "all is well", change: func(*evidence.Unit) {}, want: "Healthy", since: after(2)},
		{name: "nobody reports", change: func(u *evidence.Unit) { u.Report = nil }, want: "Silent", says: "nobody reports"},
		{name: "a report that does not count", change: func(u *evidence.Unit) { u.Ignored = "its lease is over" }, want: "Silent", since: after(3), says: "its lease is over"},
		{name: "an old report", change: func(u *evidence.Unit) { u.Report.At = after(-25 * 60) }, want: "Silent", since: after(-25 * 60), says: "nobody said anything since 2026-04-30T11:00:00Z"},
		{name: "unreachable", change: func(u *evidence.Unit) {
			u.Report.Verdict = status.Verdict{Reason: status.Unreachable, Message: "no route"}
		}, want: "Silent", since: after(-90), says: "no route"},
		{name: "no credential", change: func(u *evidence.Unit) { u.Report.Verdict.Reason = status.NoCredential }, want: "Silent", since: after(-90)},
		{name: "suspended", change: func(u *evidence.Unit) {
			u.Report.Verdict = status.Verdict{Reason: status.Suspended, Message: "a window"}
		}, want: "Closed", since: after(-90), says: "a window"},
		{name: "something else fails in the cluster", change: func(u *evidence.Unit) { u.Report.Verdict.Reason = status.Failing }, want: "Healthy", since: after(2)},
		{
			name: "the old one is healthy", want: "Progressing", since: after(3), ref: web, says: "it is not applied yet as it is published",
			change: func(u *evidence.Unit) { u.Objects[1].Applied, u.Objects[1].Round = older, older },
		},
		{
			name: "the new one is applied, and was healthy all the time", want: "Healthy", since: after(1),
			change: func(u *evidence.Unit) { u.Report.Objects[web].Health.Since = after(-60) },
		},
		{
			name: "what is said is of an earlier time with the same content", want: "Progressing", since: after(3), ref: web, says: "what is said of it is older than the release",
			change: func(u *evidence.Unit) {
				u.Report.Objects[web].Health.Since, u.Report.Objects[web].Applied.Since = after(-60), after(-61)
			},
		},
		{name: "it is not known when it was released", change: func(u *evidence.Unit) {
			u.Released, u.Report.Objects[web].Health.Since, u.Report.Objects[web].Applied.Since = time.Time{}, after(-60), after(-61)
		}, want: "Healthy", since: after(-60)},
		{name: "in progress", change: func(u *evidence.Unit) { unwell(u, web, health.InProgress, 2) }, want: "Progressing", since: after(2), ref: web, says: "it says why"},
		{name: "it waits for somebody", change: func(u *evidence.Unit) { unwell(u, web, health.Suspended, 2) }, want: "Progressing", since: after(2), ref: web, says: "it says why"},
		{name: "nobody knows", change: func(u *evidence.Unit) { u.Report.Objects[web].Health.State = karmada.ResourceUnknown }, want: "Progressing", since: after(2), ref: web},
		{name: "failed", change: func(u *evidence.Unit) { unwell(u, web, health.Failed, 2) }, want: "Failed", since: after(2), ref: web, says: "it says why"},
		{name: "the old one failed", change: func(u *evidence.Unit) {
			u.Objects[1].Applied, u.Objects[1].Round = older, older
			unwell(u, web, health.Failed, -60)
		}, want: "Progressing", since: after(3), ref: web, says: "it is not applied yet as it is published"},
		{name: "what did not change failed", change: func(u *evidence.Unit) { unwell(u, config, health.Failed, -5) }, want: "Failed", since: after(-5), ref: config, says: "it says why"},
		{name: "two failed, and one is in progress", change: func(u *evidence.Unit) {
			unwell(u, config, health.Failed, 2)
			unwell(u, web, health.Failed, 1)
		}, want: "Failed", since: after(1), ref: web, says: "it says why"},
		{name: "refused by the API server", change: func(u *evidence.Unit) {
			u.Objects[1].Applied = older
			u.Report.Objects[web].Applied = status.Application{Phase: status.PhaseFailed, Message: "no", Since: after(1)}
		}, want: "Failed", since: after(1), ref: web, says: "no"},
		{name: "the old one is refused", change: func(u *evidence.Unit) {
			u.Objects[1].Applied, u.Objects[1].Round = older, older
			u.Report.Objects[web].Applied = status.Application{Phase: status.PhaseFailed, Message: "no", Since: after(-1)}
		}, want: "Progressing", since: after(3), ref: web, says: "it is not applied yet as it is published"},
		{name: "not its turn", change: func(u *evidence.Unit) { u.Report.Objects[web].Applied.Phase = status.PhasePending }, want: "Progressing", since: after(3), ref: web, says: "it is not applied yet as it is published"},
		{name: "not there", change: func(u *evidence.Unit) { delete(u.Report.Objects, web) }, want: "Progressing", since: after(3), ref: web, says: "it is not there yet"},
		{name: "removed and gone", change: func(u *evidence.Unit) {
			delete(u.Report.Objects, web)
			u.Objects[1] = evidence.UnitObject{Ref: web, Before: older}
		}, want: "Healthy", since: after(-60)},
		{name: "removed and leaving", change: func(u *evidence.Unit) {
			u.Report.Objects[web].Applied.Phase = status.PhaseLeaving
			u.Objects[1] = evidence.UnitObject{Ref: web, Before: older}
		}, want: "Progressing", since: after(3), ref: web, says: "it is not gone yet"},
		{name: "removed, and nobody looked since", change: func(u *evidence.Unit) {
			delete(u.Report.Objects, web)
			u.Objects[1] = evidence.UnitObject{Ref: web, Before: older, Round: older}
		}, want: "Progressing", since: after(3), ref: web, says: "it is not gone yet"},
	} {
		u := rolled()
		tt.change(u)
		want := evidence.UnitAnswer{State: tt.want, Since: tt.since, Ref: tt.ref, Message: tt.says}
		if got := u.Read(after(4), lasting); got != want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}
