package fields

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// lists compares two lists: item by item as they are matched.
func (d *differ) lists(at place, from, to []any) {
	if at.secret {
		if !reflect.DeepEqual(from, to) {
			d.note(at, Replace, from, to)
		}
		return
	}
	if key := matchedBy(at.keys, from, to); key != nil {
		d.matched(at, key, from, to)
		return
	}
	d.aligned(at, from, to)
}

// names are what items are matched by where Kubernetes does not say, or says what does not tell
// them apart, as the port alone does not if it is open for TCP and UDP.
var names = []string{"name", "key", "id"}

// matchedBy returns the keys that tell all items of both lists apart; nil if nothing does.
func matchedBy(known []string, from, to []any) []string {
	var tries [][]string
	for _, key := range known {
		tries = append(tries, []string{key}, []string{key, "protocol"})
	}
	for _, key := range names {
		tries = append(tries, []string{key})
	}
	i := slices.IndexFunc(tries, func(key []string) bool { return tellsApart(key, from) && tellsApart(key, to) })
	if i < 0 || len(from)+len(to) == 0 {
		return nil
	}
	return tries[i]
}

func tellsApart(key []string, items []any) bool {
	seen := map[string]bool{}
	for _, item := range items {
		id, ok := idOf(key, item)
		if !ok || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// idOf returns the values of an item that it is matched by; false if the first one is not there.
func idOf(key []string, item any) (string, bool) {
	m, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	var ids []string
	for i, k := range key {
		switch v := m[k].(type) {
		case string, int64, float64, bool:
			ids = append(ids, fmt.Sprint(v))
		default:
			if i == 0 {
				return "", false
			}
		}
	}
	return strings.Join(ids, "/"), true
}

// matched compares lists whose items have keys.
func (d *differ) matched(at place, key []string, from, to []any) {
	index := func(items []any) (ids []string, byID map[string]int) {
		byID = map[string]int{}
		for i, item := range items {
			id, _ := idOf(key, item)
			ids, byID[id] = append(ids, id), i
		}
		return ids, byID
	}
	before, was := index(from)
	after, is := index(to)
	for i, id := range before {
		if j, stays := is[id]; stays {
			d.values(at.match(j, key, id), from[i], to[j])
		} else {
			d.note(at.match(i, key, id), Remove, from[i], nil)
		}
	}
	for j, id := range after {
		if _, had := was[id]; !had {
			d.note(at.match(j, key, id), Add, nil, to[j])
		}
	}
	common := func(ids []string, in map[string]int) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := in[id]; return !ok })
	}
	if a, b := common(before, is), common(after, was); !slices.Equal(a, b) {
		d.note(at, Reorder, strings.Join(a, ", "), strings.Join(b, ", "))
	}
}

// aligned compares lists whose items have no keys: what is at the beginning and at the end of
// both is the same, and so is their longest common sequence in between.
func (d *differ) aligned(at place, from, to []any) {
	i, j := 0, 0
	for _, same := range common(from, to) {
		d.gap(at, from, to, [4]int{i, same[0], j, same[1]})
		i, j = same[0]+1, same[1]+1
	}
	d.gap(at, from, to, [4]int{i, len(from), j, len(to)})
}

// gap compares what is between two items that are the same: from[g[0]:g[1]] and to[g[2]:g[3]].
func (d *differ) gap(at place, from, to []any, g [4]int) {
	i, j := g[0], g[2]
	for ; i < g[1] && j < g[3]; i, j = i+1, j+1 {
		d.values(at.item(j), from[i], to[j])
	}
	for ; i < g[1]; i++ {
		d.note(at.item(i), Remove, from[i], nil)
	}
	for ; j < g[3]; j++ {
		d.note(at.item(j), Add, nil, to[j])
	}
}

// maxCells bounds the table by which a common sequence is found; what is longer is compared item by
// item.
const maxCells = 1 << 18

// common returns the indexes of a longest common sequence of two lists.
func common(from, to []any) (same [][2]int) {
	start := 0
	for start < len(from) && start < len(to) && reflect.DeepEqual(from[start], to[start]) {
		same = append(same, [2]int{start, start})
		start++
	}
	end := 0
	for end < len(from)-start && end < len(to)-start && reflect.DeepEqual(from[len(from)-1-end], to[len(to)-1-end]) {
		end++
	}
	a, b := from[start:len(from)-end], to[start:len(to)-end]
	if len(a) > 0 && len(b) > 0 && len(a)*len(b) <= maxCells {
		for _, at := range longest(a, b) {
			same = append(same, [2]int{start + at[0], start + at[1]})
		}
	}
	for ; end > 0; end-- {
		same = append(same, [2]int{len(from) - end, len(to) - end})
	}
	return same
}

// longest is the textbook's table of longest common sequences.
func longest(a, b []any) (same [][2]int) {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if reflect.DeepEqual(x, y) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case reflect.DeepEqual(a[i], b[j]):
			same = append(same, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return same
}

// lines is the unified difference of two texts, without its head.
func lines(from, to string) string {
	text := string(diff.Diff("before", []byte(from), "after", []byte(to)))
	if i := strings.Index(text, "\n@@"); i >= 0 {
		return text[i+1:]
	}
	return text
}
