package draw

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// shortest is how many bytes a draw has at least that is hidden or masked: shorter ones
// are parts of words and numbers.
const shortest = 4

// Hide returns a text for people in which something else stands for what was drawn.
func Hide(text string, drawn []string) string {
	return replaced(text, drawn, func(string) string { return "[a draw]" })
}

// Mask returns a manifest in which other characters stand for those of what was drawn: 0
// for a digit, and x for any other but a hyphen. It stays a manifest of the same shape.
func Mask(manifest string, drawn []string) string {
	return replaced(manifest, drawn, func(text string) string { return strings.Map(masked, text) })
}

func masked(r rune) rune {
	switch {
	case unicode.IsDigit(r):
		return '0'
	case r == '-':
		return r
	}
	return 'x'
}

// replaced puts something in the place of what was drawn: as it is, as it is quoted, and
// in base64; the longest first, for one may be part of another.
func replaced(text string, drawn []string, by func(string) string) string {
	drawn = slices.DeleteFunc(slices.Clone(drawn), func(t string) bool { return len(t) < shortest })
	slices.SortFunc(drawn, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, t := range slices.Compact(drawn) {
		quoted, encoded := strconv.Quote(t), base64.StdEncoding.EncodeToString([]byte(t))
		pairs = append(pairs, encoded, by(encoded), t, by(t), quoted[1:len(quoted)-1], by(t))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
