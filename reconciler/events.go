package reconciler

import (
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/sources/words"
)

// Events are those of a turn: one for each cluster that the guard holds.
func (s *Sync) Events() []events.Event {
	var all []events.Event
	for _, c := range s.Result.Plan.Clusters {
		if c.Held != nil {
			all = append(all, events.Warning(c.Name, "Held", "%s; it would lose %s, and nothing is published for it", c.Held.Reason, words.Count(len(c.Held.Removals), "object")))
		}
	}
	return all
}
