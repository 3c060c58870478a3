package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/problems"
	"github.com/waybill-dev/waybill/reconciler/problems/read"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/report/problem"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
)

// problemsEvery is how often --watch looks.
const problemsEvery = 10 * time.Second

func problemsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "problems [PATH]", Short: "Say from Git what is broken now, where, since when and by which commit", Args: cobra.MaximumNArgs(1),
		Long: `Problems lists what is broken: errors of the source, templates that find no place, clusters
that are not reached or do not take their branch, objects that are not applied or not healthy,
roll-outs that stopped, what the guard holds. What is alike in many clusters is one line, and
what hurts most is first. It reads what Git records and plans nothing. It exits with 1 if there
are any. See docs/status.md.`,
		Example: "  waybill problems\n  waybill problems -o wide --watch",
	}
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag, instead of the directory as it stands, for its waybill.yaml")
	lasting := cmd.Flags().Duration("max-age", reports.Lasting, "how old a word may be; one who applies says something at least every 30 days")
	watch := cmd.Flags().BoolP("watch", "w", false, "print it again whenever it changes, until it is interrupted")
	where := reportFlags(cmd)
	output := outputFlag(cmd, report.Wide, problem.Name)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, s, err := openPublished(cmd, where, *rev)
		if err != nil {
			return failure(2, err)
		}
		reader := read.Reader{Reconciler: r, Snapshot: s, Lasting: *lasting}
		write := func(l *problems.List) error { return problem.Write(cmd.OutOrStdout(), l, output.Format) }
		if *watch {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return failure(2, reader.Watch(ctx, problemsEvery, write, func(err error) {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s; what is printed may be old, and it is tried again\n", err)
			}))
		}
		_, end := terminal.Doing(cmd.Context(), 0, "reading what clusters say")
		list, err := reader.List(cmd.Context())
		end()
		if err == nil {
			err = write(&list)
		}
		if err == nil && len(list.Problems) > 0 {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}
