package report_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/hpa"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/policies/template"
	"github.com/waybill-dev/waybill/reconciler/interpretation"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/autoscale"
	"github.com/waybill-dev/waybill/reconciler/plan/deschedule"
	"github.com/waybill-dev/waybill/reconciler/plan/explain"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/plan/move"
	"github.com/waybill-dev/waybill/reconciler/plan/rollout"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/report/update"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/test/reporting"
)

// noon is the date of everything here.
var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// single is the one object of a file.
func single(t *testing.T, file, text string) *object.Object {
	t.Helper()
	o, ds := object.Single(file, []byte(text))
	if o == nil {
		t.Fatal(ds)
	}
	return o
}

// run is a run in three stages, of which each cluster is at another point.
func run(strategy string) *rollouts.Rollout {
	commit := strings.Repeat("b", 40)
	return &rollouts.Rollout{
		Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, Strategy: rollouts.Strategy{Name: strategy},
		Status: rollouts.Status{
			Run: "r1", Phase: rollouts.Updating, Message: "two of three are healthy",
			Base: rollouts.Version{Commit: strings.Repeat("a", 40)}, Target: rollouts.Version{Commit: commit},
			Stages: []rollouts.StageStatus{{Name: "canary", Phase: rollouts.Done}, {Name: "rest", Phase: rollouts.Updating}},
		},
		Clusters: map[string]rollouts.Cluster{
			"eu": {Stage: "canary", State: rollouts.Healthy, Shows: commit},
			"us": {Stage: "rest", State: rollouts.Pending},
			"za": {State: rollouts.Leaving, Shows: strings.Repeat("a", 40)},
		},
	}
}

// What a plan knows of a template is told: what made it, who scales it, where it leaves and why, and how it goes out.
func TestWhatDecided(t *testing.T) {
	policy := reporting.Set(t).Propagation[0]
	began := metav1.NewTime(noon.Add(-time.Minute))
	fhpa := policies.Located[karmada.FederatedHPA]{
		Object: single(t, "hpa.yaml", "apiVersion: autoscaling.karmada.io/v1alpha1\nkind: FederatedHPA\nmetadata: {name: web, namespace: shop}\n"),
	}
	decision := func() *plan.Decision {
		d := plan.Decision{
			Template: &template.Template{Variant: template.Variant{Object: single(t, "web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n")}},
			Policy:   policy, Outcome: schedule.Placed, Reason: "Success",
		}
		d.Size.Replicas = 5
		return &d
	}
	bare := decision()
	bare.Policy, bare.Outcome = nil, schedule.Unclaimed
	golden(t, "decided-bare", explained(&explain.Explanation{Decision: bare}))
	d := decision()
	d.Template.Part = &template.Part{Release: single(t, "r.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: stack, namespace: shop}\n")}
	d.Scaler = &autoscale.Scaler{Located: fhpa, Bounds: scale.Bounds{Min: 2, Max: 9}}
	d.Shift = &deschedule.Shift{Full: []string{"us"}}
	d.Moves = &failover.Moves{Waits: state.WaitsForFleet, Tasks: []evict.Task{
		{FromCluster: "za", PurgeMode: karmada.PurgeModeGracefully, Message: "it is tainted", CreationTimestamp: &began},
	}}
	e := explain.Explanation{
		Decision: d, Winner: policy, Rollout: run("careful"),
		Moves: []plan.Move{{Object: d.Ref(), From: "au", To: []string{"eu", "us"}, Way: move.ByHealth, Stays: reason.Moving}},
		Clusters: []explain.Written{
			{Cluster: "eu", Replicas: 3},
			{Cluster: "us", Err: errors.New("there is no /spec/image")},
			{Cluster: "za", Left: &rollout.Left{Kept: true, Reason: reason.Held}},
			{Cluster: "au", Left: &rollout.Left{Reason: reason.Held}},
		},
	}
	golden(t, "decided", explained(&e))
	made := decision()
	made.Scaler, made.Reason, made.Message = d.Scaler, "NoClusterFit", "0/2 clusters are available"
	made.Shares = map[string]hpa.Share{"us": {Bounds: scale.Bounds{Min: 1, Max: 3}, Weight: 1, All: 3}, "eu": {Bounds: scale.Bounds{Min: 1, Max: 6}, Weight: 2, All: 3}}
	at := report.Explain(&explain.Explanation{Decision: made, Rollout: run(render.NoStrategy)})
	at.Updates = []update.Update{
		{Name: "shop/web", Image: "registry.example.com/web", Current: "1.0.0", Next: "1.1.0", Newest: "2.0.0", Message: "2.0.0 is young"}, {Name: "stack", Chart: "oci://charts/stack"},
	}
	golden(t, "decided-made", report.Explanation(&at))
	made.Scheduled = []schedule.Target{{Name: "eu"}}
	if is := report.Explain(&explain.Explanation{Decision: made}).Outcome; is != "not placed anew, and stays where it is" {
		t.Errorf("what is placed still is %q", is)
	}
}

func explained(e *explain.Explanation) report.Report {
	is := report.Explain(e)
	return report.Explanation(&is)
}

// What stands in folders of clusters is there by no policy, and some of it is rendered.
func TestFolders(t *testing.T) {
	o := single(t, "clusters/eu/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n")
	golden(t, "folders", report.Folders([]plan.Bound{
		{Cluster: "eu", Object: o}, {Cluster: "us", Object: o, Of: object.Ref{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease", Namespace: "shop", Name: "stack"}},
	}))
}

// An answer about a kind says which rule it is by.
func TestInterpretation(t *testing.T) {
	golden(t, "interpretation", report.Interpretation(&interpretation.Answer{Operation: "InterpretReplica", Rule: "native", Result: map[string]any{"replicas": 3}}))
	if err := report.Interpretation(&interpretation.Answer{Result: func() {}}).Write(io.Discard, report.Text); err == nil {
		t.Error("what cannot be written is")
	}
}
