package groups

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// model is what a set, or groups, should be, as a map.
type model map[int]string

func (m model) where(is func(string) bool) []int {
	var all []int
	for _, c := range slices.Sorted(maps.Keys(m)) {
		if is(m[c]) {
			all = append(all, c)
		}
	}
	return all
}

// drawn are clusters below a bound, of which a few words are not touched.
func drawn(r *rand.Rand, most int) []int {
	var all []int
	for range r.IntN(12) {
		all = append(all, r.IntN(most))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSets holds operations on sets to those on lists.
func TestSets(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		a, b := drawn(r, 1+r.IntN(300)), drawn(r, 1+r.IntN(300))
		in := func(list []int) func(int) bool { return func(c int) bool { return slices.Contains(list, c) } }
		and := slices.DeleteFunc(slices.Clone(a), func(c int) bool { return !in(b)(c) })
		without := slices.DeleteFunc(slices.Clone(a), in(b))
		or := slices.Concat(a, b)
		slices.Sort(or)
		or = slices.Compact(or)
		for name, got := range map[string]struct {
			is   Set
			want []int
		}{
			"of": {Of(a...), a}, "where": {Where(300, in(a)), a}, "first": {First(len(a)).And(Of(a...)), Collect(slices.Values(a)).And(First(len(a))).list()},
			"and": {Of(a...).And(Of(b...)), and}, "or": {Of(a...).Or(Of(b...)), or}, "without": {Of(a...).Without(Of(b...)), without},
		} {
			if !slices.Equal(got.is.list(), got.want) || got.is.Len() != len(got.want) || got.is.IsEmpty() != (len(got.want) == 0) {
				t.Fatalf("seed %d: %s of %v and %v is %v, want %v", seed, name, a, b, got.is.list(), got.want)
			}
			if again := Of(got.want...); !got.is.Equal(again) || got.is.String() != again.String() {
				t.Fatalf("seed %d: %s of %v and %v is %q, and one with the same clusters %q", seed, name, a, b, got.is, again)
			}
			for c := range 310 {
				if got.is.Has(c) != slices.Contains(got.want, c) {
					t.Fatalf("seed %d: %s of %v and %v has %d: %t", seed, name, a, b, c, got.is.Has(c))
				}
			}
		}
	}
}

func (s Set) list() []int { return slices.Collect(s.All()) }

// TestGroups holds groups to a map of what holds of clusters.
func TestGroups(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		values := []string{"", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}[:1+r.IntN(12)]
		m := model{}
		for range r.IntN(40) {
			m[r.IntN(200)] = values[r.IntN(len(values))]
		}
		by := Each(slices.Values(slices.Sorted(maps.Keys(m))), func(c int) (string, bool) { return m[c], true })
		check(t, seed, by, m)
		for range 5 {
			v, clusters := values[r.IntN(len(values))], drawn(r, 200)
			before, was := fmt.Sprint(by), by
			if r.IntN(2) == 0 {
				by = by.With(v, Of(clusters...))
				for _, c := range clusters {
					m[c] = v
				}
			} else {
				by = by.Without(Of(clusters...))
				maps.DeleteFunc(m, func(c int, _ string) bool { return slices.Contains(clusters, c) })
			}
			if check(t, seed, by, m); fmt.Sprint(was) != before {
				t.Fatalf("seed %d: groups were changed that somebody has", seed)
			}
		}
		other := Each(slices.Values(drawn(r, 200)), func(c int) (int, bool) { return c % 3, c%5 > 0 })
		joined := Join(by, other, func(v string, n int, known bool) string { return fmt.Sprint(v, n, known) })
		want := model{}
		for c, v := range m {
			n, known := other.At(c)
			want[c] = fmt.Sprint(v, n, known)
		}
		check(t, seed, joined, want)
	}
}

func check(t *testing.T, seed uint64, by By[string], m model) {
	t.Helper()
	if got, want := maps.Collect(by.All()), map[int]string(m); !maps.Equal(got, want) {
		t.Fatalf("seed %d: the groups are %v, want %v", seed, got, want)
	}
	if got := by.Clusters().list(); !slices.Equal(got, m.where(func(string) bool { return true })) {
		t.Fatalf("seed %d: clusters are %v of %v", seed, got, m)
	}
	first := -1
	for _, g := range by {
		if got := g.Clusters.list(); !slices.Equal(got, m.where(func(v string) bool { return v == g.Is })) || got[0] < first {
			t.Fatalf("seed %d: %q is of %v, of %v", seed, g.Is, got, m)
		}
		first = g.Clusters.list()[0]
	}
	for c := range 201 {
		if v, known := by.At(c); v != m[c] || known != slices.Contains(slices.Collect(maps.Keys(m)), c) {
			t.Fatalf("seed %d: %q holds of %d, want %q", seed, v, c, m[c])
		}
	}
	last := -1
	for c := range by.All() {
		if c <= last {
			t.Fatalf("seed %d: %d comes after %d", seed, c, last)
		}
		last = c
	}
}
