package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/renderer"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources/lock"
	"github.com/waybill-dev/waybill/sources/words"
)

// talkFlags adds the flags that say how much every command says beside its result.
func talkFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	verbose := flags.BoolP("verbose", "v", false, "say what is being done, and how long it took; and each diagnostic, though others say the same")
	flags.BoolP("quiet", "q", false, "say only what is wrong: no warnings and notices")
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if p := terminal.Of(cmd.Context()); p != nil {
			p.Verbose = *verbose
		}
	}
}

// isQuiet reports a command that says only what is wrong.
func isQuiet(cmd *cobra.Command) bool {
	is, err := cmd.Flags().GetBool("quiet")
	return err == nil && is
}

// isVerbose reports a command that leaves nothing out.
func isVerbose(cmd *cobra.Command) bool {
	is, err := cmd.Flags().GetBool("verbose")
	return err == nil && is
}

// warn says what may be wrong.
func warn(cmd *cobra.Command, format string, args ...any) {
	if !isQuiet(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: "+format+"\n", args...)
	}
}

// tell says what is wrong with a source, beside a command's result.
func tell(cmd *cobra.Command, ds []diag.Diagnostic) {
	out := cmd.ErrOrStderr()
	report.Diagnostics(out, ds, report.Look{Colour: terminal.HasColours(out), Quiet: isQuiet(cmd), All: isVerbose(cmd)})
}

// shownRunner renders, and says what.
type shownRunner struct{ renderer.Runner }

// Do implements renderer.Runner.
func (r shownRunner) Do(ctx context.Context, jobs []worker.Job) []worker.Result {
	names := make([]string, 0, len(jobs))
	for _, j := range jobs {
		names = append(names, j.Name)
	}
	_, end := terminal.Doing(ctx, 0, "rendering %s", words.First(names, 1))
	defer end()
	return r.Runner.Do(ctx, jobs)
}

// shownCharts fetches charts, and says which.
type shownCharts struct{ renderer.Charts }

// Resolve implements renderer.Charts.
func (c shownCharts) Resolve(ctx context.Context, r lock.Ref) (lock.Entry, error) {
	_, end := terminal.Doing(ctx, 0, "looking for %s", r)
	defer end()
	return c.Charts.Resolve(ctx, r)
}

// Fetch implements renderer.Charts.
func (c shownCharts) Fetch(ctx context.Context, e lock.Entry) (fs.FS, error) {
	_, end := terminal.Doing(ctx, 0, "fetching %s %s", e.Name, e.Version)
	defer end()
	return c.Charts.Fetch(ctx, e)
}
