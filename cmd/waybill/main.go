// Command waybill turns a Git repository of manifests and Karmada policies into
// one tree and one branch per cluster. The commands here only wire: what they do is
// decided in reconciler/plan and done in reconciler.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/engine/engines"
	"github.com/waybill-dev/waybill/render/worker"
)

// version may be set at link time. Without it Go's own stamp counts: the tag or commit of the clone
// that the program was built in, or the version that "go install" was asked for.
var version = ""

// gcPercent trades memory for time: a plan makes much that lives as long as it does.
// GOGC says otherwise.
const gcPercent = 200

func main() {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		os.Exit(worker.Main(engines.Run)) // this process is a child that renders, behind walls
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	shown := terminal.NewProgress(stderr)
	root := rootCommand()
	root.SetArgs(everyCluster(args))
	root.SetOut(terminal.Cleaned(stdout))
	root.SetErr(terminal.Cleaned(shown))
	err := root.ExecuteContext(terminal.With(ctx, shown))
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exitError](err)
	if !ok {
		exit = &exitError{code: 2, err: err}
	}
	if exit.err != nil {
		fmt.Fprintln(terminal.Cleaned(shown), report.Error(exit.err, terminal.HasColours(stderr)))
	}
	return exit.code
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "waybill",
		Short: "One branch per cluster from a Git repository of manifests and Karmada policies",
		Long: `Waybill does Karmada's job from Git alone. A repository of ordinary manifests
and Karmada-format policies goes in; what each cluster should hold comes out,
as a branch per cluster.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		initCommand(), renders(validateCommand()), renders(renderCommand()), renders(diffCommand()), renders(explainCommand()), interpretCommand(),
		problemsCommand(), renders(publishCommand()), renders(rollbackCommand()), rolloutCommand(), reads(applyCommand()), reads(clusterCommand()), renders(controllerCommand()), agentCommand(),
		reads(statusCommand()), renders(getCommand()), reads(logsCommand()), reads(execCommand()), reads(topCommand()),
		fetches(updateCommand()), renders(verifyCommand()), demoCommand(), draws(doctorCommand()), versionCommand(), referenceCommand(),
	)
	root.Version = buildVersion()
	root.SetVersionTemplate("waybill {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
	talkFlags(root)
	strict(root)
	placed(root)
	completes(root)
	tellStatuses(root)
	return root
}

// buildVersion names the running program in commit trailers.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "waybill", buildVersion())
			return err
		},
	}
}
