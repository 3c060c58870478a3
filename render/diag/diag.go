// Package diag says what is wrong with what people wrote, and where: located
// data, not errors. A mistake of the user never stops the rest of a plan; a
// failure of ours is a Go error and has no place here.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Severity grades a diagnostic.
type Severity int

// The severities. Only an Error makes validate and render exit with 1.
const (
	Notice Severity = iota
	Warning
	Error
)

// String returns the severity in lower case, as it is printed.
func (s Severity) String() string {
	switch s {
	case Notice:
		return "notice"
	case Warning:
		return "warning"
	default:
		return "error"
	}
}

// MarshalText prints the severity by name in JSON and YAML.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText prints.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, known := range []Severity{Notice, Warning, Error} {
		if known.String() == string(text) {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("reading a severity: %q is none", text)
}

// Pos is a place in a source file. Line counts from 1; 0 means the whole file.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

// String returns file:line, as compilers print it.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Diagnostic is one finding. Message says what is wrong and with which value,
// Hint what to type next.
type Diagnostic struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Pos      Pos      `json:"pos"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
	// Examples is the part of Message that names clusters which stand for others like them; empty if none does. The same finding may
	// name others in a fleet of other clusters.
	Examples string `json:"-"`
}

// Said is Message without Examples.
func (d Diagnostic) Said() string {
	if d.Examples == "" {
		return d.Message
	}
	return strings.Replace(d.Message, d.Examples, "", 1)
}

// String returns "file:line: severity: message [code]", and the hint on a second
// line, indented.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.Pos.File != "" {
		b.WriteString(printable(d.Pos.String()) + ": ")
	}
	fmt.Fprintf(&b, "%s: %s [%s]", d.Severity, printable(d.Message), d.Code)
	if d.Hint != "" {
		b.WriteString("\n\thint: " + printable(d.Hint))
	}
	return b.String()
}

// printable escapes what a terminal would obey, and marks the lines after the first,
// so that no text of a stranger's passes for a line of ours.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString("\n\t| ")
		case r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// MayPass reports an error that may be gone the next time although nothing changed.
func (d Diagnostic) MayPass() bool {
	return d.Severity == Error && slices.Contains([]Code{ChartUnavailable, RenderFailed, StateUnreadable}, d.Code)
}

// Sort orders diagnostics by place, then severity (worst first), code and message,
// and drops exact repetitions.
func Sort(ds []Diagnostic) []Diagnostic {
	slices.SortFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Hint, b.Hint))
	})
	return slices.Compact(ds)
}

// HasErrors reports whether any diagnostic is an Error.
func HasErrors(ds []Diagnostic) bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}
