package karmada

import (
	"strconv"
	"strings"
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
		if d := distance(strings.ToLower(word), strings.ToLower(c), bound); d < bound {
			best, bound = c, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or change to turn a into b. It
// returns bound where there are bound or more.
func distance(a, b string, bound int) int {
	if gap := len(a) - len(b); gap >= bound || -gap >= bound {
		return bound
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return min(row[len(b)], bound)
}
