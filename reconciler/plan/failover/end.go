package failover

import (
	"slices"
	"time"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/plan/recheck"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/diag"
)

// Placed is an item for which clusters were looked for.
type Placed struct {
	Item

	Moves    *Moves
	IsPlaced bool // clusters could be found for all of it
	Clusters []karmada.TargetCluster
	IsKept   bool // something is wrong, so that it stays as it was
}

// Ended is what a plan makes of all moves.
type Ended struct {
	Moves   []*Moves // of the items, in their order
	Record  Record
	Recheck recheck.Recheck
	Diags   []diag.Diagnostic
}

// End ends the tasks whose time has come, of the items that move or would if they failed, in the
// order of their refs.
func (e *Evictor) End(items []Placed, p Progress) Ended {
	out := Ended{Moves: make([]*Moves, len(items)), Recheck: p.Recheck}
	for n := range items {
		i := &items[n]
		switch out.Moves[n] = i.Moves; {
		case i.Moves == nil || len(i.Moves.Tasks) == 0 || i.IsKept:
		case e.frozen:
			out.Moves[n] = i.Moves.wait(state.WaitsForFleet)
		default:
			var again recheck.Recheck
			out.Moves[n], again = e.end(i)
			out.Recheck = out.Recheck.And(again)
			p.moved = p.moved || len(out.Moves[n].Over) > 0
		}
	}
	out.Diags = e.report(items, out.Moves)
	out.Record = Record{Pace: p.pace.Full, Moved: e.in.Settings.Record.Moved}
	if slices.ContainsFunc(out.Moves, func(m *Moves) bool { return m != nil && m.Waits == state.WaitsForFleet }) {
		if out.Record.Frozen = e.delayedUntil.IsZero(); !out.Record.Frozen {
			out.Record.DelayedUntil = e.delayedUntil
			out.Recheck = out.Recheck.By(e.delayedUntil, e.in.Now)
		}
	}
	if p.moved { // what is known of health then, and who may move next
		out.Record.Moved = e.in.Now
		out.Recheck = out.Recheck.By(e.in.Now.Add(time.Second), e.in.Now)
	}
	return out
}

// end returns the moves of an item after those that are over.
func (e *Evictor) end(i *Placed) (*Moves, recheck.Recheck) {
	out, again := *i.Moves, recheck.Recheck{}
	out.Tasks, out.Over, out.Last = nil, slices.Clone(out.Over), slices.Clone(out.Last)
	for _, t := range i.Moves.Tasks {
		end := e.in.Settings.Evidence.Ends(i.Ref, &t, Copies{i.IsPlaced, i.Clusters, i.Before})
		again = again.By(end.Next, e.in.Now)
		if end.Over {
			out.Over = append(out.Over, t)
			continue
		}
		if end.Last {
			out.Last = append(out.Last, t.FromCluster)
			out = *out.wait(state.WaitsForCopy)
		}
		out.Gap, again.Awaits = out.Gap || end.Gap, true
		out.Tasks = append(out.Tasks, t)
	}
	return &out, again
}
