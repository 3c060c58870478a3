package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/policies"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report"
)

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get clusters|policies|bindings|works|flux, or get KIND[/NAME]... --clusters [NAME,...]", Short: "List what a source registers and where it goes, or what clusters hold now",
		Long: `Without --clusters, get answers from Git: what the source at -C registers, and where its
objects go. With --clusters it asks the clusters themselves, all at once, what they hold
now, as kubectl get does: any KIND that they serve, with kubectl's flags and formats, the
cluster of each object in front. Without a value, --clusters is every registered cluster.
A cluster that does not answer is a line. See docs/members.md.`,
		Example: `  waybill get bindings
  waybill get pods -A --clusters
  waybill get deploy/web -n shop -o wide --clusters eu-1,us-1`,
		ValidArgs: []string{"clusters", "policies", "bindings", "works", "flux"},
	}
	path := cmd.Flags().StringP("source", "C", ".", "directory of the source")
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag, instead of the directory as it stands")
	namespace := cmd.Flags().StringP("namespace", "n", "", "only what is in this namespace")
	flux := fluxFlags(cmd)
	where := reportFlags(cmd)
	output := cmd.Flags().StringP("output", "o", string(report.Table), "output format: table, json or yaml; with --clusters also wide, name and the others of kubectl get")
	live := addLiveFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(*path)
		if err != nil {
			return failure(2, err)
		}
		if live.asked() {
			return live.run(w, *rev, *namespace, *output, args)
		}
		as := format{known: usualFormats}
		if err := errors.Join(live.stray(), as.Set(*output), cobra.ExactArgs(1)(cmd, args)); err != nil {
			return failure(2, err)
		}
		opened, s, err := w.report(*rev)
		if err != nil {
			return failure(2, err)
		}
		p, in, err := w.plan(opened, s, plan.Branch)
		if err != nil {
			return failure(2, err)
		}
		if args[0] == "flux" {
			return failure(2, flux.Write(cmd.OutOrStdout(), cmd.ErrOrStderr(), &p, in.Published))
		}
		set, _, _ := policies.Settings{Failover: in.Source.Config.Failover.Enabled}.Load(in.Source.Objects, nil)
		set.Observe(in.State.Observed)
		lists := report.Lists{Plan: &p, Set: &set, Namespace: *namespace, Now: opened.Now()}
		if err := hear(cmd, opened, args[0], &lists); err != nil {
			return failure(2, err)
		}
		r, err := listed(args[0], lists)
		if err == nil {
			err = show(cmd, &as, r)
		}
		return failure(2, err)
	}
	return cmd
}

// hear reads what clusters say of themselves, for the lists that show it.
func hear(cmd *cobra.Command, r *reconciler.Reconciler, list string, l *report.Lists) (err error) {
	if r.Target != nil && (list == "bindings" || list == "works") {
		l.Words, err = r.Words(cmd.Context(), l.Set.Clusters, l.Namespace, reconciler.WordLasts)
	}
	return err //nolint:wrapcheck // it says what
}

// listed returns a list that is answered from Git.
func listed(name string, lists report.Lists) (report.Report, error) {
	switch name {
	case "clusters":
		return lists.Clusters(), nil
	case "policies":
		return lists.Policies(), nil
	case "bindings":
		return lists.Bindings(), nil
	case "works":
		return lists.Works()
	}
	return report.Report{}, fmt.Errorf("there is no list of %q; want clusters, policies, bindings, works or flux, or --clusters for what clusters hold now", name)
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
