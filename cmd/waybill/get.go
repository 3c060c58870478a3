package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report"
)

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get clusters|policies|bindings|works|flux", Short: "List what a source registers and where it goes", Args: cobra.ExactArgs(1),
		ValidArgs: []string{"clusters", "policies", "bindings", "works", "flux"},
	}
	path := cmd.Flags().StringP("source", "C", ".", "directory of the source")
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag, instead of the directory as it stands")
	namespace := cmd.Flags().StringP("namespace", "n", "", "only what is in this namespace")
	flux := fluxFlags(cmd)
	where := reportFlags(cmd)
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(*path)
		if err != nil {
			return failure(2, err)
		}
		p, in, err := w.build(*rev, plan.Branch)
		if err != nil {
			return failure(2, err)
		}
		set, _, _ := policies.Load(in.Source.Objects, nil)
		lists := report.Lists{Plan: &p, Set: &set, Namespace: *namespace}
		var r report.Report
		switch args[0] {
		case "clusters":
			r = lists.Clusters()
		case "policies":
			r = lists.Policies()
		case "bindings":
			r = lists.Bindings()
		case "works":
			r, err = lists.Works()
		case "flux":
			return failure(2, flux.Write(cmd.OutOrStdout(), cmd.ErrOrStderr(), &p, in.Published))
		default:
			err = fmt.Errorf("there is no list of %q; want clusters, policies, bindings, works or flux", args[0])
		}
		if err == nil {
			err = show(cmd, output, r)
		}
		return failure(2, err)
	}
	return cmd
}

// fluxFlags adds the flags of `get flux`.
func fluxFlags(cmd *cobra.Command) *report.Flux {
	f := &report.Flux{}
	cmd.Flags().StringVar(&f.URL, "url", "", "for flux: URL by which the clusters reach the published repository")
	cmd.Flags().StringVar(&f.Secret, "secret-ref", "", "for flux: name of the Secret with the credentials for that URL")
	cmd.Flags().StringArrayVar(&f.Clusters, "cluster", nil, "for flux: only this cluster; may be given again")
	cmd.Flags().BoolVar(&f.Migrate, "migrate", false, "for flux: print the steps from a Kustomization for each namespace to one root")
	return f
}
