// Servers is a whole Kubernetes as one program: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, kwok, which stands for the kubelets of nodes that
// are not there, and kubectl. The name that it is called by picks the part. As one program
// they are linked once, and share their pages.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // the schedules of CronJobs name time zones

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // the metrics of requests
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllers.NewControllerManagerCommand())
	case "kube-scheduler":
		run(scheduler.NewSchedulerCommand())
	case "kubectl":
		run(kubectl.NewDefaultKubectlCommand())
	case "kwok":
		simulate()
	case "kwok-stages": // how nodes and pods behave: what kwok's --config names
		for _, stage := range []string{fast.DefaultNodeInit, podfast.DefaultPodReady, podfast.DefaultPodComplete, podfast.DefaultPodDelete} {
			fmt.Printf("---\n%s", stage)
		}
	default:
		fmt.Fprintln(os.Stderr, "servers: there is no part called", name)
		os.Exit(2)
	}
}

func run(c *cobra.Command) { os.Exit(cli.Run(c)) }

// simulate runs kwok. Kubernetes has put a --version of its own on the flags of the program,
// which kwok would stumble over.
func simulate() {
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ContinueOnError)
	global := pflag.NewFlagSet("global", pflag.ContinueOnError)
	global.ParseErrorsAllowlist.UnknownFlags = true
	global.Usage = func() {}
	ctx, logger := log.InitFlags(signals.SetupSignalContext(), global)
	ctx, err := config.InitFlags(ctx, global)
	if err != nil {
		logger.Error("reading the flags", "err", err)
		os.Exit(1)
	}
	c := kwok.NewCommand(ctx)
	c.PersistentFlags().AddFlagSet(global)
	if err := c.ExecuteContext(ctx); err != nil {
		logger.Error("kwok", "err", err)
		os.Exit(1)
	}
}
