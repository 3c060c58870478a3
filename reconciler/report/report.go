// Package report writes what the commands print: for people as tables and text, and for
// programs as JSON, YAML, JUnit or SARIF. It takes values that others decided and gives
// bytes, and decides and reads nothing itself. Every command of cmd/waybill that prints a
// result has one function here, which makes a Report of it.
//
// What a change does to the clusters is a value of package preview, in which no value of a
// Secret stands any more. This package says how a terminal shows it; whatever shows it
// elsewhere, as a comment on a pull request, takes the same value.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// Format is how a report is written.
type Format string

// The formats. Every report can be a table, which is what people read, JSON or YAML; some
// can be more.
const (
	Table Format = "table"
	JSON  Format = "json"
	YAML  Format = "yaml"
	Wide  Format = "wide"
	JUnit Format = "junit"
	SARIF Format = "sarif"
	// Text, Markdown and HTML are those of a comparison.
	Text     Format = "text"
	Markdown Format = "markdown"
	HTML     Format = "html"
)

// Report is something to print. It is made by the functions of this package.
type Report struct {
	value any                               // for programs
	text  func(w io.Writer) error           // for people
	wide  func(w io.Writer) error           // for people with room; nil for none
	forms map[Format]func() ([]byte, error) // that only this report has; nil for none
}

// Write writes the report in a format. One that the report does not have is a table.
func (r Report) Write(w io.Writer, as Format) error {
	var data []byte
	var err error
	form, own := r.forms[as]
	switch {
	case own:
		data, err = form()
	case as == Wide && r.wide != nil:
		return r.wide(w)
	case as == JSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r.value)
	case as == YAML:
		data, err = sigsyaml.Marshal(r.value)
	default:
		return r.text(w)
	}
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// Look is how reports are shown to people.
type Look struct {
	Colour bool // the terminal has colours
	Stat   bool // of a comparison: a line a change
	Room   int  // of a comparison: bytes that its changes take at most as text; 1 MiB if 0
	Quiet  bool // of diagnostics: errors only
	All    bool // of diagnostics: each is written, though others say the same
}

// Diagnostics writes diagnostics, one a line or two, and how many there are.
func Diagnostics(w io.Writer, ds []diag.Diagnostic, look Look) {
	counts, shown := map[diag.Severity]int{}, make([]diag.Diagnostic, 0, len(ds))
	for _, d := range ds {
		counts[d.Severity]++
		if !look.Quiet || d.Severity == diag.Error {
			shown = append(shown, d)
		}
	}
	few := fewAlike
	if look.All {
		few = len(shown)
	}
	writeAlike(w, shown, few, paint(look.Colour))
	if len(shown) > 0 && !look.Quiet {
		fmt.Fprintf(w, "%s, %s, %s\n", words.Count(counts[diag.Error], "error"), words.Count(counts[diag.Warning], "warning"), words.Count(counts[diag.Notice], "notice"))
	}
}

// Error is how an error is shown that ends a command.
func Error(err error, colour bool) string {
	return paint(colour).severity("error: "+err.Error(), diag.Error)
}

// table is a report that people read as an aligned table.
func table(value any, head []string, rows [][]string) Report {
	return Report{value: value, text: func(w io.Writer) error { return columns(w, head, rows) }}
}

// columns writes rows as an aligned table.
func columns(w io.Writer, head []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	return t.Flush()
}
