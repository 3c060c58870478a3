package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// goingLast says of objects which clusters, by index, lose them last, as they lose a unit that leaves them last: the target sends them to
// other clusters only, as by another policy of the unit, or one to which they moved. Who got the target keeps them until every stage is
// over, for the others have them no sooner. What leaves a cluster because that fails, or by the base, too, is not among them.
func goingLast(c *comparison, base, target *laid) map[object.Ref][]bool {
	all := map[object.Ref][]bool{}
	if target == nil || c.leavesAll {
		return all
	}
	for _, r := range c.refs {
		d := target.decision(r)
		if n := len(target.lines[r].Wants); d == nil || n == 0 || n == len(c.in.Clusters) {
			continue
		}
		have, wants, old := c.have[r], target.each(r), base.sends(r)
		for i := range c.in.Clusters {
			isLeft := !wants(i).wanted && have(i) != nil && !slices.Contains(d.Moves.From(), c.in.Clusters[i].Name)
			if !old(i) || !isLeft {
				continue
			}
			if all[r] == nil {
				all[r] = make([]bool, len(c.in.Clusters))
			}
			all[r][i] = true
		}
	}
	return all
}

// sends returns whether clusters, which it is asked about in their order, have an object by a version, as far as it knows that.
func (l *laid) sends(r object.Ref) func(cluster int) bool {
	if l.decision(r) == nil {
		return func(int) bool { return true }
	}
	each := l.each(r)
	return func(cluster int) bool { return each(cluster).wanted }
}

// isLastStep reports that clusters lose by now what they lose last, in a run to a version, or after it.
func isLastStep(before *rollouts.Rollout, target rollouts.Version) bool {
	return before != nil && before.Status.Target == target && isEnding(before.Status.Phase)
}

// isEnding reports a run whose last step is to be carried out, or was.
func isEnding(p rollouts.Phase) bool { return p == rollouts.Finishing || p == rollouts.Done }

// matchingAt reports of clusters, by index, whether they have what the target gives them, but for what they lose last unless that is to be
// gone by now, and which of them have something of that.
func (c *comparison) matchingAt(target *laid, isLastStep bool) (all, last []bool) {
	last = make([]bool, len(c.in.Clusters))
	if isLastStep || len(c.last) == 0 {
		return c.matching(target, c.refs), last
	}
	var refs []object.Ref
	for _, r := range c.refs {
		if c.last[r] == nil {
			refs = append(refs, r)
		}
	}
	all = c.matching(target, refs)
	for r, isLast := range c.last {
		is := c.matching(target, []object.Ref{r})
		for i := range all {
			last[i] = last[i] || isLast[i]
			all[i] = all[i] && (is[i] || isLast[i])
		}
	}
	return all, last
}

// keepLast leaves in clusters that got the target, by index, what they lose last.
func (c *comparison) keepLast(isGiven []bool, rs *rows) {
	for _, r := range c.refs {
		if c.last[r] == nil {
			continue
		}
		kept := slices.Clone(c.last[r])
		for i := range kept {
			kept[i] = kept[i] && isGiven[i]
		}
		c.keep([]object.Ref{r}, kept, rs)
	}
}
