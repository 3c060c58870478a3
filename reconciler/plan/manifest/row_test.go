package manifest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/plan/manifest"
	"github.com/waybill-dev/waybill/reconciler/reason"
)

// Whatever is noted of clusters, in whichever order, a row says of each, and of all, what was noted.
func TestARowSaysWhatWasNoted(t *testing.T) {
	const clusters = 9
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		var row manifest.Row
		wants, stands, blocks := map[int]int32{}, map[int]int32{}, map[int]reason.Reason{}
		for range 30 {
			switch i, n := random.IntN(clusters), random.Int32N(4); random.IntN(5) {
			case 0:
				row.Want(i, n)
				wants[i] = n
			case 1:
				row.Unwant(i)
				delete(wants, i)
			case 2:
				row.Stand(i, n)
				stands[i] = n
			case 3:
				why := []reason.Reason{reason.Lost, reason.Failed, reason.Plain, reason.Moving}[n]
				if row.Block(i, why); blocks[i] == "" {
					blocks[i] = why
				}
			case 4:
				row.Unblock(i)
				delete(blocks, i)
			}
		}
		for i := range clusters {
			want, isWanted := wants[i]
			stand, isStanding := stands[i]
			w, ok := row.Wanted(i)
			if ok != isWanted || w.Blob != want || ok && int(w.Cluster) != i {
				t.Fatalf("seed %d: %d wants %v, %t; want %d, %t", seed, i, w, ok, want, isWanted)
			}
			if blob, ok := row.Standing(i); ok != isStanding || blob != stand {
				t.Fatalf("seed %d: in %d stands %d, %t; want %d, %t", seed, i, blob, ok, stand, isStanding)
			}
			if why := row.Blocked(i); why != blocks[i] {
				t.Fatalf("seed %d: %d is blocked by %q, want %q", seed, i, why, blocks[i])
			}
			if stood, there := row.Stood(); row.Clusters().Has(i) != isWanted || stood.Has(i) != isStanding || there.Has(i) != isStanding {
				t.Fatalf("seed %d: %d is among %v, or %v", seed, i, row.Clusters(), stood)
			}
		}
	}
}
