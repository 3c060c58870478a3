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
