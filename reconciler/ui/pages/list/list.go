// Package list has lists be in the order that an address asks for: columns by which things are sorted, and heads that lead to the
// other orders.
package list

import (
	"cmp"
	"net/url"
	"slices"
)

// SortParam is the parameter of an address that says by which column a list is sorted, with a minus sign before it for the other order.
const SortParam = "sort"

// Head is the head of a column: what it is called, and the address that sorts the list by it.
type Head struct {
	Name  string
	Class string // of the cells; empty for texts
	URL   string // empty for a column by which nobody sorts
	// Sorted is how the list is sorted by it, ascending or descending; empty for not.
	Sorted string
}

// Sign shows how a list is sorted by the column.
func (h Head) Sign() string {
	return map[string]string{"ascending": "▲", "descending": "▼"}[h.Sorted]
}

// Column is one of a list of things.
type Column[T any] struct {
	name, key string
	isNumber  bool // the largest are first at the first choice
	compare   func(a, b T) int
}

// Fixed is a column by which nobody sorts.
func Fixed[T any](name string) Column[T] { return Column[T]{name: name} }

// By sorts as a function compares.
func By[T any](name, key string, compare func(a, b T) int) Column[T] {
	return Column[T]{name: name, key: key, compare: compare}
}

// ByText sorts by what a function says of things.
func ByText[T any](name, key string, of func(T) string) Column[T] {
	return By(name, key, func(a, b T) int { return cmp.Compare(of(a), of(b)) })
}

// ByRank sorts by the ranks of things, the first first.
func ByRank[T any](name, key string, of func(T) int) Column[T] {
	return By(name, key, func(a, b T) int { return cmp.Compare(of(a), of(b)) })
}

// ByNumber sorts by what a function counts of things, the largest first, and is shown as numbers are.
func ByNumber[T any](name, key string, of func(T) int) Column[T] {
	c := ByRank(name, key, of)
	c.isNumber = true
	return c
}

// Sort sorts a list as its address says, and returns the heads of its columns. A list that says nothing keeps its order, which is
// what needs somebody first. A head leads to its order, then to the other one, and then to the first again.
func Sort[T any](all []T, columns []Column[T], path string, q url.Values) []Head {
	heads := make([]Head, 0, len(columns))
	for _, c := range columns {
		h := Head{Name: c.name}
		if c.isNumber {
			h.Class = "n"
		}
		if c.compare != nil {
			h.URL, h.Sorted = c.leads(path, q)
		}
		switch h.Sorted {
		case "ascending":
			slices.SortStableFunc(all, c.compare)
		case "descending":
			slices.SortStableFunc(all, func(a, b T) int { return c.compare(b, a) })
		}
		heads = append(heads, h)
	}
	return heads
}

// leads says how a list is sorted by a column, and where its head leads.
func (c *Column[T]) leads(path string, q url.Values) (to, sorted string) {
	first, second := c.key, "-"+c.key
	orders := map[string]string{first: "ascending", second: "descending"}
	if c.isNumber {
		first, second = second, first
	}
	next := map[string]string{first: second, second: ""}
	by := q.Get(SortParam)
	to, isSorted := next[by]
	if !isSorted {
		to = first
	}
	return With(path, q, SortParam, to, PageParam, ""), orders[by]
}

// With is an address with parameters set to other values; empty is without.
func With(path string, q url.Values, pairs ...string) string {
	out := url.Values{}
	for key, values := range q {
		if len(values) > 0 && values[0] != "" {
			out.Set(key, values[0])
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out.Del(pairs[i])
		if pairs[i+1] != "" {
			out.Set(pairs[i], pairs[i+1])
		}
	}
	if len(out) == 0 {
		return path
	}
	return path + "?" + out.Encode()
}
