package place

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// m names weights m1, m2, …
func m(weights ...int64) []Weight {
	ws := make([]Weight, len(weights))
	for i, w := range weights {
		ws[i] = Weight{fmt.Sprintf("m%d", i+1), w}
	}
	return ws
}

func seats(all []Seats) string {
	parts := make([]string, len(all))
	for i, s := range all {
		parts[i] = fmt.Sprintf("%s:%d", s.Name, s.Seats)
	}
	return strings.Join(parts, " ")
}

// TestDivide holds what Karmada's own functions answer.
func TestDivide(t *testing.T) {
	tests := []struct {
		name    string
		total   int64
		weights []Weight
		initial []Seats
		want    string
	}{
		{"completions follow replicas", 10, m(2, 1), nil, "m1:7 m2:3"},
		{"one completion goes to the lower name", 1, m(1, 1), nil, "m1:1 m2:0"},
		{"fewer completions than clusters", 3, m(1, 1, 1, 1), nil, "m1:1 m2:1 m3:1 m4:0"},
		{"initial seats count against a party", 5, m(1, 1), []Seats{{"m1", 4}, {"m2", 0}}, "m1:5 m2:4"},
		{"initial seats without a weight are kept", 2, m(1), []Seats{{"m9", 3}}, "m1:2 m9:3"},
		{"without a positive weight nobody is named", 5, m(0, 0), nil, ""},
		{"without seats everybody is named", 0, m(1, 1), nil, "m1:0 m2:0"},
		{"a tie goes to fewer seats", 2, m(3, 1), nil, "m1:1 m2:1"},
		{"and not to the lower name", 2, m(1, 3), nil, "m1:1 m2:1"},
		{"9 over 1:2", 9, m(1, 2), nil, "m1:3 m2:6"},
		{"9 over 1:3", 9, m(1, 3), nil, "m1:2 m2:7"},
		{"5 over 1:1", 5, m(1, 1), nil, "m1:3 m2:2"},
		{"10 over 1:1:1", 10, m(1, 1, 1), nil, "m1:4 m2:3 m3:3"},
		{"11 over 1:1:1", 11, m(1, 1, 1), nil, "m1:4 m2:4 m3:3"},
		{"7 over 2:1:1", 7, m(2, 1, 1), nil, "m1:3 m2:2 m3:2"},
		{"5 over 3:2:1", 5, m(3, 2, 1), nil, "m1:2 m2:2 m3:1"},
		{"1 over 1:2", 1, m(1, 2), nil, "m1:0 m2:1"},
		{"3 over 10:1:1", 3, m(10, 1, 1), nil, "m1:3 m2:0 m3:0"},
		{"2 over 1:1:1:1", 2, m(1, 1, 1, 1), nil, "m1:1 m2:1 m3:0 m4:0"},
		{"10 over 7:2:1", 10, m(7, 2, 1), nil, "m1:7 m2:2 m3:1"},
		{"6 over 7:2:1", 6, m(7, 2, 1), nil, "m1:4 m2:1 m3:1"},
		{"100 over 33:33:34", 100, m(33, 33, 34), nil, "m1:33 m2:33 m3:34"},
		{"4 over 10:1:1:1:1", 4, m(10, 1, 1, 1, 1), nil, "m1:4 m2:0 m3:0 m4:0 m5:0"},
		{"13 over 10:1:1:1:1", 13, m(10, 1, 1, 1, 1), nil, "m1:9 m2:1 m3:1 m4:1 m5:1"},
		{"8 over 8:1", 8, m(8, 1), nil, "m1:7 m2:1"},
		{"nothing to a weight of 0", 4, m(0, 4, 0), nil, "m1:0 m2:4 m3:0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := seats(Divide(tt.total, tt.weights, tt.initial...)); got != tt.want {
				t.Errorf("Divide(%d, %v, %v) = %s, want %s", tt.total, tt.weights, tt.initial, got, tt.want)
			}
		})
	}
}

