package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/plan/stage"
	"github.com/waybill-dev/waybill/reconciler/state/rollouts"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// comparison is a unit, held against what clusters have of it.
type comparison struct {
	in    *Input
	unit  *Unit
	asked stage.Input
	// refs are the objects of the unit: of the source, of the last plan, and of the versions that are laid out.
	refs []object.Ref
	// waiting are those that the unit has by a version that waits for the end of the run: clusters keep what they have of them.
	waiting  []object.Ref
	versions map[string]*laid // by commit; nil for one that cannot be read
	have     map[object.Ref]manifest.Published
	// at are the indices of the clusters that package stage is asked about, in their order.
	at []int
	// has are the clusters in which something of the unit is, and wasTarget those that had the target by what the record knows, and have more.
	has, wasTarget groups.Set
	// last says of objects which clusters lose them last; see goingLast.
	last   map[object.Ref]groups.Set
	larger map[*laid]*laid     // versions with the larger share of what is divided
	short  map[object.Ref]bool // see isShort
}

// compare makes what package stage is asked of a unit.
func compare(in *Input, u *Unit) *comparison {
	c := &comparison{
		in: in, unit: u, versions: map[string]*laid{}, have: map[object.Ref]manifest.Published{},
		larger: map[*laid]*laid{}, short: map[object.Ref]bool{},
	}
	c.versions[in.Revision] = c.now()
	c.asked = stage.Input{
		Unit: u.Unit.Unit, Pos: u.Pos, Now: in.Now, Strategy: u.Strategy, Refused: u.Refused, Windows: u.Windows,
		Commands: u.Commands, Before: u.Before,
		Source: u.source(in.Revision), PublishedCommit: in.Published,
	}
	c.asked.Published = c.published()
	base, target := stage.Versions(c.asked)
	shown := c.shown(base.Commit, target.Commit)
	for _, commit := range shown {
		if c.version(commit) == nil {
			c.asked.Unreadable = append(c.asked.Unreadable, commit)
		}
	}
	wasBase, isTarget := c.of(base), c.of(target)
	if wasBase != nil && wasBase.isNow {
		shown = append(shown, in.Revision) // what the source has goes back with the rest
	}
	c.collect(shown, isTarget)
	asBase, asTarget := c.asPublished(wasBase), c.asPublished(isTarget)
	c.asked.LeavesAll = isTarget.isEmpty()
	c.last = goingLast(c, wasBase, isTarget)
	areBase, back := c.matching(asBase, c.refs), areBack(c, asBase)
	areTarget, areLast := matchingTarget(c, asTarget, target)
	c.wasTarget = hadTarget(c, isTarget)
	misses := missed(c, target, asBase, areBase, back)
	c.asked.Clusters = make([]stage.Cluster, 0, len(in.Clusters))
	for n := range in.Clusters {
		i := u.turn(n)
		is, concerned := c.cluster(i, wasBase, isTarget)
		isToWait := u.Refused != "" || isTarget == nil
		concerned = concerned || isToWait && c.versions[in.Revision].wants(i) // it is not to get that
		concerned = concerned || c.asked.LeavesAll && wasReleased(u.Before, target, is.Name)
		isLacking := areTarget.Has(i) && lacks(isTarget, c.refs, i)
		is.IsBase, is.IsTarget, is.Lacks = areBase.Has(i), areTarget.Has(i) && !isLacking, isLacking
		is.StaysAhead, is.Misses, is.LosesLast = back.Has(i) && !areBase.Has(i), misses.Has(i), areLast.Has(i)
		if concerned {
			c.asked.Clusters, c.at = append(c.asked.Clusters, is), append(c.at, i)
		}
	}
	return c
}

// now is the unit as the source has it.
func (c *comparison) now() *laid {
	v := Version{
		Version: rollouts.Version{Commit: c.in.Revision, Digest: c.unit.Digest, Absent: c.unit.Absent},
		Refs:    c.unit.Refs, Blobs: c.in.Blobs, Rows: c.in.row,
	}
	for _, r := range c.unit.Refs {
		if d := schedule.Find(c.in.Decisions, r); d != nil {
			v.Decisions = append(v.Decisions, *d)
		}
	}
	l := lay(v)
	l.isNow = true
	return l
}

