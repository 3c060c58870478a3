package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// goingLast says of objects which clusters lose them last, as they lose a unit that leaves them last: the target sends them to
// other clusters only, as by another policy of the unit, or one to which they moved. Who got the target keeps them until every stage is
// over, for the others have them no sooner. What leaves a cluster because that fails, or by the base, too, is not among them.
func goingLast(c *comparison, base, target *laid) map[object.Ref]groups.Set {
	all := map[object.Ref]groups.Set{}
	if target == nil || c.asked.LeavesAll {
		return all
	}
	for _, r := range c.refs {
		d := target.decision(r)
		wants, have := target.line(r), c.have[r]
		if n := len(wants.Wants); d == nil || n == 0 || n == len(c.in.Clusters) {
			continue
		}
		loses := have.Clusters().Without(wants.Clusters()).And(target.wanted) // the unit leaves others
		if base.decision(r) != nil {
			loses = loses.And(base.line(r).Clusters())
		}
		moves := groups.Where(len(c.in.Clusters), func(i int) bool { return slices.Contains(d.Moves.From(), c.in.Clusters[i].Name) })
		if loses = loses.Without(moves); !loses.IsEmpty() {
			all[r] = loses
		}
	}
	return all
}

// isEnding reports a run whose last step is to be carried out, or was.
func isEnding(p rollouts.Phase) bool { return p == rollouts.Finishing || p == rollouts.Done }

// matchingTarget are the clusters that have what the target of a run gives them, but for what they lose last unless the run's last step, by
// which that goes, was carried out, and those of them that have something of that.
func matchingTarget(c *comparison, target *laid, of rollouts.Version) (all, last groups.Set) {
	before := c.unit.Before
	isLastStep := before != nil && before.Status.Target == of && isEnding(before.Status.Phase)
	if isLastStep || len(c.last) == 0 {
		return c.matching(target, c.refs), last
	}
	var refs []object.Ref
	for _, r := range c.refs {
		if c.last[r].IsEmpty() {
			refs = append(refs, r)
		}
	}
	all = c.matching(target, refs)
	for r, isLast := range c.last {
		last, all = last.Or(isLast), all.And(c.matching(target, []object.Ref{r}).Or(isLast))
	}
	return all, last
}

// keepLast leaves in clusters that got the target what they lose last.
func keepLast(c *comparison, given groups.Set, rs *rows) {
	for _, r := range c.refs {
		c.keep([]object.Ref{r}, c.last[r].And(given), rs)
	}
}

// leaving are the objects that clusters lose by a run and that its base does not have, either, as those of a version that it replaced: no
// version tells of them any more once all show the target, and clusters have still to say that they are gone.
func leaving(c *comparison, out *stage.Output) (all []object.Ref) {
	base, target := c.of(out.Base), c.of(out.Target)
	switch {
	case out.Phase == rollouts.Done && len(out.After.Clusters) == 0:
		return nil
	case target == nil, base == nil && out.Base.IsKnown():
		return c.unit.leaves()
	}
	for _, r := range c.refs {
		isIn := func(v *laid) bool { return v != nil && !v.line(r).Clusters().IsEmpty() }
		if !isIn(base) && !isIn(target) {
			all = append(all, r)
		}
	}
	return all
}

// leaves are the objects of the record that clusters lose by a run that is open, or is over and has clusters that have still to say so.
func (u *Unit) leaves() []object.Ref {
	if u.Before == nil || u.Before.Status.Phase == rollouts.Done && len(u.Before.Clusters) == 0 {
		return nil
	}
	return u.Before.Leaves
}
