package report

import (
	"fmt"
	"io"
	"regexp"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// fewAlike is how many diagnostics that say the same of several objects are written each.
const fewAlike = 3

// mentioned is an object in a message, as Kind.group/namespace/name, or a place in a file.
var mentioned = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)?(/[\w.:-]+){1,2}|\S+\.(ya?ml|json)(:\d+)?`)

// writeAlike writes diagnostics. Of more than a few that say the same of different objects it
// writes the first, and where the others are.
func writeAlike(w io.Writer, ds []diag.Diagnostic, few int, p paint) {
	of := make([]diag.Diagnostic, len(ds))  // what each says, of no object and nowhere
	alike := map[diag.Diagnostic][]string{} // places by that
	for i, d := range ds {
		of[i] = said(d)
		alike[of[i]] = append(alike[of[i]], d.Pos.String())
	}
	written := map[diag.Diagnostic]bool{}
	for i, d := range ds {
		of := of[i]
		if places := alike[of]; len(places) <= few {
			fmt.Fprintln(w, p.severity(d.String(), d.Severity))
		} else if !written[of] {
			fmt.Fprintln(w, p.severity(d.String(), d.Severity))
			fmt.Fprintf(w, "\tand the same %d times more, at %s\n", len(places)-1, words.List(counted(places[1:])))
			written[of] = true
		}
	}
}

// counted lists places once each, with how often they are there if that is several times.
func counted(places []string) (each []string) {
	times := map[string]int{}
	for _, p := range places {
		if times[p]++; times[p] == 1 {
			each = append(each, p)
		}
	}
	for i, p := range each {
		if n := times[p]; n > 1 {
			each[i] = fmt.Sprintf("%s (%d)", p, n)
		}
	}
	return each
}

// said is what a diagnostic says, without of which object and where.
func said(d diag.Diagnostic) diag.Diagnostic {
	d.Pos, d.Message = diag.Pos{}, mentioned.ReplaceAllString(d.Message, "")
	return d
}
