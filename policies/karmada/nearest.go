package karmada

import (
	"strconv"

	"github.com/waybill-dev/waybill/sources/words"
)

// meant is a hint with the candidate that was probably meant, or empty.
func meant(word string, candidates []string) string {
	if n := words.Nearest(word, candidates); n != "" {
		return "did you mean " + strconv.Quote(n) + "?"
	}
	return ""
}
