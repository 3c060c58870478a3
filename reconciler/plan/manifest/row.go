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

// Row is what is wanted of one object.
type Row struct {
	Ref   object.Ref
	Wants []Want // in the order of clusters
	// Blocks are the clusters in which what is wanted, be it nothing, cannot be carried
	// out now.
	Blocks map[int32]reason.Reason
	// Stands are the numbers of what clusters are to have while their cell is blocked, in place of what they
	// have; Nothing for nothing. Only where a cluster shows an older version is there any.
	Stands map[int32]int32
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
	i := int32(cluster) //nolint:gosec // a fleet has far fewer clusters
	if r.Blocks == nil {
		r.Blocks = map[int32]reason.Reason{}
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
