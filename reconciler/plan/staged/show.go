package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/reconciler/groups"
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
	var by groups.Builder[stage.Shown]
	for n, s := range out.Shown {
		s.Cluster = ""
		by.Add(c.at[n], s)
	}
	shown := by.By()
	var kept, given groups.Set
	for _, g := range shown {
		var as old
		if g.Is.Choice == stage.Older {
			as = old{c.delivered(out, c.older(out, g.Is.Commit)), g.Is.IsAnew}
		}
		switch {
		case g.Is.Choice == stage.Target && target != nil:
			c.deliver(g.Clusters, target, rs)
			given = given.Or(g.Clusters)
		case as.laid == nil:
			kept = kept.Or(g.Clusters)
		case !as.isNow: // otherwise it goes back to what the source says
			writes := g.Clusters.Without(c.standing(as)).Without(as.unwritten)
			c.write(writes, as, rs)
			kept = kept.Or(g.Clusters.Without(writes))
		}
	}
	if target == nil && len(out.Shown) > 0 || target != nil && !target.isNow {
		c.keep(c.waiting, groups.First(len(c.in.Clusters)), rs)
		kept = kept.Or(groups.First(len(c.in.Clusters)).Without(shown.Clusters())) // to which only the source sends the unit
	}
	c.keep(c.refs, kept, rs)
	if !isEnding(out.Phase) {
		keepLast(c, given, rs)
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
// replaced, or not everywhere, or where it cannot be read, all that is known is what is there now.
func largerReplicas(c *comparison, out *stage.Output, base *laid, d *schedule.Decision, cluster string) (int32, bool) {
	n := share(d, cluster)
	if was := base.decision(d.Ref()); was != nil {
		if n = stage.Replicas(out.Phase, stage.Target, share(was, cluster), n); !c.isShort(out, was) {
			return n, true
		}
	}
	if have := there(c, d.Ref(), cluster); have != nil {
		if has, known := c.in.Replicas(have); known {
			n = stage.Replicas(out.Phase, stage.Target, has, n)
		}
	}
	return n, true
}

// isShort reports a decision of the base of which a cluster has fewer replicas than its share, and gets none by what it shows, as where
// it was skipped: fewer than the base has are there in all. It is looked at once for all clusters.
func (c *comparison) isShort(out *stage.Output, was *schedule.Decision) bool {
	r := was.Ref()
	if is, known := c.short[r]; known {
		return is
	}
	c.short[r] = slices.ContainsFunc(out.Shown, func(s stage.Shown) bool {
		isGiven := s.Choice == stage.Target || s.Choice == stage.Older && share(c.older(out, s.Commit).decision(r), s.Cluster) > 0
		if isGiven {
			return false
		}
		have, due := there(c, r, s.Cluster), share(was, s.Cluster)
		if have == nil {
			return due > 0
		}
		has, known := c.in.Replicas(have)
		return known && has < due
	})
	return c.short[r]
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

// share is the share of a cluster by a decision; none by nil.
func share(d *schedule.Decision, cluster string) int32 {
	if d == nil {
		return 0
	}
	for _, t := range d.Targets {
		if t.Name == cluster {
			return t.Replicas
		}
	}
	return 0
}

// deliver has clusters get a version.
func (c *comparison) deliver(clusters groups.Set, v *laid, rs *rows) {
	if v.isNow {
		return
	}
	for _, r := range c.refs {
		row, is := rs.edit(r), v.line(r)
		row.Wants = slices.DeleteFunc(row.Wants, func(w manifest.Want) bool { return clusters.Has(int(w.Cluster)) })
		for _, w := range is.Wants {
			if !clusters.Has(int(w.Cluster)) {
				continue
			}
			if w.Blob >= 0 {
				w.Blob = c.in.Blobs.Add(is.blob(w.Blob))
			}
			row.Wants = append(row.Wants, w)
		}
		slices.SortFunc(row.Wants, func(a, b manifest.Want) int { return int(a.Cluster - b.Cluster) })
		row.Blocks = row.Blocks.Without(clusters)
		for _, g := range is.Blocks {
			row.Blocks = row.Blocks.With(g.Is, g.Clusters.And(clusters))
		}
	}
}

// keep leaves what clusters have of objects of the unit.
func (c *comparison) keep(refs []object.Ref, clusters groups.Set, rs *rows) {
	if clusters.IsEmpty() {
		return
	}
	for _, r := range refs {
		row, have := rs.edit(r), c.have[r]
		row.Blocks = c.unit.waiting(row.Blocks, clusters.Without(row.There(c.in.Blobs, &have)))
	}
}

// waiting are blocks of a row where the turn of some clusters has not come.
func (u *Unit) waiting(blocks groups.By[reason.Reason], clusters groups.Set) groups.By[reason.Reason] {
	all := blocks.With(u.waits(""), clusters.Without(blocks.Clusters()))
	for _, g := range blocks {
		all = all.With(u.waits(g.Is), g.Clusters.And(clusters))
	}
	return all
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

// write has clusters show an older version that the fleet of today asks for otherwise than it is there. What that version does not want
// leaves if it is to be there as it is given now, as where the run goes back, or the cluster came back with another version, unless it came
// from another unit; otherwise it stays where the source wants it. Where the source wants just that, nothing waits.
func (c *comparison) write(clusters groups.Set, v old, rs *rows) {
	if clusters.IsEmpty() {
		return
	}
	for _, r := range c.refs {
		row, is, have := rs.edit(r), v.line(r), c.have[r]
		wants := is.Clusters()
		of := wants.Or(row.Clusters()) // it leaves others, by either version
		if v.decision(r) == nil && !v.isAnew {
			of = of.Or(have.Clusters()) // it came from elsewhere, and goes with the run
		}
		in := clusters.And(of)
		in = groups.Where(len(c.in.Clusters), func(i int) bool { return in.Has(i) && !c.wantsNow(row, i, is.at(i).blob) })
		goes := v.isAnew && !isElsewhere(c, v.laid, r)
		for i := range in.All() {
			switch blob := is.at(i).blob; {
			case blob != nil:
				row.Stand(i, c.in.Blobs.Add(blob))
			case !wants.Has(i) && (have.In(i) == nil || goes):
				row.Stand(i, manifest.Nothing)
			}
		}
		row.Blocks = c.unit.waiting(row.Blocks, in)
	}
}

// wantsNow reports that a row wants these bytes in a cluster.
func (c *comparison) wantsNow(row *manifest.Row, cluster int, blob *files.Blob) bool {
	w, wanted := row.Wanted(cluster)
	return blob != nil && wanted && w.Blob >= 0 && isSame(c.in.Blobs.At(w.Blob), blob)
}

// old is an older version, and whether it is to be there as it is given now (stage.Shown.IsAnew).
type old struct {
	*laid

	isAnew bool
}

// standing are the clusters in which what they have of the unit is where an older version wants it, with as many replicas, so that it need
// not be written: with the same bytes if it is to be there as it is given now. What that version does not want stays where the source wants
// it, unless that is to be there as it is given now: then what came from no other unit leaves.
func (c *comparison) standing(v old) groups.Set {
	target, all := c.version(c.in.Revision), groups.First(len(c.in.Clusters))
	for _, r := range c.refs {
		have, wants := c.have[r], v.line(r)
		d := schedule.Find(v.Decisions, r)
		isDivided := d != nil && d.Divided()
		stands := wants.Where(&have, func(has *files.Blob, number int32) bool {
			want := wants.blob(number)
			isWanted := has == nil || number != manifest.Nothing
			return isWanted && isStanding(v, has, want) && (!isDivided || has == nil || want == nil || !c.isScaled(want, has))
		})
		switch stays := have.Clusters().Without(wants.Clusters()); {
		case stays.IsEmpty():
		case !v.isAnew:
			stands = stands.Or(stays.And(target.line(r).Clusters()))
		case isElsewhere(c, v.laid, r):
			stands = stands.Or(stays)
		}
		all = all.And(stands)
	}
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
