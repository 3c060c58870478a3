package place

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// listing is a combination as Karmada's search lists it.
type listing struct {
	options         []int // best score first
	score, clusters int64
}

// enumerate walks through all combinations, depth first, in search order. One that
// will do is listed and not extended.
func enumerate(options []option, b bounds, need int) []listing {
	order := searchOrder(options)
	var all []listing
	var walk func(path []int, next, clusters int)
	walk = func(path []int, next, clusters int) {
		if clusters >= need && len(path) >= b.min && len(path) <= b.max {
			l := listing{options: slices.Clone(path)}
			for _, i := range path {
				l.score += options[i].score
				l.clusters += int64(options[i].clusters)
			}
			slices.SortFunc(l.options, func(x, y int) int {
				return cmp.Or(cmp.Compare(options[y].score, options[x].score), cmp.Compare(x, y))
			})
			all = append(all, l)
			return
		}
		if len(path) >= b.max {
			return
		}
		for i := next; i < len(order); i++ {
			walk(append(path, order[i]), i+1, clusters+options[order[i]].clusters)
		}
	}
	walk(nil, 0, 0)
	return all
}

// byListing chooses as the specification says: of all that are listed the best,
// and then again and again one that is a beginning of it.
func byListing(options []option, b bounds, need int) []int {
	all := enumerate(options, b, need)
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(x, y listing) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(y.clusters, x.clusters))
	})
	best := all[0].options
	for _, l := range all[1:] {
		if len(l.options) < len(best) && slices.Equal(l.options, best[:len(l.options)]) {
			best = l.options
		}
	}
	return best
}

func TestCombine(t *testing.T) {
	tests := []struct {
		name    string
		options []option
		bounds  bounds
		need    int
		want    []int
	}{
		{"the best scores", []option{{1, 5}, {1, 9}, {1, 7}}, bounds{2, 2}, 0, []int{1, 2}},
		{"equal scores by more clusters", []option{{1, 5}, {3, 5}, {2, 5}}, bounds{2, 2}, 2, []int{1, 2}},
		{"equal in all by name", []option{{1, 5}, {1, 5}, {1, 5}}, bounds{2, 2}, 2, []int{0, 1}},
		{"enough clusters matter more than score", []option{{1, 9}, {1, 8}, {4, 1}}, bounds{2, 2}, 5, []int{0, 2}},
		{"one more where two are not enough", []option{{2, 9}, {2, 8}, {1, 1}}, bounds{2, 3}, 5, []int{0, 1, 2}},
		{"no more than max", []option{{2, 9}, {2, 8}, {1, 1}}, bounds{1, 2}, 5, nil},
		{"a max of 0 wants none", []option{{2, 9}, {2, 8}}, bounds{1, 0}, 1, nil},
		{"too few options", []option{{2, 9}}, bounds{2, 3}, 1, nil},
		// {0,1} and then 2, the largest, is listed before {0,2}, and its score is the
		// sum of three; but {0,2}, its beginning, is listed too and wins.
		{"a beginning of the best wins", []option{{1, 3}, {1, 1}, {2, 2}}, bounds{2, 3}, 3, []int{0, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := combine(tt.options, tt.bounds, tt.need)
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("combine (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(byListing(tt.options, tt.bounds, tt.need), got); diff != "" {
				t.Errorf("against listing all (-want +got):\n%s", diff)
			}
		})
	}
}

// againstListing holds the search, for bytes which are a score and a number of clusters each, against listing
// every combination, and the choice for large searches against the bounds.
func againstListing(t *testing.T, data []byte, b bounds, need int) {
	t.Helper()
	options := make([]option, len(data))
	for i, d := range data {
		options[i] = option{clusters: int(d%16) + 1, score: int64(d / 16)}
	}
	want := byListing(options, b, need)
	if diff := gocmp.Diff(want, combine(options, b, need)); diff != "" {
		t.Errorf("combine(%v, %v, %d) (-want +got):\n%s", options, b, need, diff)
	}
	if want == nil {
		return
	}
	b.max = min(b.max, len(options))
	got := grab(options, byMerit(options, searchOrder(options)), b, need)
	if clusters := reach(pick(options, got), len(got)); len(got) < b.min || len(got) > b.max || clusters < need {
		t.Errorf("grab(%v, %v, %d) = %v, %d clusters", options, b, need, got, clusters)
	}
}

func pick(options []option, which []int) []option {
	picked := make([]option, len(which))
	for i, w := range which {
		picked[i] = options[w]
	}
	return picked
}

func TestCombineAgainstListing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		data := make([]byte, 2+r.IntN(6))
		for i := range data {
			data[i] = byte(r.IntN(4) | r.IntN(8)<<4)
		}
		againstListing(t, data, bounds{1 + r.IntN(3), 1 + r.IntN(6)}, r.IntN(12))
	}
}

func FuzzCombine(f *testing.F) {
	f.Add([]byte{0x11, 0x21, 0x12, 0x43}, uint8(2), uint8(3), uint8(5))
	f.Add([]byte{0x01, 0x01, 0x02, 0x03, 0x33, 0x21}, uint8(1), uint8(6), uint8(7))
	f.Add([]byte{0x31, 0x11, 0x22}, uint8(2), uint8(3), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, least, most, need uint8) {
		if len(data) == 0 || len(data) > 11 {
			return
		}
		againstListing(t, data, bounds{int(least%6) + 1, int(most % 12)}, int(need%40))
	})
}

// TestCombineMany runs where listing all combinations would not end.
func TestCombineMany(t *testing.T) {
	tests := []struct {
		name          string
		options, need int
		bounds        bounds
	}{
		{"50 regions within the table", 50, 400, bounds{2, 50}},
		{"1000 regions beyond it", 1000, 9000, bounds{2, 900}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			options := make([]option, tt.options)
			for i := range options {
				options[i] = option{clusters: 7 + i*i%13, score: int64(i * 37 % 101)}
			}
			got := combine(options, tt.bounds, tt.need)
			total := 0
			for _, i := range got {
				total += options[i].clusters
			}
			if len(got) < tt.bounds.min || len(got) > tt.bounds.max || total < tt.need {
				t.Errorf("combine chose %d options with %d clusters, want %d clusters", len(got), total, tt.need)
			}
		})
	}
}