// published is the unit in the commit that was published last. Where the source says what is recorded nobody asks for it. Which
// version clusters show is not known where the record cannot be read.
func (c *comparison) published() rollouts.Version {
	if before := c.unit.Before; before != nil && c.asked.Source.Is(before.Status.Target) {
		return rollouts.Version{}
	}
	if v := c.version(c.in.Published); v != nil && !c.unit.Unreadable {
		return v.Version.Version
	}
	return rollouts.Version{}
}

// shown are the commits whose versions matter: the two that a run is about, and those that clusters show.
func (c *comparison) shown(commits ...string) []string {
	if c.unit.Before != nil {
		last := ""
		for _, is := range c.unit.Before.Clusters {
			if is.Shows != last && !slices.Contains(commits, is.Shows) {
				commits = append(commits, is.Shows)
			}
			last = is.Shows // which most clusters show, too
		}
	}
	slices.Sort(commits)
	return slices.DeleteFunc(slices.Compact(commits), func(commit string) bool { return commit == "" || commit == c.in.Revision })
}

// version is the unit as a commit has it; nil if that cannot be read.
func (c *comparison) version(commit string) *laid {
	if v, known := c.versions[commit]; known {
		return v
	}
	c.versions[commit] = nil
	if commit == "" {
		return nil
	}
	if v, ok := c.in.Older(commit, c.unit.Unit.Unit); ok {
		c.versions[commit] = lay(v)
	}
	return c.versions[commit]
}

// of is a version; nil if it cannot be read. What the source says still is read there, whichever commit said it first; what
// an earlier Waybill made of the commit of the source cannot be.
func (c *comparison) of(v rollouts.Version) *laid {
	switch {
	case v.Is(c.asked.Source):
		return c.versions[c.in.Revision]
	case v.Commit == c.in.Revision:
		return nil
	}
	return c.version(v.Commit)
}

// collect finds the objects of the unit. Shown are the commits whose versions matter, and target is the version of the run; nil
// if it cannot be read.
func (c *comparison) collect(shown []string, target *laid) {
	all := slices.Concat(c.unit.Refs, c.unit.leaves())
	for _, v := range c.versions {
		if v != nil {
			all = append(all, v.Refs...)
		}
	}
	slices.SortFunc(all, object.Ref.Compare)
	for _, r := range slices.Compact(all) {
		if owner := c.in.owners[r]; owner != nil && owner != c.unit {
			continue // it moved, and goes out with that one
		}
		if schedule.IsClaimed(c.in.Decisions, r) && !slices.Contains(c.unit.Refs, r) {
			continue // it moved to what does not go out in stages
		}
		if c.have[r] = c.in.Have(r); isWaiting(c, r, shown, target) {
			c.waiting = append(c.waiting, r)
		} else {
			c.refs = append(c.refs, r)
		}
	}
	for _, r := range c.refs {
		have := c.have[r]
		c.has = c.has.Or(have.Clusters())
	}
}

// isWaiting reports an object of which the run is not: one that the unit has by the source only, which clusters may have, if it came from
// elsewhere, or one that stays with the unit, or came back to it, that the source wants, and that the target does not have, for another
// policy claims it there.
func isWaiting(c *comparison, r object.Ref, shown []string, target *laid) bool {
	if target == nil || target.isNow || slices.Contains(c.unit.leaves(), r) {
		return false
	}
	now := c.versions[c.in.Revision]
	isOther := slices.Contains(c.unit.Stays, r) || slices.Contains(c.unit.Refs, r) && isElsewhere(c, target, r)
	if isOther && !slices.Contains(target.Refs, r) && !now.line(r).Clusters().IsEmpty() {
		return true
	}
	return !slices.ContainsFunc(shown, func(commit string) bool {
		v := c.version(commit)
		return v != nil && slices.Contains(v.Refs, r)
	})
}

