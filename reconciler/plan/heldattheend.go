package plan

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/plan/staged"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// heldAtTheEnd says of the runs that begin with this plan which clusters the guard would hold when their turn comes: it lays
// out how every cluster is when all runs are over, and has that judged without effect.
func (s *stager) heldAtTheEnd(goes *staged.Result, written manifest.Input, scheduled []manifest.Row) (diags []diag.Diagnostic) {
	begin := slices.DeleteFunc(slices.Clone(goes.Outputs), func(o stage.Output) bool { return !s.begins(&o) })
	if len(begin) == 0 || s.table.in.AtTheEnd || s.table.in.Medium != Branch {
		return nil
	}
	end := *s.table
	end.rows, end.of, end.byPath, end.pulled, end.unlisted = scheduled, nil, nil, nil, unlisted{}
	laid := (&stager{table: &end}).laidOut(written, true)
	end.rows, end.units, end.staged = laid.Rows, laid.Of, laid.Outputs
	addFoundations(&end)
	end.findUnlisted()
	out := end.guarded()
	for i := range begin {
		diags = append(diags, wouldBeHeld(&begin[i], out.clusters, &s.table.in.Allow)...)
	}
	return diags
}

// begins reports a run that this plan begins.
func (s *stager) begins(o *stage.Output) bool {
	if o.After == nil || o.After.Status.Run == "" || len(o.After.Status.Stages) == 0 || s.table.in.Replay != nil {
		return false
	}
	before := recordOf(s.table.in.State.Rollouts)[o.Unit]
	return before == nil || before.Status.Run != o.After.Status.Run
}

// wouldBeHeld says which clusters of a run would be held. Where all removals are allowed those are not whose turn is now.
func wouldBeHeld(o *stage.Output, clusters []Cluster, allow *guard.Allowance) (diags []diag.Diagnostic) {
	for i := range clusters {
		c := &clusters[i]
		is, concerned := o.After.Clusters[c.Name]
		if c.Held == nil || !concerned || allow.All() && is.State == rollouts.Released {
			continue
		}
		why := c.Held.Reason
		if len(c.Held.Removals) > 0 {
			lost := make([]string, 0, len(c.Held.Removals))
			for _, r := range c.Held.Removals {
				lost = append(lost, r.Object.String())
			}
			why = "it would lose " + words.List(lost) + "; " + why
		}
		where := is.Stage
		if is.State == rollouts.Leaving {
			where = "at the end"
		}
		diags = append(diags, diag.Diagnostic{
			Code: diag.RolloutHeld, Severity: diag.Warning, Pos: o.Pos,
			Message: fmt.Sprintf("%s: %s: %s would be held: %s", o.Unit, where, c.Name, why),
			Hint:    "look at it now: the run waits there; to let it happen then, waybill publish --allow-prune=" + c.Name,
		})
	}
	return diags
}
