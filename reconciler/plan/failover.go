package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
)

// failover is how work leaves clusters, by the config and what the last plan recorded.
func (in *Input) failover() *schedule.Failover {
	c := in.Source.Config.Failover
	f := &schedule.Failover{
		Enabled: c.Enabled, Record: schedule.Record{
			Pace: in.State.Failover.Pace.Time, Moved: in.State.Failover.Moved.Time, Frozen: in.State.Failover.Frozen, DelayedUntil: in.State.Failover.DelayedUntil.Time,
		}, Evidence: in.Evidence,
		Rules: evict.Rules{
			Timeout: c.GracefulEvictionTimeout.Duration, Rate: c.EvictionRate, KeepLast: c.LastCopy == render.LastCopyKeep,
			Limits: evict.Limits{
				Unhealthy: c.Limits.UnhealthyThreshold, Large: c.Limits.LargeFleet, LargeUnhealthy: c.Limits.LargeFleetUnhealthyThreshold, OneIn: c.Limits.OneIn,
			},
		},
	}
	if in.Replay != nil {
		f.Recorded = func(r object.Ref) *karmada.ResourceBinding { return in.Replay.State.Bindings[r] }
	}
	return f
}

// failover is what the next plan has to know of it.
func (t *table) failover() (f state.Failover) {
	f.Taints = t.in.Expanded.Policies.Marks
	r := t.decided.Record
	f.Pace, f.Moved, f.Frozen, f.DelayedUntil = metav1.NewMicroTime(r.Pace.UTC()), metav1.NewTime(r.Moved.UTC()), r.Frozen, metav1.NewTime(r.DelayedUntil.UTC())
	return f
}

// remedies are the actions that Remedies have in force, by cluster.
func (t *table) remedies() map[string][]string {
	l := t.in.Expanded.Policies
	if len(l.Set.Remedies) == 0 {
		return nil
	}
	remedies := make([]*karmada.Remedy, len(l.Set.Remedies))
	for i, r := range l.Set.Remedies {
		remedies[i] = r.Value
	}
	all := map[string][]string{}
	for _, c := range l.Fleet.Clusters() {
		if actions := fleet.Actions(c.Source, remedies); len(actions) > 0 {
			all[c.Name] = actions
		}
	}
	return all
}
