package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// areBack reports of clusters, by index, whether all that goes back to a version is as that gives it; of none if nothing does, or the
// version is nil. Nothing goes back in a cluster for which the version cannot be made: halves of two versions would be none.
func areBack(c *comparison, v *laid) []bool {
	if before := c.unit.Before; v == nil || before == nil || before.Status.Phase != rollouts.Returning {
		return make([]bool, len(c.in.Clusters))
	}
	all := c.matching(v, slices.DeleteFunc(slices.Clone(c.refs), func(r object.Ref) bool { return isElsewhere(c, v, r) }))
	for i := range all {
		all[i] = all[i] || v.isUnwritable(i)
	}
	return all
}

// isElsewhere reports an object that the unit does not send by a version, and that may be there all the same: a policy claims it, something
// that needs it may have pulled it along, as it does now, or its release cannot be rendered. It does not leave with what goes back.
func isElsewhere(c *comparison, v *laid, r object.Ref) bool {
	if v.Source == nil || schedule.Find(v.Decisions, r) != nil {
		return false
	}
	isThere, isClaimed := v.Source(r)
	d := schedule.Find(c.in.Decisions, r)
	return isClaimed || isThere && d != nil && d.Policy == nil
}

// missed reports of clusters, by index, whether what they are recorded to show did not come to them, as where the guard held them, where a
// run to another target begins: the target of the run before, of those that were released, or the base, where that went back. Of one that
// is not recorded, which shows the base, it is told if the guard holds it, or it does not answer.
func missed(c *comparison, target rollouts.Version, base *laid, areBase, back []bool) []bool {
	all, before := make([]bool, len(c.in.Clusters)), c.unit.Before
	if before == nil || before.Status.Target == target {
		return all
	}
	is := func(i int) (e rollouts.Cluster, known bool) {
		e, known = before.Clusters[c.in.Clusters[i].Name]
		return e, known
	}
	switch p := before.Status.Phase; {
	case p == rollouts.Returning:
		for i := range all {
			_, known := is(i)
			all[i] = known && !areBase[i] && !back[i]
		}
		return all
	case p == rollouts.Done && base != nil:
		for i := range all {
			_, known := is(i)
			all[i] = !known && !areBase[i] && stayedBehind(c, base, i)
		}
	}
	if len(before.Clusters) == 0 {
		return all
	}
	was := c.of(before.Status.Target)
	came := c.matching(c.asPublished(was), c.refs)
	for i := range all {
		e, _ := is(i)
		all[i] = all[i] || was != nil && !e.Released.IsZero() && !came[i] && !was.isUnwritable(i)
	}
	return all
}

// stayedBehind reports a cluster that the guard holds, or that does not answer, and that has something of the unit that a version does not
// send there, or otherwise, although that can be made.
func stayedBehind(c *comparison, v *laid, cluster int) bool {
	known := &c.in.Clusters[cluster]
	if known.IsNew || !known.Held && !known.IsLost || v.isUnwritable(cluster) {
		return false
	}
	return slices.ContainsFunc(c.refs, func(r object.Ref) bool {
		of := c.have[r]
		have := of.In(cluster)
		return have != nil && !isSame(have, v.at(r, cluster).blob) && !isElsewhere(c, v, r)
	})
}
