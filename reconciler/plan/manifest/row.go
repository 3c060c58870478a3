package manifest

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/index"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/schedule"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Want is the manifest that a cluster should hold, by the cluster's index in the fleet and
// the number of the blob.
type Want struct{ Cluster, Blob int32 }

// Unwritten is the number of a blob that is not known, because something blocks it.
const Unwritten = -1

// Row is what is wanted of one object.
type Row struct {
	Ref   object.Ref
	Wants []Want // in the order of clusters
	// Blocks are why what is wanted in clusters, be it nothing, cannot be carried out now.
	Blocks groups.By[reason.Reason]
	// Stands is what clusters are to have while their cell is blocked, in place of what they have: Nothing for nothing.
	// Only where a cluster shows an older version is there any. It is in the order of clusters, too.
	Stands []Want
}

// Nothing is the number of no blob.
const Nothing = -2

// Blobs numbers the files of a plan.
type Blobs struct {
	list []*files.Blob
	ids  map[files.ID]int32
}

// Add returns the number of a blob; equal blobs have one.
func (b *Blobs) Add(blob *files.Blob) int32 {
	if i, ok := b.ids[blob.ID()]; ok {
		return i
	}
	if b.ids == nil {
		b.ids = map[files.ID]int32{}
	}
	i := int32(len(b.list)) //nolint:gosec // a plan has far fewer blobs
	b.list, b.ids[blob.ID()] = append(b.list, blob), i
	return i
}

// At returns the blob of a number.
func (b *Blobs) At(i int32) *files.Blob { return b.list[i] }

// Len returns how many blobs there are.
func (b *Blobs) Len() int { return len(b.list) }

// want notes that a cluster should hold a blob.
func (r *Row) want(cluster int, blob int32) {
	r.Wants = append(r.Wants, Want{int32(cluster), blob}) //nolint:gosec // a fleet has far fewer clusters
}

// later notes the clusters in which something is wanted that is written later.
func (r *Row) later(in *index.Policies, targets []schedule.Target) {
	for _, c := range targets {
		if i, ok := in.Position(c.Name); ok {
			r.want(i, Unwritten)
		}
	}
}

// Block notes that something is in the way in a cluster; what was first counts.
func (r *Row) Block(cluster int, why reason.Reason) { r.BlockIn(groups.Of(cluster), why) }

// BlockIn notes that something is in the way in clusters; what was first counts.
func (r *Row) BlockIn(clusters groups.Set, why reason.Reason) {
	r.Blocks = r.Blocks.With(why, clusters.Without(r.Blocks.Clusters()))
}

// block notes what is in the way in clusters; what was first counts.
func (r *Row) block(by groups.By[reason.Reason]) {
	for _, g := range by {
		r.BlockIn(g.Clusters, g.Is)
	}
}

// Unblock notes that nothing is in the way in a cluster.
func (r *Row) Unblock(cluster int) { r.Blocks = r.Blocks.Without(groups.Of(cluster)) }

// Blocked says what is in the way in a cluster; empty for nothing.
func (r *Row) Blocked(cluster int) reason.Reason {
	why, _ := r.Blocks.At(cluster)
	return why
}

// Clusters are those in which something is wanted.
func (r *Row) Clusters() groups.Set { return clustersOf(r.Wants, func(int32) bool { return true }) }

// Unwritten are the clusters in which something is wanted that is not known.
func (r *Row) Unwritten() groups.Set {
	return clustersOf(r.Wants, func(blob int32) bool { return blob == Unwritten })
}

// Stood are the clusters that are to have something else than they have while their cell is blocked, and there are those of them that are
// to have anything.
func (r *Row) Stood() (all, there groups.Set) {
	return clustersOf(r.Stands, func(int32) bool { return true }), clustersOf(r.Stands, func(blob int32) bool { return blob != Nothing })
}

// clustersOf are the clusters of wants whose blobs are some.
func clustersOf(wants []Want, is func(blob int32) bool) groups.Set {
	return groups.Collect(func(yield func(int) bool) {
		for _, w := range wants {
			if is(w.Blob) && !yield(int(w.Cluster)) {
				return
			}
		}
	})
}

// There are the clusters that have of the object what is wanted, be it nothing. What is not known is nowhere.
func (r *Row) There(blobs *Blobs, have *Published) groups.Set {
	return r.Where(have, func(has *files.Blob, wanted int32) bool {
		if wanted < 0 || has == nil {
			return wanted == Nothing && has == nil
		}
		return blobs.At(wanted) == has || blobs.At(wanted).ID() == has.ID()
	})
}

// Where are the clusters of which something is true of what they have of the object, nil for nothing, and of the number of what is wanted
// there, Nothing for nothing. It is asked once of clusters that follow each other and are alike, as most are.
func (r *Row) Where(have *Published, is func(has *files.Blob, wanted int32) bool) groups.Set {
	wants, isKnown, last := r.Wants, false, false
	var has *files.Blob
	var wanted int32
	return groups.Where(len(have.of), func(cluster int) bool {
		h, w := have.In(cluster), int32(Nothing)
		if len(wants) > 0 && int(wants[0].Cluster) == cluster {
			w, wants = wants[0].Blob, wants[1:]
		}
		if !isKnown || h != has || w != wanted {
			isKnown, has, wanted, last = true, h, w, is(h, w)
		}
		return last
	})
}

// wants reports whether something is wanted in a cluster, before wants are in order.
func (r *Row) wants(cluster int) bool {
	return slices.ContainsFunc(r.Wants, func(w Want) bool { return int(w.Cluster) == cluster })
}

// Wanted returns what is wanted in a cluster; false for nothing.
func (r *Row) Wanted(cluster int) (Want, bool) {
	at, ok := wantAt(r.Wants, cluster)
	if !ok {
		return Want{}, false
	}
	return r.Wants[at], true
}

// Want has a cluster want a blob, which is then the only one that it wants.
func (r *Row) Want(cluster int, blob int32) { r.Wants = with(r.Wants, cluster, blob) }

// Unwant has a cluster want nothing.
func (r *Row) Unwant(cluster int) {
	if at, ok := wantAt(r.Wants, cluster); ok {
		r.Wants = slices.Delete(r.Wants, at, at+1)
	}
}

// Stand says what a cluster is to have while its cell is blocked.
func (r *Row) Stand(cluster int, blob int32) { r.Stands = with(r.Stands, cluster, blob) }

// Standing returns what a cluster is to have while its cell is blocked; false for what it has.
func (r *Row) Standing(cluster int) (blob int32, ok bool) {
	at, ok := wantAt(r.Stands, cluster)
	if !ok {
		return 0, false
	}
	return r.Stands[at].Blob, true
}

// with returns wants in which a cluster has a blob.
func with(in []Want, cluster int, blob int32) []Want {
	at, ok := wantAt(in, cluster)
	if !ok {
		in = slices.Insert(in, at, Want{Cluster: int32(cluster)}) //nolint:gosec // a fleet has far fewer clusters
	}
	in[at].Blob = blob
	return in
}

// wantAt is where the want of a cluster is, or would be.
func wantAt(in []Want, cluster int) (int, bool) {
	if n := len(in); n == 0 || int(in[n-1].Cluster) < cluster {
		return n, false // most come in the order of clusters
	}
	return slices.BinarySearchFunc(in, cluster, func(w Want, c int) int { return int(w.Cluster) - c })
}
