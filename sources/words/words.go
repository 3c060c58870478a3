// Package words puts lists and counts into sentences, in the same way in every message.
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

// Count counts things by the name of one of them: "1 object", "2 objects".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
