package report_test

import (
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/health"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

func TestApplications(t *testing.T) {
	web, gone := deployment("web"), deployment("gone")
	commit := files.Sum("commit", []byte("c"))
	plan := apply.Plan{
		Apply:    []apply.Stage{{Actions: []apply.Action{{Ref: web, Verb: apply.Create}}}},
		Prune:    []apply.Stage{{Actions: []apply.Action{{Ref: gone, Verb: apply.Delete}}}},
		Refused:  []apply.Action{{Ref: deployment("theirs"), Verb: apply.Refuse, Why: "helm owns .spec.replicas"}},
		Same:     3,
		Adoption: apply.Adoption{Objects: []apply.Adopted{{Object: deployment("theirs"), UID: "u1", Managers: []string{"helm"}, Marks: []string{"Argo CD Application shop"}}}, Digest: "0123456789ab"},
	}
	apps := []applier.Result{
		{Cluster: "eu-1", Commit: commit, Objects: 5, Report: apply.Report{Plan: plan, Outcomes: []apply.Outcome{
			{Action: plan.Apply[0].Actions[0], Err: errors.New("the quota is exceeded")},
			{Action: plan.Prune[0].Actions[0], Waits: "it is being deleted"},
		}}, Unready: []clusters.Unready{{Object: web, Status: "InProgress", Message: "0 of 1 is available"}}},
		{Cluster: "us-1", Commit: commit, Objects: 2, Report: apply.Report{Plan: apply.Plan{Hold: &apply.Hold{Reason: "it would lose all it holds, 2 of 2 objects", Removals: []object.Ref{gone, web}}}}},
		{Cluster: "za-1", Err: errors.New("there is no credential for it")},
		{Cluster: "au-1", Suspension: suspend.Suspension{Why: "it is suspended until Monday"}},
		{Cluster: "br-1", Commit: commit, Objects: 1, Suspension: suspend.Suspension{Why: "no window is open"}},
		{
			Cluster: "in-1", Commit: commit, Objects: 3, Err: errors.New("the server hangs"),
			Report:  apply.Report{Stopped: "a hook failed", Outcomes: []apply.Outcome{{Action: plan.Apply[0].Actions[0]}, {Action: apply.Action{Ref: web, Verb: apply.Adopt}}}},
			Unready: []clusters.Unready{{Object: web, Status: health.Suspended, Message: "somebody paused it"}},
		},
	}
	golden(t, "applications", report.Applications(apps, report.Done))
	golden(t, "applications-planned", report.Applications(apps[:1], report.Adopting))
	golden(t, "applications-none", report.Applications(apps[2:4], report.Done))
	if err := report.Applications(apps, report.Done).Write(full{}, report.Text); err == nil {
		t.Error("it is written where there is no space")
	}
}
