package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/policies/imagepolicy"
	"github.com/waybill-dev/waybill/policies/images"
	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/reconciler/updates"
	"github.com/waybill-dev/waybill/reconciler/updates/propose"
	"github.com/waybill-dev/waybill/reconciler/verify"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/marker"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/test/reporting"
)

func TestPlacements(t *testing.T) {
	p := reporting.Plan(t, reporting.Set(t))
	golden(t, "placements", report.Placements(p))
	p.Decisions[0].Targets, p.Decisions = []schedule.Target{{Name: "eu", Replicas: 1}, {Name: "us"}}, p.Decisions[:1]
	golden(t, "placements-of-no-replicas", report.Placements(p))
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
	v.Folders = []string{"eu", "us"}
	golden(t, "verification-of-folders", report.Verification(&v, "v1"))
	chain := verify.Chain{From: strings.Repeat("a", 40), To: strings.Repeat("b", 40), State: 3, Clusters: 7, Same: true}
	golden(t, "chain-same", report.Chain(&chain))
	chain.Same, chain.Differing, chain.Unknown = false, []verify.Verification{v}, []string{"0123 was written by another version", "4567 is gone"}
	golden(t, "chain", report.Chain(&chain))
}

// What goes out in stages is a step, and what comes next is said, whether anything was published or not.
func TestPublicationIsAStep(t *testing.T) {
	p := reporting.Plan(t, reporting.Set(t))
	p.Config.Publish.Layout, p.Config.Publish.Branch = render.LayoutFolders, "waybill/clusters"
	done := run("careful")
	done.Status.Phase = rollouts.Done
	silent := run(render.NoStrategy)
	silent.Unit.Name, silent.Status.Message, silent.Status.Stages = "api", "", nil
	p.Rollouts = []stage.Output{{}, {After: done}, {After: run("careful")}, {After: silent}}
	p.Basis.RecheckAt = noon.Add(time.Hour)
	old, now := files.Sum("commit", []byte("old")), files.Sum("commit", []byte("new"))
	message := "publish\n\nCluster: eu\nCluster: us\n"
	updates := []git.Update{{Branch: "waybill/clusters", Old: old, Message: message}, {Branch: "waybill/state", Old: old, Message: message}}
	golden(t, "step", report.Publication(&reconciler.Result{Plan: *p, Updates: updates, Heads: []files.ID{now}}))
	p.Basis.RecheckAt = time.Time{}
	p.Clusters = p.Clusters[:1]
	golden(t, "step-of-nothing", report.Publication(&reconciler.Result{Plan: *p}))
}

// What clusters get less than they should is said once for each reason, with the first few reasons.
func TestFindingsOfWhatIsMissed(t *testing.T) {
	set := reporting.Set(t)
	p := reporting.Plan(t, set)
	p.Expanded.Policies = index.Of(*set, nil, &index.Memo{})
	for _, file := range []string{"a.yaml", "b.yaml", "c.yaml", "d.yaml"} {
		p.Source.Broken = append(p.Source.Broken, render.Broken{Path: file, Cluster: "eu"})
	}
	p.Clusters[1].Objects = 0
	p.Stats.NotManifests = 2
	golden(t, "findings-missed", report.Findings(p, "", "v1", report.Look{}))
	p.Source.Broken = append(p.Source.Broken[:3], render.Broken{Path: "a.yaml", Cluster: "us"}, render.Broken{Path: "b.yaml", Cluster: "us"}, render.Broken{Path: "c.yaml", Cluster: "us"})
	p.Clusters[1].Objects = p.Clusters[0].Objects
	p.Decisions = append(p.Decisions, p.Decisions[1], plan.Decision{Template: &template.Template{Variant: template.Variant{Object: single(t, "ns.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")}}})
	golden(t, "findings-alike", report.Findings(p, "", "v1", report.Look{}))
	p.Decisions, p.Clusters, p.Expanded.Policies = nil, nil, nil
	golden(t, "findings-no-cluster", report.Findings(p, "", "v1", report.Look{}))
}

// A version that may be taken is listed with its age and the one before, and what was done about it with the pull request.
func TestUpdates(t *testing.T) {
	of := func(name, tag string) updates.Verdict {
		return updates.Verdict{Subscription: &updates.Subscription{
			Policy: &images.Policy{Name: images.Name{Namespace: "shop", Name: name}}, Repository: "ghcr.io/acme/" + name, Current: marker.Image{Tag: tag},
		}}
	}
	web, api := of("web", "1.0"), of("api", "3.1")
	web.Next, web.Last = marker.Image{Tag: "2.0"}, &updates.Proposal{To: marker.Image{Tag: "1.0"}, From: marker.Image{Tag: "0.9"}, Merged: strings.Repeat("a", 40)}
	web.Choice = imagepolicy.Choice{Newer: []imagepolicy.Newer{{Tag: "2.0", Since: noon.Add(-2 * time.Hour)}}}
	api.Message = "it is suspended"
	golden(t, "updates", report.Updates([]updates.Verdict{web, api}, noon))
	golden(t, "proposals", report.Proposals([]propose.Outcome{
		{Branch: "waybill/update/web", Did: propose.Opened, URL: "https://forge.example/7"}, {Branch: "waybill/update/api", Did: propose.Theirs, Why: "somebody changed it"},
	}))
}
