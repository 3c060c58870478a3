package plan

import "github.com/waybill-dev/waybill/policies/deschedule"

// descheduler is how replicas that find no node are moved, by the config; nil if they are not.
func (in *Input) descheduler() *deschedule.Rules {
	c := in.Source.Config.Descheduler
	if !c.Enabled {
		return nil
	}
	return &deschedule.Rules{Threshold: c.UnschedulableThreshold.Duration, Cooldown: c.Cooldown.Duration}
}

// watch is what observers are to count for the descheduler; nil for nothing.
func (t *table) watch() *deschedule.Watch {
	rules := t.in.descheduler()
	if rules == nil {
		return nil
	}
	w := &deschedule.Watch{Threshold: rules.Threshold}
	for i := range t.decided.Decisions {
		if d := &t.decided.Decisions[i]; d.Descheduled() && len(d.Scheduled) > 0 {
			w.Workloads = append(w.Workloads, d.Ref())
		}
	}
	if len(w.Workloads) == 0 {
		return nil
	}
	return w
}
