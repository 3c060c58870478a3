package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/preview"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/diag"
)

func diffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff [BASE [HEAD]]", Short: "Show what a change does to every cluster", Args: cobra.MaximumNArgs(2),
		Long: `Diff plans two versions of the source and shows what appears, moves, scales,
changes and disappears, where, and why. BASE is HEAD if it is left out; HEAD is
the directory as it stands if it is left out.`,
	}
	path := cmd.Flags().StringP("source", "C", ".", "directory of the source")
	where := reportFlags(cmd)
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(*path)
		if err != nil {
			return failure(2, err)
		}
		base, head := "HEAD", ""
		if len(args) > 0 {
			base = args[0]
		}
		if len(args) > 1 {
			head = args[1]
		}
		r, s, err := w.compared(base, head)
		if err != nil {
			return failure(2, err)
		}
		c, err := r.Compare(cmd.Context(), base, s)
		if err != nil {
			return failure(2, err)
		}
		return showComparison(cmd, output, &c)
	}
	return cmd
}

// showComparison prints what changes, and ends with the status that tells whether anything
// does.
func showComparison(cmd *cobra.Command, as *format, c *preview.Comparison) error {
	if as.Format == report.Table {
		for _, d := range c.Diags {
			if d.Severity != diag.Notice {
				fmt.Fprintln(cmd.ErrOrStderr(), d)
			}
		}
	}
	err := show(cmd, as, report.Comparison(c))
	if n := c.Errors(); err == nil && n > 0 {
		err = fmt.Errorf("the source has errors (%d): what they are about stays as it was, so that it is not known what else would change", n)
	}
	if err == nil && !c.Empty() {
		return errSilent
	}
	return failure(2, err)
}
