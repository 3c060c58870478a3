// Package groups has clusters in groups: those of which the same holds. Most of a fleet is alike, so that what is asked of every
// cluster is asked once a group. Clusters are known by their indices. Sets and groups are values, which nobody changes.
package groups

import (
	"iter"
	"math/bits"
	"slices"
	"strconv"
)

// Set is a set of clusters. The zero value is empty.
type Set struct {
	words []uint64 // a bit a cluster; the last word is not zero
}

const wordSize = 64

// Of is the set of some clusters.
func Of(clusters ...int) Set { return Collect(slices.Values(clusters)) }

// Collect is the set of some clusters, in any order.
func Collect(clusters iter.Seq[int]) (s Set) {
	for c := range clusters {
		s.words = with(s.words, c)
	}
	return s
}

// First is the set of the first n clusters.
func First(n int) Set { return Where(n, func(int) bool { return true }) }

// Where is the set of those of the first n clusters of which something is true.
func Where(n int, is func(cluster int) bool) (s Set) {
	for c := range n {
		if is(c) {
			s.words = with(s.words, c)
		}
	}
	return s
}

// with are the words of a set that nobody has yet, with one more cluster.
func with(words []uint64, cluster int) []uint64 {
	for len(words) <= cluster/wordSize {
		words = append(words, 0)
	}
	words[cluster/wordSize] |= 1 << (cluster % wordSize)
	return words
}

// trimmed is the set of words, without those at the end that are zero.
func trimmed(words []uint64) Set {
	n := len(words)
	for n > 0 && words[n-1] == 0 {
		n--
	}
	return Set{words[:n:n]}
}

// Has reports whether a cluster is in it.
func (s Set) Has(cluster int) bool {
	return cluster/wordSize < len(s.words) && s.words[cluster/wordSize]&(1<<(cluster%wordSize)) != 0
}

// IsEmpty reports that no cluster is in it.
func (s Set) IsEmpty() bool { return len(s.words) == 0 }

// Equal reports that two have the same clusters.
func (s Set) Equal(o Set) bool { return slices.Equal(s.words, o.words) }

// Len is how many clusters are in it.
func (s Set) Len() (n int) {
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// All are the clusters, in their order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n, w := range s.words {
			for ; w != 0; w &= w - 1 {
				if !yield(n*wordSize + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// And are the clusters that both have.
func (s Set) And(o Set) Set {
	words := slices.Clone(s.words[:min(len(s.words), len(o.words))])
	for n := range words {
		words[n] &= o.words[n]
	}
	return trimmed(words)
}

// Or are the clusters that one of both has.
func (s Set) Or(o Set) Set {
	if len(s.words) < len(o.words) {
		s, o = o, s
	}
	if len(o.words) == 0 {
		return s
	}
	words := slices.Clone(s.words)
	for n, w := range o.words {
		words[n] |= w
	}
	return Set{words}
}

// Without are the clusters that only the first has.
func (s Set) Without(o Set) Set {
	if len(s.words) == 0 || len(o.words) == 0 {
		return s
	}
	words := slices.Clone(s.words)
	for n := range min(len(words), len(o.words)) {
		words[n] &^= o.words[n]
	}
	return trimmed(words)
}

// String tells sets apart.
func (s Set) String() string {
	text := make([]byte, 0, wordSize/4*len(s.words))
	for _, w := range s.words {
		text = strconv.AppendUint(append(text, '.'), w, 16)
	}
	return string(text)
}

// first is the first cluster of a set that is not empty.
func (s Set) first() int {
	n := slices.IndexFunc(s.words, func(w uint64) bool { return w != 0 })
	return n*wordSize + bits.TrailingZeros64(s.words[n])
}
