package manifest

import (
	"slices"

	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// Block is why what is wanted of an object in a cluster cannot be carried out now.
type Block string

// The blocks that are known before anything is laid out.
const (
	Suspended   Block = "dispatching is suspended"
	Failed      Block = "an override fails"
	NotScaled   Block = "its replicas cannot be set"
	Plain       Block = "it is a Secret in plain text"
	NotRendered Block = "its release cannot be rendered"
	NotRead     Block = "it cannot be told what it should be"
	Moving      Block = "its new copies are not known to be healthy yet"
	LastCopy    Block = "it is the last copy: no other is healthy"
	Confirmed   Block = "its policy says that it stays where it failed"
	NotGone     Block = state.NotGone
	Lost        Block = "its cluster does not answer: what left it stays until a plan has seen it return"
	HoldsData   Block = "deleting it would delete data, and nobody has allowed it"
	ClustersOwn Block = "each cluster has its own, and removed from the branch it would be removed there"
	NotMapped   Block = "it cannot be told what its virtual cluster is to hold"
	Clashes     Block = "its namespace would be that of another cluster, too"
	NotShared   Block = "virtual clusters of one API server want it otherwise"
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
	// Blocks are the clusters in which what is wanted, be it nothing, cannot be carried
	// out now.
	Blocks map[int32]Block
}

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

// block notes that something is in the way in a cluster; what was first counts.
func (r *Row) block(cluster int, why Block) {
	i := int32(cluster) //nolint:gosec // a fleet has far fewer clusters
	if r.Blocks == nil {
		r.Blocks = map[int32]Block{}
	}
	if _, ok := r.Blocks[i]; !ok {
		r.Blocks[i] = why
	}
}

// wants reports whether something is wanted in a cluster, before wants are in order.
func (r *Row) wants(cluster int) bool {
	return slices.ContainsFunc(r.Wants, func(w Want) bool { return int(w.Cluster) == cluster })
}

// Wanted returns what is wanted in a cluster; false for nothing.
func (r *Row) Wanted(cluster int) (Want, bool) {
	i, ok := slices.BinarySearchFunc(r.Wants, cluster, func(w Want, c int) int { return int(w.Cluster) - c })
	if !ok {
		return Want{}, false
	}
	return r.Wants[i], true
}
