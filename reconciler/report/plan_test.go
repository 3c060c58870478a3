package report_test

import (
	"testing"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/reporting"
)

func TestPlacements(t *testing.T) {
	golden(t, "placements", report.Placements(reporting.Plan(t, reporting.Set(t))))
}

func TestFindings(t *testing.T) {
	p := reporting.Plan(t, reporting.Set(t))
	golden(t, "findings-none", report.Findings(p, "", "v1", report.Look{}))
	p.Diags = []diag.Diagnostic{{Code: "malformed", Severity: diag.Error, Pos: diag.Pos{File: "a.yaml", Line: 2}, Message: "no colon", Hint: "add one"}}
	golden(t, "findings", report.Findings(p, "apps", "v1", report.Look{}))
}

func TestPublication(t *testing.T) {
	p := reporting.Plan(t, reporting.Set(t))
	p.Clusters[1].Held, p.Removals = &guard.Hold{Reason: "all would go"}, "abc"
	held := []diag.Diagnostic{{Code: "held", Severity: diag.Error, Message: "cluster us is held"}}
	golden(t, "publication-none", report.Publication(&reconciler.Result{Plan: *p, Diags: held}))
	old, now := files.Sum("commit", []byte("old")), files.Sum("commit", []byte("new"))
	updates := []git.Update{{Branch: "waybill/cluster/eu"}, {Branch: "waybill/state", Old: old}}
	golden(t, "publication-dry", report.Publication(&reconciler.Result{Plan: *p, Updates: updates}))
	golden(t, "publication", report.Publication(&reconciler.Result{Plan: *p, Updates: updates, Heads: []files.ID{now, now}}))
}

func TestVerification(t *testing.T) {
	v := verify.Verification{Branch: "waybill/cluster/eu", Commit: "0123456789abcdef", Source: "fedcba9876543210", Version: "v1", Same: true}
	golden(t, "verification-same", report.Verification(&v, "v2"))
	v.Same, v.Differences = false, []string{"manifests/shop/a.yaml", "the fleet: the commit saw 1, the source has 2"}
	golden(t, "verification", report.Verification(&v, "v1"))
	golden(t, "verification-of-another-version", report.Verification(&v, "v2"))
}
