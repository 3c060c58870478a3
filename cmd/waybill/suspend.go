package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/render/diag"
)

func suspendCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "suspend NAME --reason WHY", Short: "Apply nothing to a cluster", Args: cobra.ExactArgs(1),
		Long: `Suspend writes the annotation ` + suspend.Suspended + ` into a Cluster. Once that is published nothing is
applied to the cluster, by the controller and by waybill apply: what is there stays, and what somebody changes
there is not put right. Its branch is published as before.`,
	}
	reason := cmd.Flags().String("reason", "", "why, for those who find it suspended")
	e := addEditFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if *reason == "" {
			return failure(2, errors.New("say why, with --reason"))
		}
		return failure(2, e.edit(args[0], "is suspended so already", annotating(suspend.Suspended, *reason)))
	}
	return cmd
}

func resumeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume NAME", Short: "Apply to a cluster again", Args: cobra.ExactArgs(1),
		Long: `Resume takes the annotation ` + suspend.Suspended + ` from a Cluster.`,
	}
	e := addEditFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return failure(2, e.edit(args[0], "is not suspended", func(at diag.Pos, data []byte, cluster string) ([]byte, error) {
			return registration.Unannotate(at, data, cluster, suspend.Suspended)
		}))
	}
	return cmd
}

func reconcileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reconcile NAME", Short: "Have the controller apply to a cluster again", Args: cobra.ExactArgs(1),
		Long: `Reconcile writes the time into the annotation ` + suspend.RequestedAt + ` of a Cluster. Once that is published the
controller applies to the cluster at once, and runs hooks again that failed.`,
	}
	e := addEditFlags(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		return failure(2, e.edit(args[0], "says so already", annotating(suspend.RequestedAt, time.Now().UTC().Format(time.RFC3339Nano))))
	}
	return cmd
}

// annotating is the edit that writes an annotation.
func annotating(key, value string) func(at diag.Pos, data []byte, cluster string) ([]byte, error) {
	return func(at diag.Pos, data []byte, cluster string) ([]byte, error) {
		return registration.Annotate(at, data, cluster, key, value)
	}
}
