// Package words puts lists and counts into sentences, in the same way in every message, and
// tells which word somebody may have meant.
package words

import (
	"fmt"
	"strconv"
	"strings"
)

// List lists the first three names, and says how many more there are.
func List(names []string) string { return First(names, 3) }

// First lists the first names, at most so many, and says how many more there are.
func First(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Short is a text for a message: no more than its first 120 characters.
func Short(text string) string {
	const most = 120
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}

// Count counts things by the name of one of them: "1 object", "2 objects".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Distance counts the letters, as bytes, to insert, delete or change to turn a into b.
func Distance(a, b string) int {
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
	return row[len(b)]
}

// Nearest returns the candidate that fewest typing errors turn into word, without
// regard to case, or nothing when even that one is far: more than a third of the
// letters. The first of equals wins.
func Nearest(word string, candidates []string) string {
	best, bound := "", len(word)/3+1
	for _, c := range candidates {
		if gap := len(word) - len(c); gap >= bound || -gap >= bound {
			continue
		}
		if d := Distance(strings.ToLower(word), strings.ToLower(c)); d < bound {
			best, bound = c, d
		}
	}
	return best
}

// Meant asks whether somebody meant the candidate that is Nearest to a word; where none is, it says otherwise.
func Meant(word string, candidates []string, otherwise string) string {
	if near := Nearest(word, candidates); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return otherwise
}
