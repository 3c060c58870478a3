package plan

import (
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/sources/words"
)

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

// Descheduled says which replicas leave clusters by the plan because they find no node there, a
// sentence for each cluster.
func (p *Plan) Descheduled() (said []string) {
	for i := range p.Decisions {
		d := &p.Decisions[i]
		if d.Shift == nil {
			continue
		}
		for _, f := range d.Shift.From {
			var to []string
			for _, c := range f.Destination {
				to = append(to, fmt.Sprintf("%s (%d)", c.Name, c.Replicas))
			}
			said = append(said, fmt.Sprintf("%s has %d of %s leave %s for %s: no node was found there since %s",
				d.Ref(), f.Replicas, words.Count(int(f.Of), "replica"), f.From, words.List(to), f.Since.UTC().Format(time.RFC3339)))
		}
	}
	return said
}