// cluster is what is known of the unit in a cluster, by its index; false if it has nothing to do with it.
func (c *comparison) cluster(i int, base, target *laid) (stage.Cluster, bool) {
	known := &c.in.Clusters[i]
	is := stage.Cluster{
		Name: known.Name, Stage: c.unit.stage(i), IsNew: known.IsNew, Held: known.Held, Closed: known.Closed, Unwatched: known.Unwatched,
		Evidence: known.evidence(c.in.Evidence, c.refs, counting(c, i)), Has: c.has.Has(i), WasTarget: c.wasTarget.Has(i),
	}
	wants, baseWants := target.wants(i), base.wants(i)
	is.Leaves = !wants && !c.asked.LeavesAll && (baseWants || is.Has)
	if target == nil {
		return is, baseWants || is.Has
	}
	is.Takes = !is.Has && wants && slices.ContainsFunc(target.Decisions, func(d schedule.Decision) bool {
		return len(d.Moves.From()) > 0 && d.Targeted(known.Name)
	})
	if !target.blocked.Has(i) {
		return is, wants || baseWants || is.Has
	}
	for _, r := range target.Refs {
		switch why := target.at(r, i).block; {
		case isSuspended(why):
			is.Suspended = true
		case slices.Contains(inTheWay, why):
			is.Unwritable = r.String() + ": " + why.Message()
		}
	}
	return is, wants || baseWants || is.Has
}

// wasReleased reports a cluster that was released in the run that goes on, or for which it goes on: where that takes all away nothing is
// left of the unit there, and the cluster still has to say that it is gone.
func wasReleased(before *rollouts.Rollout, target rollouts.Version, cluster string) bool {
	if before == nil || before.Status.Target != target {
		return false
	}
	e := before.Clusters[cluster]
	return !e.Released.IsZero()
}

// isGone reports a unit of which the source has nothing, nor any cluster: nothing is left to go out. What stays with it and is
// claimed elsewhere is not gone, nor is what stays while another run is open, by an older version of which clusters would get it back.
func isGone(c *comparison) bool {
	isOpen := func(u Unit) bool {
		return u.Unit.Unit != c.unit.Unit.Unit && u.Before != nil && u.Before.Status.Phase != rollouts.Done
	}
	if len(c.unit.Stays) > 0 && slices.ContainsFunc(c.in.Units, isOpen) {
		return false
	}
	isClaimed := func(r object.Ref) bool { return schedule.IsClaimed(c.in.Decisions, r) }
	return !c.unit.IsReplay && len(c.unit.Policies) == 0 && !slices.ContainsFunc(c.unit.Refs, isClaimed) &&
		!slices.ContainsFunc(c.asked.Clusters, func(is stage.Cluster) bool { return is.Has })
}

// asPublished is a version with as many replicas of what is divided, and the bounds of that, as clusters have; nil if it cannot be read.
func (c *comparison) asPublished(v *laid) *laid {
	if v == nil {
		return nil
	}
	return v.with(c.in, other{
		replicas: func(d *schedule.Decision, cluster string) (int32, bool) {
			have := there(c, d.Ref(), cluster)
			if have == nil {
				return 0, false
			}
			return c.in.Replicas(have)
		},
		bounds: func(d *schedule.Decision, cluster string) (scale.Bounds, bool) {
			return c.in.Bounds(there(c, d.Ref(), cluster))
		},
	})
}

// there is what a cluster has of an object of the unit; nil for nothing, and of one that is of another unit now.
func there(c *comparison, r object.Ref, cluster string) *files.Blob {
	have, known := c.have[r]
	if !known {
		return nil
	}
	return have.In(c.in.index[cluster])
}

// lacks reports that something of what a version wants of objects in a cluster cannot be made, or is not dispatched there.
func lacks(v *laid, refs []object.Ref, cluster int) bool {
	return v.isUnwritable(cluster) && slices.ContainsFunc(refs, func(r object.Ref) bool { return v.at(r, cluster).isLacking() })
}

// matching are the clusters that have of objects what a version gives them; none for nil. Of what cannot be made that is nothing.
func (c *comparison) matching(v *laid, refs []object.Ref) groups.Set {
	if v == nil {
		return groups.Set{}
	}
	all := groups.First(len(c.in.Clusters))
	for _, r := range refs {
		have, want := c.have[r], v.line(r)
		all = all.And(want.Where(&have, func(has *files.Blob, number int32) bool { return isSame(has, want.blob(number)) }))
	}
	return all
}
