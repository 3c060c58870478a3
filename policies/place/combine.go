package place

import (
	"cmp"
	"slices"
)

// option is a bucket as the search for a combination sees it. The position of an
// option in its slice stands for its name.
type option struct {
	clusters int // at least 1
	score    int64
}

// combine returns the options that Karmada's search chooses, best score first, or
// nil where no combination will do: between b.min and b.max of them, with at
// least need clusters in all. See "Choosing regions" in the package comment.
func combine(options []option, b bounds, need int) []int {
	most := min(b.max, len(options))
	if most < b.min || reach(options, most) < need {
		return nil
	}
	sorted := searchOrder(options)
	var found []int
	switch {
	case need <= b.min: // any b.min options have enough clusters
		found = byMerit(options, sorted)[:b.min]
	case len(options)*(most+1)*(need+1) <= maxStates:
		found = search{options, sorted, bounds{b.min, most}, need}.best()
	default:
		found = grab(options, byMerit(options, sorted), bounds{b.min, most}, need)
	}
	return shorten(options, found, b.min, need)
}

// maxStates bounds the table of a search to some 4 MB and 20 ms. Karmada, which
// lists every combination, gives up long before: 50 regions, of which all may be
// chosen, with 1,600 clusters in all still fit.
const maxStates = 1 << 22

// reach is the number of clusters of the count largest options.
func reach(options []option, count int) int {
	sizes := make([]int, len(options))
	for i, o := range options {
		sizes[i] = o.clusters
	}
	slices.Sort(sizes)
	total := 0
	for _, n := range sizes[len(sizes)-count:] {
		total += n
	}
	return total
}

// searchOrder is the order in which Karmada walks through the options: fewer
// clusters first, then higher score, then name.
func searchOrder(options []option) []int {
	order := positions(len(options))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(options[a].clusters, options[b].clusters), cmp.Compare(options[b].score, options[a].score))
	})
	return order
}

// byMerit is the order in which single options are preferred.
func byMerit(options []option, sorted []int) []int {
	order := slices.Clone(sorted)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(options[b].score, options[a].score), cmp.Compare(options[b].clusters, options[a].clusters))
	})
	return order
}

func positions(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// search finds by dynamic programming what listing every combination would find.
type search struct {
	options []option
	sorted  []int // the search order
	bounds  bounds
	need    int
}

// worth is what combinations are compared by. A negative score means that there
// is no combination.
type worth struct{ score, clusters int64 }

func (w worth) less(v worth) bool {
	return w.score < v.score || w.score == v.score && w.clusters < v.clusters
}

// best returns the best combination. The state is (options behind us, options
// taken, clusters taken, at most need); the walk ends as soon as enough of both
// are taken. Where taking the next option is worth as much as passing it over, it
// is taken: that combination is listed earlier.
func (s search) best() []int {
	width := s.need + 1
	layer := (s.bounds.max + 1) * width
	ahead := make([]worth, layer)
	for state := range ahead {
		if !s.done(state/width, state%width) {
			ahead[state].score = -1
		}
	}
	take := make([]bool, len(s.sorted)*layer)
	for t, i := range slices.Backward(s.sorted) {
		s.round(s.options[i], min(t+1, s.bounds.max), ahead, take[t*layer:])
	}
	return s.walk(take, layer)
}

// round looks at one option from every state with fewer than most taken: ahead,
// what was best without it, becomes what is best with it or without.
func (s search) round(o option, most int, ahead []worth, take []bool) {
	width := s.need + 1
	// Ascending in taken, a state reads only what this round has not written.
	for taken := range most {
		for clusters := range width {
			if s.done(taken, clusters) {
				continue
			}
			state := taken*width + clusters
			with := ahead[(taken+1)*width+min(clusters+o.clusters, s.need)]
			if with.score < 0 {
				continue
			}
			with.score += o.score
			with.clusters += int64(o.clusters)
			if !with.less(ahead[state]) {
				ahead[state] = with
				take[state] = true
			}
		}
	}
}

// walk follows the decisions from the start.
func (s search) walk(take []bool, layer int) []int {
	var found []int
	clusters := 0
	for t, i := range s.sorted {
		if s.done(len(found), clusters) {
			break
		}
		if take[t*layer+len(found)*(s.need+1)+clusters] {
			found = append(found, i)
			clusters = min(clusters+s.options[i].clusters, s.need)
		}
	}
	return found
}

// done reports whether a combination is complete, and so not extended.
func (s search) done(taken, clusters int) bool {
	return taken >= s.bounds.min && clusters >= s.need
}

// shorten orders a combination best score first, and gives way to the shortest
// beginning of it that will do.
func shorten(options []option, found []int, least, need int) []int {
	slices.SortFunc(found, func(a, b int) int {
		return cmp.Or(cmp.Compare(options[b].score, options[a].score), cmp.Compare(a, b))
	})
	clusters := 0
	for n, i := range found {
		if clusters += options[i].clusters; n+1 >= least && clusters >= need {
			return found[:n+1]
		}
	}
	return found
}

// grab is the choice where a search would be too large: the best options until
// they have enough clusters, and once no more may be taken, the largest of the
// others for the smallest of those. The caller has seen that enough can be had.
func grab(options []option, merit []int, b bounds, need int) []int {
	total, count := 0, 0
	for count < b.min || total < need && count < b.max {
		total += options[merit[count]].clusters
		count++
	}
	found, rest := slices.Clone(merit[:count]), slices.Clone(merit[count:])
	smaller := func(a, b int) int { return cmp.Compare(options[a].clusters, options[b].clusters) }
	slices.SortStableFunc(found, smaller)
	slices.SortStableFunc(rest, func(a, b int) int { return smaller(b, a) })
	for i := 0; total < need; i++ {
		total += options[rest[i]].clusters - options[found[i]].clusters
		found[i] = rest[i]
	}
	return found
}
