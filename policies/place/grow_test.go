package place

import (
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
