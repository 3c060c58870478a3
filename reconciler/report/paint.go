package report

import (
	"bytes"
	"strings"

	"github.com/waybill-dev/waybill/render/diag"
)

// paint colours texts for a terminal that has colours.
type paint bool

// The escape sequences of ECMA-48.
const (
	plain   = "\x1b[0m"
	bold    = "\x1b[1m"
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	magenta = "\x1b[35m"
	cyan    = "\x1b[36m"
)

// Colour returns the length of the colour of ours that a text begins with; zero for none.
func Colour(text []byte) int {
	for _, colour := range []string{plain, bold, red, green, yellow, magenta, cyan} {
		if bytes.HasPrefix(text, []byte(colour)) {
			return len(colour)
		}
	}
	return 0
}

// mark colours a text by what it begins with.
func (p paint) mark(mark, text string) string {
	colour, ok := map[string]string{"+": green, "-": red, "~": yellow, ">": cyan, "@": cyan, "!": magenta}[mark]
	if !bool(p) || !ok {
		return text
	}
	return colour + strings.ReplaceAll(text, plain, plain+colour) + plain
}

// severity colours the word in a diagnostic that says how bad it is.
func (p paint) severity(text string, s diag.Severity) string {
	colour, ok := map[diag.Severity]string{diag.Error: red, diag.Warning: yellow, diag.Notice: cyan}[s]
	if !bool(p) || !ok {
		return text
	}
	word := s.String() + ":"
	return strings.Replace(text, word, bold+colour+word+plain, 1)
}

func (p paint) bold(text string) string {
	if !p {
		return text
	}
	return bold + text + plain
}
