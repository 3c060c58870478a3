package reconciler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
)

func TestHeldClustersAreTold(t *testing.T) {
	sync := reconciler.Sync{Result: reconciler.Result{Plan: plan.Plan{Clusters: []plan.Cluster{
		{Name: "eu"}, {Name: "us", Held: &guard.Hold{Reason: "it would lose all"}},
	}}}}
	want := []events.Event{{Cluster: "us", Warning: true, Reason: "Held", Message: "it would lose all; it would lose 0 objects, and nothing is published for it"}}
	if d := cmp.Diff(want, sync.Events()); d != "" {
		t.Error(d)
	}
}

// TestStepsOfARollOutAreTold once: in the turn in which they came about.
func TestStepsOfARollOutAreTold(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	is := func(s rollouts.State, since time.Time) rollouts.Cluster {
		return rollouts.Cluster{State: s, Since: metav1.NewTime(since), Stage: "canary", Shows: "0123456789abcdef0123", Message: "no node has room"}
	}
	o := stage.Output{Unit: rollouts.Unit{Namespace: "shop", Name: "web"}, After: &rollouts.Rollout{Clusters: map[string]rollouts.Cluster{
		"failed": is(rollouts.Failed, now), "healthy": is(rollouts.Healthy, now), "late": is(rollouts.Late, now), "released": is(rollouts.Released, now),
		"before": is(rollouts.Failed, now.Add(-time.Second)), "skipped": is(rollouts.Skipped, now), "pending": is(rollouts.Pending, now),
	}}}
	sync := reconciler.Sync{Result: reconciler.Result{Plan: plan.Plan{Rollouts: []stage.Output{{Unit: rollouts.Unit{Namespace: "shop", Name: "gone"}}, o}}}}
	sync.Result.Plan.Basis.Time = now
	want := []events.Event{
		{Cluster: "failed", Warning: true, Reason: "RolloutFailed", Message: "shop/web: the version of commit 01234567 failed: no node has room"},
		{Cluster: "healthy", Reason: "RolloutHealthy", Message: "shop/web: the version of commit 01234567 is healthy"},
		{Cluster: "late", Warning: true, Reason: "RolloutLate", Message: "shop/web: the cluster does not answer, and nobody waits for it"},
		{Cluster: "released", Reason: "RolloutReleased", Message: "shop/web: it gets the version of commit 01234567, by its turn in stage canary"},
	}
	if d := cmp.Diff(want, sync.Events()); d != "" {
		t.Error(d)
	}
}
