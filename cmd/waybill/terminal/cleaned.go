package terminal

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/reconciler/report"
)

// Cleaned returns a writer to w for everything that is printed but what kubectl's commands bring of containers. What
// clusters, sources and servers say may have characters that command a terminal: they are written as \x1b, so that they
// are seen and do nothing, also where a terminal reads single bytes. Our own colours pass where the terminal has colours.
// A text is written whole: no colour or character begins in one and ends in the next.
func Cleaned(w io.Writer) io.Writer { return cleaned{w} }

type cleaned struct{ out io.Writer }

// Write implements io.Writer.
func (c cleaned) Write(text []byte) (int, error) {
	if utf8.Valid(text) && !bytes.ContainsFunc(text, isCommand) {
		return c.out.Write(text)
	}
	var clean bytes.Buffer
	colours := HasColours(c.out)
	for rest := text; len(rest) > 0; {
		if n := report.Colour(rest); n > 0 && colours {
			clean.Write(rest[:n])
			rest = rest[n:]
			continue
		}
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			r = rune(rest[0]) // as a terminal of eight bits reads it
		}
		if isCommand(r) {
			fmt.Fprintf(&clean, `\x%02x`, r)
		} else {
			clean.Write(rest[:n])
		}
		rest = rest[n:]
	}
	if _, err := c.out.Write(clean.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// isCommand reports a character of C0 or C1 that is no tab and ends no line.
func isCommand(r rune) bool {
	const del, lastC1 = 0x7f, 0x9f
	return r < ' ' && r != '\n' && r != '\t' || r >= del && r <= lastC1
}

// Uncleaned is where what a writer cleans goes.
func Uncleaned(w io.Writer) io.Writer {
	if c, ok := w.(cleaned); ok {
		return c.out
	}
	return w
}
