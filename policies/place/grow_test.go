package place

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// given prints what was given out, in name order.
func given(out []Seats) string {
	var all []string
	for _, s := range out {
		all = append(all, strconv.FormatInt(s.Seats, 10))
	}
	return strings.Join(all, "/")
}

// weighing names weights a, b and so on.
func weighing(weights ...int64) (all []Weight) {
	for i, w := range weights {
		all = append(all, Weight{string(rune('a' + i)), w})
	}
	return all
}

func TestGrow(t *testing.T) {
	for _, tt := range []struct {
		weights []int64
		want    string // of 1, 2, 3 seats and so on
	}{
		{[]int64{5, 3, 2}, "1/0/0 1/1/0 1/1/1 2/1/1 2/2/1 3/2/1 4/2/1 4/2/2 4/3/2 5/3/2"},
		{[]int64{1, 2, 3}, "0/0/1 0/1/1 1/1/1 1/1/2 1/2/2 1/2/3"},
		{[]int64{1, 1, 8}, "0/0/1 1/0/1 1/1/1 1/1/2 1/1/3 1/1/4 1/1/5"},
		{[]int64{1, 1, 1}, "1/0/0 1/1/0 1/1/1 2/1/1 2/2/1"},
		{[]int64{1, 0, 1}, "1/0 1/1 2/1"},
		{[]int64{0, 0}, "  "},
	} {
		var got []string
		for n := range strings.Split(tt.want, " ") {
			got = append(got, given(Grow(int64(n+1), weighing(tt.weights...))))
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%v grows %s\nwant %s", tt.weights, got, tt.want)
		}
	}
	if got := given(Grow(20, weighing(5, 3, 2))); got != "10/6/4" {
		t.Errorf("20 seats by 5:3:2 are %s", got)
	}
}

// TestScaledInEachCluster holds how a division begins where each cluster scales its replicas by itself.
func TestScaledInEachCluster(t *testing.T) {
	for _, tt := range []struct {
		name, placement, previous string
		replicas, most            int32
		want                      string
		seatless                  string
		divided                   int64 // beside one each; -1 where that is not how it is divided
	}{
		{"each has one, though that is more than there are", weighted(1, 2, 7), "", 1, 5, "m1:1 m2:1 m3:1", "", 0},
		{"each has one, and the others go by weight", weighted(1, 2, 7), "", 10, 20, "m1:1 m2:2 m3:7", "", 7},
		{"what was before does not count, though it adds up", weighted(1, 2, 7), "m1:10", 10, 20, "m1:1 m2:2 m3:7", "", 7},
		{"the heaviest have one where there may not be more", weighted(1, 2, 7), "", 1, 2, "m2:1 m3:1", "m1", 0},
		{"there are as many as there may be", weighted(1, 2, 7), "", 3, 3, "m1:1 m2:1 m3:1", "", 0},
		{"a cluster without a weight has no part", weighted(1, 2), "", 1, 5, "m1:1 m2:1", "", 0},
		{"by themselves they have none each", weighted(1, 2, 7), "", 1, 0, "m3:1", "", -1},
		{"duplicated they have all each", duplicate, "", 2, 5, "m1:2 m2:2 m3:2", "", -1},
		{"by room they have what there is room for", dynamically, "", 2, 5, "m1:1 m2:1", "", -1},
		{"what has no replicas has no seat to miss", weighted(1, 2, 7), "", 0, 2, "m1:0 m2:0 m3:0", "", -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, placement(t, tt.placement), clusters(t, "m1=10 m2=10 m3=10"), SpreadKarmada)
			r := moved(t, tt.replicas, tt.previous)
			r.Most = tt.most
			report := s.Explain(r)
			if d := report.Decision; show(d) != tt.want || strings.Join(d.Seatless, " ") != tt.seatless {
				t.Errorf("it goes to %s, and leaves out %v; want %s, and %q", show(d), d.Seatless, tt.want, tt.seatless)
			}
			divided := int64(-1)
			if ds := report.Divisions; len(ds) == 1 && ds[0].Each {
				divided = ds[0].Replicas
			}
			if divided != tt.divided {
				t.Errorf("it is divided as %+v, want %d beside one each", report.Divisions, tt.divided)
			}
			if tt.previous != "" && s.Settled(r) {
				t.Error("it is settled")
			}
		})
	}
}

// TestStaticWeights holds by which weights bounds are divided like replicas.
func TestStaticWeights(t *testing.T) {
	for _, tt := range []struct{ name, placement, of, want string }{
		{"their own", weighted(1, 2, 7), "m1:3 m3:4", "[{m1 1} {m3 7}] true"},
		{"one that has none, and one that is gone, have no part", weighted(1), "m1:3 m2:1 m9:1", "[{m1 1} {m2 0} {m9 0}] true"},
		{"where none has one all have the same", weighted(0, 0, 7), "m1:3 m2:4", "[{m1 1} {m2 1}] true"},
		{"by room there are none", dynamically, "m1:3", "[] false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := compile(t, placement(t, tt.placement), clusters(t, "m1=10 m2=10 m3=10"), SpreadKarmada)
			if got := fmt.Sprint(StaticWeights(s, targets(t, tt.of))); got != tt.want {
				t.Errorf("weights are %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDivideLike(t *testing.T) {
	if got, want := fmt.Sprint(DivideLike(6, targets(t, "m1:4 m2:8 m3:0"))), "map[m1:2 m2:4 m3:0]"; got != want {
		t.Errorf("it is divided as %s, want %s", got, want)
	}
}
