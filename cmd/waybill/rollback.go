package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/versions"
)

func rollbackCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rollback [COMMIT]", Short: "Publish an earlier commit of the source again", Args: cobra.MaximumNArgs(1),
		Long: `Rollback shows what going back to COMMIT changes in every cluster, and publishes it; without
COMMIT, the source commit that was published before the last one. The guard judges it as it
judges any publication, and history goes on: branches get new commits. The source stays as
it is, and the next publication of its head brings back what was undone: revert there, too.`,
		Example: "  waybill rollback --dry-run\n  waybill rollback 1f2e3d4",
	}
	f := addPublishFlags(cmd)
	stat := cmd.Flags().Bool("stat", false, "show a line a change")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rev := ""
		if len(args) > 0 {
			rev = args[0]
		}
		f.rollback = true
		w, r, err := f.open(cmd, "HEAD")
		if err != nil {
			return failure(2, err)
		}
		last, earlier, err := reconciler.Earlier(cmd.Context(), r, rev)
		if err != nil {
			return failure(2, err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "from %.12s, published last, back to %.12s\n", last, earlier)
		if f.output.Format == report.Table {
			look := report.Look{Colour: terminal.HasColours(cmd.OutOrStdout()), Stat: *stat}
			if err := shownChange(w, r, last.String(), earlier.String(), look); err != nil {
				return failure(2, err)
			}
		}
		return f.publish(w, r, earlier.String())
	}
	return cmd
}

// shownChange shows what going from one commit of the source to another does.
func shownChange(w repositories, r *reconciler.Reconciler, base, head string, look report.Look) error {
	ctx := w.cmd.Context()
	_, end := terminal.Doing(ctx, 0, "comparing")
	defer end()
	s, err := r.Source.Snapshot(ctx, head, r.Subdir)
	if err != nil {
		return err
	}
	c, err := versions.Preview(ctx, r, versions.Question{Base: base, Head: s, Key: r.Random.Key})
	if err != nil {
		return err
	}
	end()
	out := w.cmd.OutOrStdout()
	if err := report.Comparison(&c, look).Write(out, report.Text); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out)
	return err
}
