package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
)

// areBack are the clusters in which all that goes back to a version is as that gives it; none if nothing does, or the version is nil.
// Nothing goes back in a cluster for which the version cannot be made: halves of two versions would be none.
func areBack(c *comparison, v *laid) groups.Set {
	if before := c.unit.Before; v == nil || before == nil || before.Status.Phase != rollouts.Returning {
		return groups.Set{}
	}
	back := slices.DeleteFunc(slices.Clone(c.refs), func(r object.Ref) bool { return isElsewhere(c, v, r) })
	return c.matching(v, back).Or(v.unwritten)
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

// missed are the clusters to which what they are recorded to show did not come, as where the guard held them, where a run to another target
// begins: the target of the run before, of those that were released, or the base, where that went back. Of one that is not recorded, which
// shows the base, as of each where nothing was recorded, it is told if the guard holds it, or it does not answer.
func missed(c *comparison, target rollouts.Version, base *laid, areBase, back groups.Set) groups.Set {
	behind := func(recorded groups.Set) groups.Set {
		others := groups.First(len(c.in.Clusters)).Without(recorded).Without(areBase)
		return groups.Where(len(c.in.Clusters), func(i int) bool { return base != nil && others.Has(i) && stayedBehind(c, base, i) })
	}
	before := c.unit.Before
	if before == nil {
		return behind(groups.Set{})
	}
	if before.Status.Target == target {
		return groups.Set{}
	}
	recorded := recordedOf(c, func(rollouts.Cluster) bool { return true })
	switch {
	case before.Status.Phase == rollouts.Returning:
		return recorded.Without(areBase).Without(back)
	case before.Status.IsKeptBack() && base != nil: // the base could not be made for them
		return recorded.And(base.unwritten).Without(areBase)
	}
	var all groups.Set
	if before.Status.Phase == rollouts.Done {
		all = behind(recorded)
		if base != nil && c.asked.LeavesAll { // nothing is left where it could not be made, nor did anything leave
			all = all.Or(base.unwritten.Without(recorded).Without(c.has))
		}
	}
	was := c.of(before.Status.Target)
	if len(before.Clusters) == 0 || was == nil {
		return all
	}
	released := recordedOf(c, func(e rollouts.Cluster) bool { return !e.Released.IsZero() })
	return all.Or(released.Without(c.matching(c.asPublished(was), c.refs)).Without(was.unwritten))
}

// recordedOf are the clusters of the record of which something is true.
func recordedOf(c *comparison, is func(rollouts.Cluster) bool) groups.Set {
	return groups.Where(len(c.in.Clusters), func(i int) bool {
		e, known := c.unit.Before.Clusters[c.in.Clusters[i].Name]
		return known && is(e)
	})
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
