package failover

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

// report says what does not move that should. What stays in a cluster that does not answer, and is
// elsewhere as well, is as it is meant to be.
func (e *Evictor) report(items []Placed, moves []*Moves) (diags []diag.Diagnostic) {
	waiting := map[state.Waits][]object.Ref{}
	for n, m := range moves {
		if m != nil && m.Waits != "" && (m.Waits != state.WaitsForPlace || m.isOnly) {
			waiting[m.Waits] = append(waiting[m.Waits], items[n].Ref)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(waiting)) {
		if d := e.waiting(why, waiting[why]); d.Code != "" {
			d.Severity = diag.Warning
			diags = append(diags, d)
		}
	}
	return append(diags, e.silent(items)...)
}

// waiting says of templates that they wait; nothing of those whose turn comes by itself.
func (e *Evictor) waiting(why state.Waits, refs []object.Ref) diag.Diagnostic {
	all, first := list(refs), refs[0].Argument()
	switch why {
	case state.WaitsForFleet:
		if e.delayedUntil.IsZero() {
			return diag.Diagnostic{
				Code: diag.FailoverFrozen,
				Message: fmt.Sprintf("%s of %d are not ready (%s), and nothing moves while %d %% are not, or more: %s would",
					words.Count(len(e.unready), "cluster"), e.servers, words.List(e.unready), e.threshold, all),
				Hint: "look first whether the one who watches them can reach them; failover.limits in waybill.yaml is the bound",
			}
		}
		return diag.Diagnostic{
			Code:    diag.FailoverFrozen,
			Message: fmt.Sprintf("so many clusters were not ready that nothing moved, and until %s nothing does: %s would", e.delayedUntil.UTC().Format(time.RFC3339), all),
			Hint:    "clusters come back one after the other; what is not ready then is left",
		}
	case state.WaitsForPlace:
		return diag.Diagnostic{
			Code: diag.NowhereElse, Message: all + " should leave a cluster, and no other takes it", Hint: fmt.Sprintf("waybill explain %s shows why", first),
		}
	case state.WaitsForCopy:
		return diag.Diagnostic{
			Code:    diag.LastCopy,
			Message: all + " left a cluster, and the old copy stays there although its time is over: no other copy is healthy",
			Hint:    "waybill get bindings -o yaml shows how they are",
		}
	case state.WaitsForStatus:
		return diag.Diagnostic{
			Code:    diag.StatusNotRead,
			Message: all + " should leave a cluster, and what its policy preserves of its status there cannot be read",
			Hint:    "look at statePreservation of the policy, and at the status",
		}
	case state.WaitsForCluster, state.WaitsForPace:
	}
	return diag.Diagnostic{}
}

func list(refs []object.Ref) string {
	all := make([]string, len(refs))
	for i, r := range refs {
		all[i] = r.String()
	}
	return words.List(all)
}

// silent reports policies by which work fails over that is not healthy, where nobody says what is.
func (e *Evictor) silent(items []Placed) (diags []diag.Diagnostic) {
	if e.off {
		return nil
	}
	said := map[string]bool{}
	for n := range items {
		i := &items[n]
		if i.Policy == nil || !i.failsOver() || said[i.Policy.String()] || !e.in.Settings.Evidence.IsSilent(i.Ref) {
			continue
		}
		said[i.Policy.String()] = true
		diags = append(diags, diag.Diagnostic{
			Code: diag.HealthUnknown, Severity: diag.Notice, Pos: i.Policy.Object.FieldPos([]any{"spec", "failover", "application"}),
			Message: fmt.Sprintf("%s has %s leave clusters where it is not healthy, and no cluster says whether it is", i.Policy, i.Ref),
			Hint:    "the controller, or an agent, has to apply the branches and write status branches",
		})
	}
	return diags
}
