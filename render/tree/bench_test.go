package tree

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// BenchmarkBuild lays out clusters of 1,000 manifests, of which one manifest differs: one
// operation is one cluster.
func BenchmarkBuild(b *testing.B) {
	ms := make([]Manifest, 0, 1000)
	for i := range 1000 {
		ms = append(ms, manifest(object.Ref{Group: "apps", Kind: "Deployment", Namespace: fmt.Sprintf("team-%02d", i%20), Name: fmt.Sprintf("app-%04d", i)}, strconv.Itoa(i)))
	}
	slices.SortFunc(ms, func(x, y Manifest) int { return x.Ref.Compare(y.Ref) })
	builder := NewBuilder()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		ms[i%len(ms)].Blob = files.NewBlob([]byte(fmt.Sprint("changed ", i)))
		if _, err := builder.LayOut(ms).Tree(Flux{}); err != nil {
			b.Fatal(err)
		}
	}
}
