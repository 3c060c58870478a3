package staged

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/scale"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// Unrecorded is what is published for a cluster on top of what the record knows: where a push is not atomic, whoever pushed may die
// before the record is pushed. It went by what the record knows, and so does the next plan.
type Unrecorded struct {
	// Commits are those of the cluster's branch that the record does not know, from the newest.
	Commits []files.ID
	// Known is what the record knows to be there.
	Known *files.Folder
}

// file is what the record knows of an object in a cluster that has more; nil for nothing.
func (c *Cluster) file(r object.Ref) *files.Blob {
	e, _ := c.Unrecorded.Known.Lookup(tree.Path(c.Virtual.Ref(r)))
	return e.Blob
}

// isOld reports that what a cluster says of objects was said before what is published of them came.
func (c *Cluster) isOld(refs []object.Ref, published func(object.Ref) *files.Blob) bool {
	return c.Unrecorded != nil && c.Seen != nil && !slices.Contains(c.Unrecorded.Commits, c.Seen.Commit) &&
		slices.ContainsFunc(refs, func(r object.Ref) bool { return !isSame(c.file(r), published(r)) })
}

// isSame reports equal files; nil is none.
func isSame(a, b *files.Blob) bool {
	return a == b || a != nil && b != nil && a.ID() == b.ID()
}

// subject is what evidence has to speak of: the bytes of objects in a cluster.
type subject struct {
	published func(object.Ref) *files.Blob
	// known are those that the record knows, if they are as good: other replicas of what is divided; nil if they are not.
	known func(object.Ref) *files.Blob
}

// isKnown reports that a file is what the record knows of an object.
func (s *subject) isKnown(r object.Ref, id files.ID) bool {
	if s.known == nil {
		return false
	}
	is := s.known(r)
	return is != nil && is.ID() == id
}

// counting are the bytes of which evidence counts in a cluster, by its index. Where a plan that recorded nothing pushed something
// else in place of the target, what is said of the target counts still: that plan went by it.
func counting(c *comparison, i int) subject {
	of := subject{published: func(r object.Ref) *files.Blob {
		have := c.have[r]
		return have.In(i)
	}}
	if c.wasTarget.Has(i) {
		of.known = c.in.Clusters[i].file
	}
	return of
}

// hadTarget are the clusters that had the target by what the record knows, where they have something else.
func hadTarget(c *comparison, target *laid) groups.Set {
	known := groups.Where(len(c.in.Clusters), func(i int) bool { return c.in.Clusters[i].Unrecorded != nil })
	if known.IsEmpty() || target == nil {
		return groups.Set{}
	}
	file := func(d *schedule.Decision, cluster string) *files.Blob {
		i := c.in.index[cluster]
		if !known.Has(i) {
			return nil
		}
		return c.in.Clusters[i].file(d.Ref())
	}
	as := target.with(c.in, other{
		replicas: func(d *schedule.Decision, cluster string) (int32, bool) {
			if is := file(d, cluster); is != nil {
				return c.in.Replicas(is)
			}
			return 0, false
		},
		bounds: func(d *schedule.Decision, cluster string) (scale.Bounds, bool) { return c.in.Bounds(file(d, cluster)) },
	})
	return groups.Where(len(c.in.Clusters), func(i int) bool {
		isOther := func(r object.Ref) bool {
			return !isSame(c.in.Clusters[i].file(r), as.at(r, i).blob) && !c.last[r].Has(i)
		}
		return known.Has(i) && !lacks(target, c.refs, i) && !slices.ContainsFunc(c.refs, isOther)
	})
}
