package words

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable escapes what a terminal would obey, and what would show a text in another order or
// on another line than it stands. Tabs stay.
func Printable(text string) string {
	obeys := func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }
	if strings.IndexFunc(text, obeys) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if obeys(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
