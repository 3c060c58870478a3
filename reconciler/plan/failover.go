package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/failover"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
)

// failover is how work leaves clusters, by the config and what the last plan recorded.
func (in *Input) failover() *failover.Settings {
	c := in.Source.Config.Failover
	rules := evict.Rules{
		Timeout: c.GracefulEvictionTimeout.Duration, Rate: c.EvictionRate, KeepLast: c.LastCopy == render.LastCopyKeep,
		Limits: evict.Limits{
			Unhealthy: c.Limits.UnhealthyThreshold, Large: c.Limits.LargeFleet, LargeUnhealthy: c.Limits.LargeFleetUnhealthyThreshold, OneIn: c.Limits.OneIn,
		},
	}
	was := in.State.Failover
	return &failover.Settings{
		Enabled: c.Enabled, Rules: rules, Evidence: in.evidence(rules),
		Record: failover.Record{Pace: was.Pace.Time, Moved: was.Moved.Time, Frozen: was.Frozen, DelayedUntil: was.DelayedUntil.Time},
	}
}

// evidence is what is known of health: what clusters say, or what the plan recorded that is made again.
func (in *Input) evidence(rules evict.Rules) failover.Evidence {
	if in.Replay != nil {
		return &failover.Recorded{Bindings: in.Replay.State.Bindings, Now: in.Now}
	}
	return &failover.Live{Seen: in.Evidence, Rules: rules, Now: in.Now}
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