// TestDivideSeatBySeat holds, for 1 to 9 seats, what Karmada's own functions answer.
func TestDivideSeatBySeat(t *testing.T) {
	tests := []struct {
		weights []Weight
		want    string
	}{
		{m(1, 2, 3), "0/0/1 0/1/1 1/1/1 1/1/2 1/2/2 1/2/3 1/2/4 1/3/4 2/3/4"},
		{m(5, 3, 1), "1/0/0 1/1/0 2/1/0 2/1/1 2/2/1 3/2/1 4/2/1 4/3/1 5/3/1"},
		{m(1, 1, 8), "0/0/1 0/0/2 0/0/3 0/0/4 1/0/4 1/1/4 1/1/5 1/1/6 1/1/7"},
		{m(100, 1, 1), "1/0/0 2/0/0 3/0/0 4/0/0 5/0/0 6/0/0 7/0/0 8/0/0 9/0/0"},
		{m(3, 3, 1), "1/0/0 1/1/0 1/1/1 2/1/1 2/2/1 3/2/1 3/3/1 4/3/1 4/4/1"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.weights), func(t *testing.T) {
			var got []string
			for n := range int64(9) {
				s := Divide(n+1, tt.weights)
				got = append(got, fmt.Sprintf("%d/%d/%d", s[0].Seats, s[1].Seats, s[2].Seats))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("Divide (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDivideLarge(t *testing.T) {
	weights := m(1<<62, 1<<62, 1)
	if got, want := seats(Divide(1<<31-1, weights)), "m1:1073741824 m2:1073741823 m3:0"; got != want {
		t.Errorf("weights that are capped: got %s, want %s", got, want)
	}
	if got, want := seats(Divide(1<<31-1, m(1, 1), Seats{"m1", 1 << 31})), "m1:2147483648 m2:2147483647"; got != want {
		t.Errorf("a party far ahead: got %s, want %s", got, want)
	}
}

// oneByOne gives out seats as the definition says, one at a time.
func oneByOne(total int64, parties []party) []int64 {
	got := make([]int64, len(parties))
	for i, p := range parties {
		got[i] = p.seats
	}
	before := func(i, j int) bool {
		quotient := func(i int) *big.Rat { return big.NewRat(parties[i].weight, 2*got[i]+1) }
		if c := quotient(i).Cmp(quotient(j)); c != 0 {
			return c > 0
		}
		return got[i] < got[j]
	}
	for range total {
		next := -1
		for i, p := range parties {
			if p.weight > 0 && (next < 0 || before(i, next)) {
				next = i
			}
		}
		if next < 0 {
			return got
		}
		got[next]++
	}
	return got
}

func FuzzDivide(f *testing.F) {
	f.Add(uint16(9), []byte{1, 2, 3}, []byte{})
	f.Add(uint16(300), []byte{200, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []byte{0, 3})
	f.Add(uint16(40), []byte{5, 5, 5, 0, 9}, []byte{90, 0, 0, 4})
	f.Add(uint16(1), []byte{0, 0}, []byte{1})
	f.Fuzz(func(t *testing.T, total uint16, weights, initial []byte) {
		if len(weights) > 40 || total > 600 {
			return
		}
		parties := make([]party, len(weights))
		var ws []Weight
		var first []Seats
		for i, w := range weights {
			name := fmt.Sprintf("c%02d", i)
			parties[i].weight = int64(w)
			ws = append(ws, Weight{name, int64(w)})
			if i < len(initial) {
				parties[i].seats = int64(initial[i])
				first = append(first, Seats{name, int64(initial[i])})
			}
		}
		got := Divide(int64(total), ws, first...)
		var given int64
		for _, s := range got {
			given += s.Seats
		}
		for _, s := range first {
			given -= s.Seats
		}
		if slices.Max(append(weights, 0)) == 0 {
			if given != 0 {
				t.Errorf("gave %d seats, want none without a weight", given)
			}
			return
		}
		if given != int64(total) {
			t.Errorf("gave %d seats, want %d", given, total)
		}
		for i, want := range oneByOne(int64(total), parties) {
			if got[i].Seats != want {
				t.Fatalf("Divide(%d, %v, %v) = %v; one by one %s has %d", total, ws, first, got, got[i].Name, want)
			}
		}
		slices.Reverse(ws)
		slices.Reverse(first)
		if diff := cmp.Diff(got, Divide(int64(total), ws, first...)); diff != "" {
			t.Errorf("the order of the input matters:\n%s", diff)
		}
	})
}
