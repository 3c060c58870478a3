package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"
	kubectlexec "k8s.io/kubectl/pkg/cmd/exec"
	kubectllogs "k8s.io/kubectl/pkg/cmd/logs"
	kubectltop "k8s.io/kubectl/pkg/cmd/top"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/exec"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/members"
)

// memberFlags are the flags of a command of kubectl's that is for one cluster.
type memberFlags struct {
	rev, cluster, namespace string

	access  *clusters.Access
	request time.Duration
}

func addMemberFlags(cmd *cobra.Command, flags *pflag.FlagSet) *memberFlags {
	f := &memberFlags{}
	flags.StringVar(&f.rev, "rev", "", "a commit, branch or tag, instead of the directory as it stands")
	flags.StringVar(&f.cluster, "cluster", "", "the cluster (must be given)")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace to look in (default: that of the cluster's context)")
	flags.DurationVar(&f.request, "request-timeout", 0, "how long one request may take; 0 for as long as it takes")
	f.access = addAccessFlags(cmd, flags)
	addContextFlag(flags, f.access)
	return f
}

// factory opens the cluster for kubectl's libraries.
func (f *memberFlags) factory(cmd *cobra.Command) (cmdutil.Factory, error) {
	if f.cluster == "" {
		return nil, errors.New("which cluster? --cluster names it, and `waybill get clusters` lists them")
	}
	registered, err := repositories{cmd: cmd, path: sourcePath(cmd)}.registered(f.rev)
	if err != nil {
		return nil, err
	}
	chosen, err := named(registered, []string{f.cluster})
	if err != nil {
		return nil, err
	}
	m, err := members.Way{Access: f.access.Among(registered), Namespace: f.namespace, Request: f.request}.Open(cmd.Context(), chosen[0])
	if err != nil {
		return nil, &exitError{code: 2, err: fmt.Errorf("%s: %s", f.cluster, members.Message(err))}
	}
	return cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(m)), nil // which says of requests what kubectl's commands expect
}

// run runs a command of kubectl's. A signal ends it at once, as it ends kubectl.
func (f *memberFlags) run(cmd *cobra.Command, steps func(cmdutil.Factory) error) error {
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	quiet(cmd)
	factory, err := f.factory(cmd)
	if err != nil {
		return failure(2, err)
	}
	err = steps(factory)
	if ended, ok := errors.AsType[exec.ExitError](err); ok {
		fmt.Fprintln(cmd.ErrOrStderr(), err)
		return &exitError{code: ended.ExitStatus()}
	}
	if err != nil {
		return failure(2, fmt.Errorf("%s: %s", f.cluster, members.Message(err)))
	}
	return nil
}

// quiet keeps what kubectl's libraries log to themselves: what they return says as much. What
// API servers warn of is printed.
func quiet(cmd *cobra.Command) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	members.Warn(cmd.ErrOrStderr())
}

// streams are where kubectl's commands read and write, as kubectl's own do.
func streams(cmd *cobra.Command) genericiooptions.IOStreams {
	return genericiooptions.IOStreams{
		In: cmd.InOrStdin(), Out: terminal.Uncleaned(cmd.OutOrStdout()), ErrOut: terminal.Uncleaned(cmd.ErrOrStderr()),
	}
}

func logsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "logs POD|TYPE/NAME --cluster NAME", Short: "Print the logs of containers in a cluster",
		Long: `Logs prints what containers in a cluster wrote, as kubectl logs does, with its flags.
See docs/members.md.`,
		Example: `  waybill logs web-7d4b9 --cluster eu-1 -n shop
  waybill logs deploy/web --cluster eu-1 -n shop --all-pods -f`,
	}
	f := addMemberFlags(cmd, cmd.Flags())
	o := kubectllogs.NewLogsOptions(genericiooptions.IOStreams{})
	o.AddFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.IOStreams = streams(cmd)
		return f.run(cmd, func(factory cmdutil.Factory) error {
			if err := o.Complete(factory, cmd, args); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return o.RunLogsContext(cmd.Context())
		})
	}
	return cmd
}

func execCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "exec POD|TYPE/NAME --cluster NAME -- COMMAND [ARGUMENT...]", Short: "Run a command in a container in a cluster",
		Long: `Exec runs a COMMAND in a container in a cluster, as kubectl exec does, with its flags, and
ends with the status of the COMMAND. See docs/members.md.`,
		Example: `  waybill exec deploy/web --cluster eu-1 -n shop -- cat /etc/resolv.conf
  waybill exec -it web-7d4b9 --cluster eu-1 -n shop -c app -- sh`,
	}
	f := addMemberFlags(cmd, cmd.Flags())
	o := &kubectlexec.ExecOptions{Executor: &kubectlexec.DefaultRemoteExecutor{}}
	const patience = time.Minute
	cmdutil.AddPodRunningTimeoutFlag(cmd, patience)
	cmdutil.AddContainerVarFlags(cmd, &o.ContainerName, "")
	cmd.Flags().BoolVarP(&o.Stdin, "stdin", "i", false, "pass standard input to the container")
	cmd.Flags().BoolVarP(&o.TTY, "tty", "t", false, "standard input is a terminal")
	cmd.Flags().BoolVarP(&o.Quiet, "quiet", "q", false, "print nothing but what the command prints")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.IOStreams = streams(cmd)
		return f.run(cmd, func(factory cmdutil.Factory) error {
			if err := o.Complete(factory, cmd, args, cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			return o.Run()
		})
	}
	return cmd
}

func topCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "top pods|nodes --cluster NAME", Short: "Show what pods or nodes of a cluster use of CPU and memory",
		Long: `Top shows what pods or nodes of a cluster use, as kubectl top does, with its flags. The
cluster needs a metrics server. See docs/members.md.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return failure(2, errors.New("of what? waybill top pods, or waybill top nodes"))
		},
	}
	f := addMemberFlags(cmd, cmd.PersistentFlags())
	pods := &kubectltop.TopPodOptions{UseProtocolBuffers: true}
	nodes := &kubectltop.TopNodeOptions{UseProtocolBuffers: true}
	ofPods := kubectltop.NewCmdTopPod(nil, pods, genericiooptions.IOStreams{})
	ofNodes := kubectltop.NewCmdTopNode(nil, nodes, genericiooptions.IOStreams{})
	ofPods.RunE = func(cmd *cobra.Command, args []string) error {
		pods.IOStreams = streams(cmd)
		return f.run(cmd, func(factory cmdutil.Factory) error {
			if err := pods.Complete(factory, cmd, args); err != nil {
				return err
			}
			if err := pods.Validate(); err != nil {
				return err
			}
			return pods.RunTopPod()
		})
	}
	ofNodes.RunE = func(cmd *cobra.Command, args []string) error {
		nodes.IOStreams = streams(cmd)
		return f.run(cmd, func(factory cmdutil.Factory) error {
			if err := nodes.Complete(factory, cmd, args); err != nil {
				return err
			}
			if err := nodes.Validate(); err != nil {
				return err
			}
			return nodes.RunTopNode()
		})
	}
	for _, sub := range []*cobra.Command{ofPods, ofNodes} {
		sub.Run, sub.ValidArgsFunction = nil, nil
		sub.Long = sub.Short + ", as kubectl top does."
		sub.Example = strings.ReplaceAll(sub.Example, "kubectl top", "waybill top --cluster eu-1")
		cmd.AddCommand(sub)
	}
	return cmd
}
