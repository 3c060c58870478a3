package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/waybill-dev/waybill/policies/evict"
	"github.com/waybill-dev/waybill/policies/fleet"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/claim"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/words"
)

// failover is how work leaves clusters, by the config and what the last plan recorded.
func (in *Input) failover() *claim.Failover {
	c := in.Source.Config.Failover
	f := &claim.Failover{
		Enabled: c.Enabled, Record: claim.Record{
			Pace: in.State.Failover.Pace.Time, Moved: in.State.Failover.Moved.Time, Frozen: in.State.Failover.Frozen, Thaws: in.State.Failover.Thaws.Time,
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
	f.Taints = t.in.Expanded.Law.Marks
	r := t.decided.Record
	f.Pace, f.Moved, f.Frozen, f.Thaws = metav1.NewMicroTime(r.Pace.UTC()), metav1.NewTime(r.Moved.UTC()), r.Frozen, metav1.NewTime(r.Thaws.UTC())
	return f
}

// remedies are the actions that Remedies have in force, by cluster.
func (t *table) remedies() map[string][]string {
	l := t.in.Expanded.Law
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

// FailedOver returns the paths of what left a cluster because that, or what is there, failed.
func (p *Plan) FailedOver(cluster string) map[string]bool {
	var paths map[string]bool
	i, ok := p.table.in.Expanded.Law.Index(cluster)
	for n := range p.Decisions {
		d := &p.Decisions[n]
		if !ok || d.Moves == nil || !p.table.moved(d.Ref(), cluster) {
			continue
		}
		if paths == nil {
			paths = map[string]bool{}
		}
		paths[tree.Path(p.table.virtual(i).Ref(d.Ref()))] = true
	}
	return paths
}

// Moved says which templates begin to leave clusters by the plan, and of which the old copies go
// now, a sentence each.
func (p *Plan) Moved() (said []string) {
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Moves == nil {
			continue
		}
		for _, t := range d.Moves.Begun {
			to := ""
			if names := d.Gaining(); len(names) > 0 {
				to = " for " + words.List(names)
			}
			said = append(said, fmt.Sprintf("%s leaves %s%s: %s", d.Ref(), t.FromCluster, to, t.Message))
		}
		for _, t := range d.Moves.Over {
			said = append(said, fmt.Sprintf("%s has left %s", d.Ref(), t.FromCluster))
		}
	}
	return said
}
