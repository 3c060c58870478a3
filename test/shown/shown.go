// Package shown has what pages say, for tests that read it as people do.
package shown

import "strings"

// Words is a page without its tags, each run of spaces as one.
func Words(page string) string {
	var b strings.Builder
	for len(page) > 0 {
		before, rest, _ := strings.Cut(page, "<")
		_, page, _ = strings.Cut(rest, ">")
		b.WriteString(before + " ")
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
