package markdown

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/sources/words"
)

// maxSpan is how many bytes of a text stand in a line.
const maxSpan = 300

// span is a text as a code span, of one line.
func span(text string) string {
	text = strings.ReplaceAll(words.Printable(text), "\t", " ")
	if len(text) > maxSpan {
		text = upTo(text, maxSpan) + "…"
	}
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	ticks := strings.Repeat("`", longestRun(text)+1)
	return ticks + " " + text + " " + ticks
}

// cell is a span in a table, where a bar would begin the next cell.
func cell(text string) string { return strings.ReplaceAll(span(text), "|", `\|`) }

// names lists the first names.
func names(all []string) string {
	var spans []string
	for _, name := range all[:min(maxNames, len(all))] {
		spans = append(spans, span(name))
	}
	text := strings.Join(spans, ", ")
	if n := len(all) - maxNames; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// fence is a text in a fence that nothing in the text can end.
func fence(language, text string) string {
	ticks := strings.Repeat("`", max(3, longestRun(text)+1))
	return ticks + language + "\n" + strings.TrimRight(text, "\n") + "\n" + ticks + "\n"
}

// longestRun is the length of the longest run of backticks.
func longestRun(text string) (longest int) {
	run := 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// cutAt cuts a text of lines.
func cutAt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	kept := upTo(text, most)
	kept = kept[:strings.LastIndexByte(kept, '\n')+1]
	return kept + fmt.Sprintf("# and %s\n", words.Count(strings.Count(text[len(kept):], "\n"), "more line"))
}

// upTo returns the beginning of a text, in whole characters.
func upTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
