// Package layout makes the tree of each cluster from the rows of a plan. Clusters that hold
// the same files share one tree, which is built once.
package layout

import (
	"slices"

	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/groups"
	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/reason"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources/files"
)

// Tree is what a cluster should hold.
type Tree struct {
	Folder  *files.Folder
	Objects int // manifests in it
	// Err says that the tree before it cannot be read; Folder is then that one.
	Err error
}

// Nothing is the number of no blob.
const Nothing = -1

// Input is what there is to lay out.
type Input struct {
	Rows  []manifest.Row // in the order of refs
	Blobs *manifest.Blobs
	// Instead says, by row, which blobs clusters are to hold instead of those that the row wants there; Nothing for none.
	Instead map[int]groups.By[int32]
	// Flux says how Flux syncs each cluster.
	Flux []tree.Flux
	// Virtual says which clusters are virtual; nil for none.
	Virtual *virtual.Fleet
	// Stays are the clusters whose trees stay as they are, and why.
	Stays map[int]reason.Reason
}

// Holders calls yield for the clusters that are to hold the manifest of a row.
func (in *Input) Holders(row int, yield func(cluster int32)) {
	in.ofRow(row, func(_ int, cluster, _ int32) { yield(cluster) })
}

// Trees returns the tree of each cluster. Clusters that hold the same manifests share a
// layout, and their tree, too, where nothing in it is a cluster's own.
func Trees(in Input) []Tree {
	seen := in.signatures()
	first := map[signature]int{} // the first of clusters that are alike
	var alike [][]int            // clusters that are alike
	held := make([][]cell, len(in.Flux))
	for i, s := range seen {
		at, ok := first[s]
		if !ok {
			at, first[s] = len(alike), len(alike)
			alike = append(alike, nil)
			held[i] = make([]cell, 0, s.objects)
		}
		alike[at] = append(alike[at], i)
	}
	in.each(func(row int, cluster, blob int32) {
		if held[cluster] != nil {
			held[cluster] = append(held[cluster], cell{int32(row), blob}) //nolint:gosec // an index
		}
	})
	builder := tree.NewBuilder()
	trees := make([]Tree, len(in.Flux))
	var manifests []tree.Manifest // of the clusters that are alike
	for _, clusters := range alike {
		i := clusters[0]
		manifests = in.manifests(i, held[i], manifests[:0])
		in.lay(trees, clusters, builder.LayOut(manifests), len(manifests))
		held[i] = nil
	}
	in.keep(trees)
	return trees
}

// lay makes the trees of clusters that hold the same manifests.
func (in *Input) lay(trees []Tree, clusters []int, l *tree.Layout, objects int) {
	shared := map[string]int{} // by what trees depend on beside the layout: the first cluster
	for _, i := range clusters {
		key := in.Flux[i].Key(objects)
		if like, ok := shared[key]; ok {
			trees[i] = trees[like]
			continue
		}
		shared[key] = i
		folder, err := l.Tree(in.Flux[i])
		if err != nil {
			folder = in.Flux[i].Before.Built
		}
		trees[i] = Tree{Folder: folder, Objects: objects, Err: err}
	}
}

// manifests adds the manifests of a cluster to a list that is empty, in the order of their refs there.
func (in *Input) manifests(cluster int, cells []cell, list []tree.Manifest) []tree.Manifest {
	m := in.Virtual.At(cluster)
	for _, c := range cells {
		list = append(list, tree.Manifest{Ref: m.Ref(in.Rows[c.row].Ref), Blob: in.Blobs.At(c.blob)})
	}
	if m != nil { // names with a suffix are in another order
		slices.SortFunc(list, func(a, b tree.Manifest) int { return a.Ref.Compare(b.Ref) })
	}
	return list
}

// keep keeps the trees that stay.
func (in *Input) keep(trees []Tree) {
	for i := range in.Stays {
		if before := in.Flux[i].Before; before.Built != nil {
			paths, err := before.Paths()
			trees[i] = Tree{Folder: before.Built, Objects: len(paths), Err: err}
		}
	}
}

// cell says which blob a cluster is to hold of a row.
type cell struct{ row, blob int32 }

// each calls yield for what every cluster is to hold, in the order of refs.
func (in *Input) each(yield func(row int, cluster, blob int32)) {
	for i := range in.Rows {
		in.ofRow(i, yield)
	}
}

// ofRow is each for one row.
func (in *Input) ofRow(i int, yield func(row int, cluster, blob int32)) {
	instead := in.Instead[i].Clusters()
	for _, w := range in.Rows[i].Wants {
		if !instead.Has(int(w.Cluster)) {
			yield(i, w.Cluster, w.Blob)
		}
	}
	for _, g := range in.Instead[i] {
		if g.Is == Nothing {
			continue
		}
		for cluster := range g.Clusters.All() {
			yield(i, int32(cluster), g.Is) //nolint:gosec // an index
		}
	}
}

// signature is equal for clusters that hold the same manifests.
type signature struct {
	a, b    uint64
	objects int
	suffix  string // of the namespaces of a virtual cluster
}

// signatures sums up what each cluster is to hold: two sums of 64 bits, each over the
// numbers of rows and blobs in the order of refs.
func (in *Input) signatures() []signature {
	sums := make([]signature, len(in.Flux))
	for i := range sums {
		if m := in.Virtual.At(i); m != nil {
			sums[i].suffix = m.Suffix
		}
	}
	in.each(func(row int, cluster, blob int32) {
		s := &sums[cluster]
		x := uint64(uint32(row))<<32 | uint64(uint32(blob)) //nolint:gosec // numbers, taken for bits
		s.a = mixed(s.a ^ mixed(x+0x9e3779b97f4a7c15))
		s.b = mixed(s.b + mixed(x^0xd1b54a32d192ed03))
		s.objects++
	})
	return sums
}

// mixed is the finalizer of SplitMix64 (Steele, Lea and Flood 2014): each bit of the result
// depends on each of x.
func mixed(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
