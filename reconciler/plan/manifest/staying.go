package manifest

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render"
)

// leaving blocks the removal of copies that stay in clusters which a template leaves, or left, because they
// failed, or it failed there.
func (w *writer) leaving(d *schedule.Decision, row *Row) {
	clusters := w.in.Before.Leaving(d)
	if len(clusters) == 0 {
		return
	}
	had := w.in.Before.Had(d.Ref())
	for _, cluster := range clusters {
		i, ok := w.in.Policies.Position(cluster)
		if !ok || d.Targeted(cluster) {
			continue
		}
		if why := waiting(d, cluster); why != "" {
			row.Block(i, why)
		}
		switch {
		case !had(i):
		case w.in.Policies.Lost(cluster):
			row.Block(i, reason.Lost)
		case w.isLast(d):
			row.Block(i, reason.LastCopy)
		case w.in.Before.HoldsData(d.Ref(), i):
			row.Block(i, reason.HoldsData)
		}
	}
}

// isLast reports that none of the clusters that a template goes to answers, so that a copy in one that does
// is not given up for them.
func (w *writer) isLast(d *schedule.Decision) bool {
	answers := func(c schedule.Target) bool { return !w.in.Policies.Lost(c.Name) }
	return w.in.Config.Failover.LastCopy == render.LastCopyKeep && len(d.Targets) > 0 && !slices.ContainsFunc(d.Targets, answers)
}

// waiting says why a copy stays for now in a cluster that a template leaves; empty if it does not.
func waiting(d *schedule.Decision, cluster string) reason.Reason {
	t := d.Moves.Stays(cluster)
	switch {
	case t == nil:
		return ""
	case t.SuppressDeletion != nil && *t.SuppressDeletion:
		return reason.Confirmed
	case slices.Contains(d.Moves.Last, cluster):
		return reason.LastCopy
	}
	return reason.Moving
}
