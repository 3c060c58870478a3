package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// show puts into the rows which version of the unit each cluster shows.
func (c *comparison) show(out *stage.Output, rs *rows) {
	target := c.delivered(out, c.of(out.Target))
	isShown, kept, isGiven := make([]bool, len(c.in.Clusters)), make([]bool, len(c.in.Clusters)), make([]bool, len(c.in.Clusters))
	var as old
	var stands []bool
	var last stage.Shown // most clusters show the same
	for n, s := range out.Shown {
		i := c.at[n]
		isShown[i] = true
		if s.Cluster = ""; s != last {
			last, as, stands = s, old{c.delivered(out, c.older(out, s.Commit)), s.IsAnew}, nil
		}
		if stands == nil && s.Choice == stage.Older && as.laid != nil && !as.isNow {
			stands = c.standing(as)
		}
		switch {
		case s.Choice == stage.Target && target != nil:
			c.deliver(i, target, rs)
			isGiven[i] = !isEnding(out.Phase)
		case s.Choice == stage.Older && as.laid != nil && as.isNow:
			// it goes back to what the source says
		case s.Choice == stage.Older && as.laid != nil && (!out.IsBack || !as.isUnwritable(i)) && !stands[i]:
			c.write(i, as, rs)
		default:
			kept[i] = true
		}
	}
	if target == nil && len(out.Shown) > 0 || target != nil && !target.isNow {
		c.keepWaiting(isShown, kept, rs)
	}
	c.keep(c.refs, kept, rs)
	keepLast(c, isGiven, rs)
}

// keepWaiting leaves what clusters have of what only the source says, of which the run is not: objects, and where it sends the
// unit that has nothing to do with it yet, which is to be kept, too.
func (c *comparison) keepWaiting(isShown, kept []bool, rs *rows) {
	c.keep(c.waiting, slices.Repeat([]bool{true}, len(kept)), rs)
	for i := range kept {
		kept[i] = kept[i] || !isShown[i]
	}
}

// older is the version of a commit that clusters show which do not show the target, or not yet; nil if it cannot be read.
func (c *comparison) older(out *stage.Output, commit string) *laid {
	for _, v := range []rollouts.Version{out.Base, out.Target} {
		if v.Commit == commit {
			return c.of(v)
		}
	}
	return c.version(commit)
}

// delivered is a version as clusters get it, with the replicas that stage.Replicas gives of what is divided: the base as it
// is, any other version as the target. It is nil if it cannot be read.
func (c *comparison) delivered(out *stage.Output, v *laid) *laid {
	base := c.of(out.Base)
	if v == nil || base == v {
		return v
	}
	if known, ok := c.larger[v]; ok {
		return known
	}
	is := v.with(c.in, other{
		replicas: func(d *schedule.Decision, cluster string) (int32, bool) {
			return largerReplicas(c, out, base, d, cluster)
		},
		bounds: func(d *schedule.Decision, cluster string) (scale.Bounds, bool) {
			return largerBounds(c, out, base, d, cluster)
		},
	})
	c.larger[v] = is
	return is
}

// largerReplicas are the replicas of a cluster by stage.Replicas. Of what the base does not have, as what came by a run that this one
// replaced, or where it cannot be read, all that is known is what is there now.
func largerReplicas(c *comparison, out *stage.Output, base *laid, d *schedule.Decision, cluster string) (int32, bool) {
	n := share(d, cluster)
	if was := base.decision(d.Ref()); was != nil {
		return stage.Replicas(out.Phase, stage.Target, share(was, cluster), n), true
	}
	if have := there(c, d.Ref(), cluster); have != nil {
		if has, known := c.in.Replicas(have); known {
			n = stage.Replicas(out.Phase, stage.Target, has, n)
		}
	}
	return n, true
}

// decision is what is decided of an object by a version; nil for nothing, and where that cannot be read.
func (l *laid) decision(r object.Ref) *schedule.Decision {
	if l == nil {
		return nil
	}
	return schedule.Find(l.Decisions, r)
}

// largerBounds is largerReplicas for the bounds of what a FederatedHPA becomes.
func largerBounds(c *comparison, out *stage.Output, base *laid, d *schedule.Decision, cluster string) (scale.Bounds, bool) {
	var was scale.Bounds
	if b := base.decision(d.Ref()); b != nil {
		was = b.Shares[cluster].Bounds
	} else {
		was, _ = c.in.Bounds(there(c, d.Ref(), cluster))
	}
	is := d.Shares[cluster].Bounds
	return scale.Bounds{
		Min: stage.Replicas(out.Phase, stage.Target, was.Min, is.Min), Max: stage.Replicas(out.Phase, stage.Target, was.Max, is.Max),
	}, true
}

// share is the share of a cluster by a decision.
func share(d *schedule.Decision, cluster string) int32 {
	for _, t := range d.Targets {
		if t.Name == cluster {
			return t.Replicas
		}
	}
	return 0
}

// deliver has a cluster get a version.
func (c *comparison) deliver(i int, v *laid, rs *rows) {
	if v.isNow {
		return
	}
	for _, r := range c.refs {
		c.set(rs.edit(r), i, v.at(r, i))
	}
}

