package manifest

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/index"
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

// Block is why what is wanted in a cluster, be it nothing, cannot be carried out now.
type Block struct {
	Cluster int32
	Why     reason.Reason
}

// Row is what is wanted of one object.
type Row struct {
	Ref    object.Ref
	Wants  []Want  // in the order of clusters
	Blocks []Block // likewise
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
func (r *Row) Block(cluster int, why reason.Reason) {
	if at, isBlocked := blockAt(r.Blocks, cluster); !isBlocked {
		r.Blocks = slices.Insert(r.Blocks, at, Block{int32(cluster), why}) //nolint:gosec // a fleet has far fewer clusters
	}
}

// Unblock notes that nothing is in the way in a cluster.
func (r *Row) Unblock(cluster int) {
	if at, isBlocked := blockAt(r.Blocks, cluster); isBlocked {
		r.Blocks = slices.Delete(r.Blocks, at, at+1)
	}
}

// Blocked says what is in the way in a cluster; empty for nothing.
func (r *Row) Blocked(cluster int) reason.Reason {
	if at, isBlocked := blockAt(r.Blocks, cluster); isBlocked {
		return r.Blocks[at].Why
	}
	return ""
}

// blockAt is where the block of a cluster is, or would be.
func blockAt(in []Block, cluster int) (int, bool) {
	if n := len(in); n == 0 || int(in[n-1].Cluster) < cluster {
		return n, false // most come in the order of clusters
	}
	return slices.BinarySearchFunc(in, cluster, func(b Block, c int) int { return int(b.Cluster) - c })
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

// Each returns what says of clusters, which it is asked about in their order, what is wanted there and what is in the way.
func (r *Row) Each() func(cluster int) (w Want, isWanted bool, why reason.Reason) {
	wants, blocks := r.Wants, r.Blocks
	return func(cluster int) (w Want, isWanted bool, why reason.Reason) {
		for len(wants) > 0 && int(wants[0].Cluster) < cluster {
			wants = wants[1:]
		}
		for len(blocks) > 0 && int(blocks[0].Cluster) < cluster {
			blocks = blocks[1:]
		}
		if isWanted = len(wants) > 0 && int(wants[0].Cluster) == cluster; isWanted {
			w = wants[0]
		}
		if len(blocks) > 0 && int(blocks[0].Cluster) == cluster {
			why = blocks[0].Why
		}
		return w, isWanted, why
	}
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
