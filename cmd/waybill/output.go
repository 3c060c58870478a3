package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/waybill-dev/waybill/render/diag"
)

// format is how a command prints: as a table for people, as json or yaml for
// programs, or in a form of its own.
type format struct {
	name  string
	known []string
}

func (f *format) String() string { return f.name }
func (*format) Type() string     { return "format" }

// Set takes a format that there is.
func (f *format) Set(s string) error {
	if !slices.Contains(f.known, s) {
		return fmt.Errorf("output format %q is not known; want %s", s, f.choice())
	}
	f.name = s
	return nil
}

// choice lists the formats that there are.
func (f *format) choice() string {
	last := len(f.known) - 1
	return strings.Join(f.known[:last], ", ") + " or " + f.known[last]
}

// outputFlag adds -o. The formats that a command has next to the usual ones are its own to
// write.
func outputFlag(cmd *cobra.Command, more ...string) *format {
	f := format{name: "table", known: append([]string{"table", "json", "yaml"}, more...)}
	cmd.Flags().VarP(&f, "output", "o", "output format: "+f.choice())
	return &f
}

// emit writes x in the format; table writes it for people.
func emit(w io.Writer, f format, x any, table func(io.Writer) error) error {
	switch f.name {
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(x)
	case "yaml":
		data, err := sigsyaml.Marshal(x)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	return table(w)
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

// complain writes diagnostics to stderr and sums them up; failed says whether any
// is an error.
func complain(w io.Writer, ds []diag.Diagnostic) (failed bool) {
	counts := map[diag.Severity]int{}
	for _, d := range ds {
		fmt.Fprintln(w, d)
		counts[d.Severity]++
	}
	if len(ds) > 0 {
		fmt.Fprintf(w, "%d errors, %d warnings, %d notices\n", counts[diag.Error], counts[diag.Warning], counts[diag.Notice])
	}
	return counts[diag.Error] > 0
}

// short prints names so that a table fits a terminal.
func short(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ",")
	}
	return fmt.Sprintf("%s,+%d", strings.Join(names[:most], ","), len(names)-most)
}