// set has a cell want what a version wants there.
func (c *comparison) set(row *manifest.Row, cluster int, is cell) {
	if row.Unblock(cluster); is.block != "" {
		row.Block(cluster, is.block)
	}
	switch {
	case !is.wanted:
		row.Unwant(cluster)
	case is.blob == nil:
		row.Want(cluster, manifest.Unwritten)
	default:
		row.Want(cluster, c.in.Blobs.Add(is.blob))
	}
}

// keep leaves what clusters have of objects of the unit; kept says of which, by index.
func (c *comparison) keep(refs []object.Ref, kept []bool, rs *rows) {
	if !slices.Contains(kept, true) {
		return
	}
	for _, r := range refs {
		row, have := rs.edit(r), c.have[r]
		each, blocks := row.Each(), make([]manifest.Block, 0, len(kept))
		isThere := alike(func(has *files.Blob, number int32) bool { return isThere(c.in.Blobs, number, has) })
		for i := range kept {
			want, isWanted, why := each(i)
			if !isWanted {
				want.Blob = manifest.Nothing
			}
			if kept[i] && !isThere(have.In(i), want.Blob) {
				why = c.unit.waits(why)
			}
			if why != "" {
				blocks = append(blocks, manifest.Block{Cluster: int32(i), Why: why})
			}
		}
		row.Blocks = blocks
	}
}

// isThere reports whether a cluster has what is wanted there by its number, be it nothing; nil is nothing.
func isThere(blobs *manifest.Blobs, number int32, has *files.Blob) bool {
	if number < 0 {
		return number == manifest.Nothing && has == nil
	}
	return isSame(blobs.At(number), has)
}

// waits says that the turn of a cluster has not come: what was in the way before is a matter of what waits. That it failed over
// is told on, for nothing else remembers it.
func (u *Unit) waits(before reason.Reason) reason.Reason {
	switch {
	case before.Outlasts():
		return before
	case u.isUnstaged():
		return reason.WaitsToGoOut
	}
	return reason.WaitsForStage
}

// write has a cluster show an older version that the fleet of today asks for otherwise than it is there. What that version does not want
// leaves if it is to be there as it is given now, as where the run goes back, or the cluster came back with another version, unless it came
// from another unit; otherwise it stays where the source wants it.
func (c *comparison) write(i int, v old, rs *rows) {
	for _, r := range c.refs {
		row, is, there := rs.edit(r), v.at(r, i), c.have[r]
		have := there.In(i)
		_, wanted := row.Wanted(i)
		if !wanted && !is.wanted {
			continue // it leaves, by either version
		}
		switch {
		case is.blob != nil:
			row.Stand(i, c.in.Blobs.Add(is.blob))
		case !is.wanted && (have == nil || v.isAnew && !isElsewhere(c, v.laid, r)):
			row.Stand(i, manifest.Nothing)
		}
		why := c.unit.waits(row.Blocked(i))
		row.Unblock(i)
		row.Block(i, why)
	}
}

// old is an older version, and whether it is to be there as it is given now (stage.Shown.IsAnew).
type old struct {
	*laid

	isAnew bool
}

// standing reports of clusters, by index, whether what they have of the unit is where an older version wants it, with as many
// replicas, so that it need not be written: with the same bytes if it is to be there as it is given now. What that version does not want
// stays where the source wants it, unless that is to be there as it is given now: then what came from no other unit leaves.
func (c *comparison) standing(v old) []bool {
	if known, ok := c.stands[v]; ok {
		return known
	}
	target, all := c.version(c.in.Revision), make([]bool, len(c.in.Clusters))
	for i := range all {
		all[i] = true
	}
	for _, r := range c.refs {
		have, wants, targets := c.have[r], v.line(r), target.line(r)
		d := schedule.Find(v.Decisions, r)
		isDivided := d != nil && d.Divided()
		is := alike(func(has *files.Blob, number int32) bool {
			want := wants.blob(number)
			return isStanding(v, has, want) && (!isDivided || has == nil || want == nil || !c.isScaled(want, has))
		})
		for i := range all {
			has, number := have.In(i), wants.number(i)
			switch isKept := has != nil && number == manifest.Nothing; {
			case isKept && v.isAnew:
				all[i] = all[i] && isElsewhere(c, v.laid, r)
			case isKept:
				all[i] = all[i] && targets.number(i) != manifest.Nothing
			default:
				all[i] = all[i] && is(has, number)
			}
		}
	}
	c.stands[v] = all
	return all
}

// isStanding is standing, but for replicas, for an object of which a cluster has a file and an older version wants one; nil is nothing, and
// what cannot be made.
func isStanding(v old, has, want *files.Blob) bool {
	switch {
	case has == nil:
		return want == nil
	case want == nil, want == has:
		return true
	}
	return !v.isAnew || want.ID() == has.ID()
}

// isScaled reports that a version wants other replicas of an object in a cluster than it has.
func (c *comparison) isScaled(want, has *files.Blob) bool {
	is, known := c.in.Replicas(has)
	wants, told := c.in.Replicas(want)
	return known && told && is != wants
}
