package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
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
		wants := target.line(r)
		if n := len(wants.Wants); d == nil || n == 0 || n == len(c.in.Clusters) {
			continue
		}
		have, isOld := c.have[r], base.sends(r)
		for i := range c.in.Clusters {
			isLeft := wants.number(i) == manifest.Nothing && have.In(i) != nil && !slices.Contains(d.Moves.From(), c.in.Clusters[i].Name)
			if !isOld(i) || !isLeft || !target.wants(i) { // the unit leaves it
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

// sends returns what reports that a cluster, by its index, has an object by a version, as far as that knows it.
func (l *laid) sends(r object.Ref) func(cluster int) bool {
	if l.decision(r) == nil {
		return func(int) bool { return true }
	}
	wants := l.line(r)
	return func(cluster int) bool { return wants.number(cluster) != manifest.Nothing }
}

// isEnding reports a run whose last step is to be carried out, or was.
func isEnding(p rollouts.Phase) bool { return p == rollouts.Finishing || p == rollouts.Done }

// matchingTarget reports of clusters, by index, whether they have what the target of a run gives them, but for what they lose last unless
// the run's last step, by which that goes, was carried out, and which of them have something of that.
func matchingTarget(c *comparison, target *laid, of rollouts.Version) (all, last []bool) {
	last = make([]bool, len(c.in.Clusters))
	before := c.unit.Before
	isLastStep := before != nil && before.Status.Target == of && isEnding(before.Status.Phase)
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
func keepLast(c *comparison, isGiven []bool, rs *rows) {
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
