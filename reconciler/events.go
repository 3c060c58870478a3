package reconciler

import (
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/progress"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/sources/words"
)

// Events are those of a turn: one for each cluster that the guard holds, and for each that gets something that goes out in
// stages, or in which that fails.
func (s *Sync) Events() []events.Event {
	var all []events.Event
	for _, c := range s.Result.Plan.Clusters {
		if c.Held != nil {
			all = append(all, events.Warning(c.Name, "Held", "%s; it would lose %s, and nothing is published for it", c.Held.Reason, words.Count(len(c.Held.Removals), "object")))
		}
	}
	return append(all, s.steps()...)
}

// steps are the events of what goes out in stages: what changed in the plan of this turn.
func (s *Sync) steps() (all []events.Event) {
	p := &s.Result.Plan
	for n := range p.Rollouts {
		o := &p.Rollouts[n]
		if o.After == nil {
			continue
		}
		for _, c := range progress.Clusters(o.After) {
			isNews := c.Since.Time.Equal(p.Basis.Time)
			switch {
			case !isNews:
			case c.State == rollouts.Released:
				all = append(all, events.Normal(c.Name, "RolloutReleased", "%s: it gets the version of commit %s, by its turn in stage %s", o.Unit, progress.Short(c.Shows), c.Stage))
			case c.State == rollouts.Healthy:
				all = append(all, events.Normal(c.Name, "RolloutHealthy", "%s: the version of commit %s is healthy", o.Unit, progress.Short(c.Shows)))
			case c.State == rollouts.Failed:
				all = append(all, events.Warning(c.Name, "RolloutFailed", "%s: the version of commit %s failed: %s", o.Unit, progress.Short(c.Shows), c.Message))
			case c.State == rollouts.Late:
				all = append(all, events.Warning(c.Name, "RolloutLate", "%s: the cluster does not answer, and nobody waits for it", o.Unit))
			}
		}
	}
	return all
}
