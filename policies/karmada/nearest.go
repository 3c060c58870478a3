package karmada

import (
	"strconv"
	"strings"

	"github.com/waybill-dev/waybill/sources/words"
)

// meant is a hint with the candidate that was probably meant, or empty.
func meant(word string, candidates []string) string {
	if n := nearest(word, candidates); n != "" {
		return "did you mean " + strconv.Quote(n) + "?"
	}
	return ""
}

// nearest returns the candidate that fewest typing errors turn into word, without
// regard to case, or nothing when even that one is far: more than a third of the
// letters. The first of equals wins.
func nearest(word string, candidates []string) string {
	best, bound := "", len(word)/3+1
	for _, c := range candidates {
		if gap := len(word) - len(c); gap >= bound || -gap >= bound {
			continue
		}
		if d := words.Distance(strings.ToLower(word), strings.ToLower(c)); d < bound {
			best, bound = c, d
		}
	}
	return best
}
