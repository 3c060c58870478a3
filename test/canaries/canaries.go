// Package canaries puts values that nobody may see into every place where Waybill meets one, and
// looks for them in all that it says and writes: as they are, and as programs encode them.
package canaries

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Seen lists which values a text has, by their names, and how: in any case, as they are, or as
// programs encode them.
func Seen(text []byte, values map[string]string) (found []string) {
	lower := bytes.ToLower(text)
	for name, value := range values {
		for how, guise := range guises(value) {
			if bytes.Contains(lower, bytes.ToLower([]byte(guise))) {
				found = append(found, name+", "+how)
			}
		}
	}
	slices.Sort(found)
	return found
}

// guises are what a value looks like as programs write it. What base64 makes of a text depends on
// how much comes before it, so that only what is the same whatever follows is looked for.
func guises(value string) map[string]string {
	all := map[string]string{"as it is": value, "in hex": hex.EncodeToString([]byte(value)), "reversed": reversed(value), "percent-encoded": percent(value)}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
		all[fmt.Sprintf("in base64, %d bytes after its beginning", before)] = text[4 : len(text)-4]
	}
	return all
}

func reversed(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}
