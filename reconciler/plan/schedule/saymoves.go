package schedule

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/words"
)

// sayMoves reports what does not move that should. What stays in a cluster that does not answer, and is
// elsewhere as well, is as it is meant to be.
func (d *decider) sayMoves() {
	waiting := map[state.Waits][]object.Ref{}
	for _, m := range d.items {
		if m.Moves == nil {
			continue
		}
		if w := m.Moves.Waits; w != "" && (w != state.WaitsForPlace || m.Moves.only) {
			waiting[m.Moves.Waits] = append(waiting[m.Moves.Waits], m.Ref())
		}
	}
	for _, why := range slices.Sorted(maps.Keys(waiting)) {
		refs, first := names(waiting[why]), waiting[why][0].Argument()
		say := func(code diag.Code, message, hint string) {
			d.report(diag.Diagnostic{Code: code, Severity: diag.Warning, Message: message, Hint: hint})
		}
		switch why {
		case state.WaitsForFleet:
			unready, until := d.evictor.unready, d.evictor.delayedUntil
			if !until.IsZero() {
				say(diag.FailoverFrozen, fmt.Sprintf("so many clusters were not ready that nothing moved, and until %s nothing does: %s would", until.UTC().Format(time.RFC3339), refs),
					"clusters come back one after the other; what is not ready then is left")
				continue
			}
			say(diag.FailoverFrozen, fmt.Sprintf("%s of %d are not ready (%s), and nothing moves while %d %% are not, or more: %s would", words.Count(len(unready), "cluster"),
				d.evictor.servers, words.List(unready), d.evictor.threshold, refs), "look first whether the one who watches them can reach them; failover.limits in waybill.yaml is the bound")
		case state.WaitsForPlace:
			say(diag.NowhereElse, refs+" should leave a cluster, and no other takes it", fmt.Sprintf("waybill explain %s shows why", first))
		case state.WaitsForCopy:
			say(diag.LastCopy, refs+" left a cluster, and the old copy stays there although its time is over: no other copy is healthy", "waybill get bindings -o yaml shows how they are")
		case state.WaitsForStatus:
			say(diag.StatusNotRead, refs+" should leave a cluster, and what its policy preserves of its status there cannot be read", "look at statePreservation of the policy, and at the status")
		case state.WaitsForCluster, state.WaitsForPace: // their turn comes
		}
	}
	d.sayUntold()
}

func names(refs []object.Ref) string {
	all := make([]string, len(refs))
	for i, r := range refs {
		all[i] = r.String()
	}
	return words.List(all)
}

// sayUntold reports policies by which work fails over that is not healthy, where nobody says what
// is.
func (d *decider) sayUntold() {
	if d.in.Failover.Evidence == nil || d.evictor.off {
		return
	}
	said := map[string]bool{}
	for _, m := range d.items {
		seen, asked := d.in.Failover.Evidence[m.Ref()]
		if !asked || len(seen) > 0 || m.Policy == nil || m.Policy.Spec.Failover == nil || m.Policy.Spec.Failover.Application == nil || said[m.Policy.String()] {
			continue
		}
		said[m.Policy.String()] = true
		d.report(diag.Diagnostic{
			Code: diag.HealthUnknown, Severity: diag.Notice, Pos: m.Policy.Object.FieldPos([]any{"spec", "failover", "application"}),
			Message: fmt.Sprintf("%s has %s leave clusters where it is not healthy, and no cluster says whether it is", m.Policy, m.Ref()),
			Hint:    "the controller, or an agent, has to apply the branches and write status branches",
		})
	}
}
