package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/report"
)

// format is how a command prints: as a table for people, as json or yaml for
// programs, or in a form of its own.
type format struct {
	report.Format

	known []report.Format
}

func (f *format) String() string { return string(f.Format) }
func (*format) Type() string     { return "format" }

// Set takes a format that there is.
func (f *format) Set(s string) error {
	if !slices.Contains(f.known, report.Format(s)) {
		return fmt.Errorf("output format %q is not known; want %s", s, f.choice())
	}
	f.Format = report.Format(s)
	return nil
}

// choice lists the formats that there are.
func (f *format) choice() string {
	names := make([]string, len(f.known))
	for i, k := range f.known {
		names[i] = string(k)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// usualFormats are those of every list.
var usualFormats = []report.Format{report.Table, report.JSON, report.YAML}

// outputFlag adds -o, with the formats that a command has next to the usual ones.
func outputFlag(cmd *cobra.Command, more ...report.Format) *format {
	f := format{Format: report.Table, known: slices.Concat(usualFormats, more)}
	cmd.Flags().VarP(&f, "output", "o", "output format: "+f.choice())
	return &f
}

// show prints a report in the format that was asked for.
func show(cmd *cobra.Command, as *format, r report.Report) error {
	return r.Write(cmd.OutOrStdout(), as.Format)
}
