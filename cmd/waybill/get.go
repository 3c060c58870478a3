package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/updating"
	"github.com/waybill-dev/waybill/reconciler/plan"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/report/consumer"
	"github.com/waybill-dev/waybill/reconciler/report/listing"
)

// The lists that print what is to be applied.
const (
	fluxList   = "flux"
	argocdList = "argocd"
)

func getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "get KIND [NAME...], get flux, get argocd, or get KIND[/NAME]... --clusters [NAME,...]", Short: "List what a source registers and where it goes, or what clusters hold now",
		Long: `Without --clusters, get answers from Git: what the source at -C registers, and where its
objects go, in all namespaces unless -n names one. The kinds are:

` + kindsHelp() + `
With --clusters it asks the clusters themselves, all at once, what they hold
now, as kubectl get does: any KIND that they serve, with kubectl's flags and formats, the
cluster of each object in front. Without a value, --clusters is every registered cluster.
A cluster that does not answer is a line. See docs/members.md.`,
		Example: `  waybill get bindings
  waybill get rb hello-deployment -n hello -o yaml
  waybill get clusters -l region=eu -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints
  waybill get pods -A --clusters
  waybill get deploy/web -n shop -o wide --clusters eu-1,us-1`,
		ValidArgsFunction: getArguments,
	}
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag, instead of the directory as it stands")
	namespace := cmd.Flags().StringP("namespace", "n", "", "only what is in this namespace")
	syncers := syncerFlags(cmd)
	where := reportFlags(cmd)
	output := cmd.Flags().StringP("output", "o", string(report.Table), "output format: table, wide, name, json, yaml, jsonpath=..., custom-columns=... and the others of kubectl get")
	live := addLiveFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		if *output != string(report.Table) {
			*live.print.OutputFormat = *output
		}
		switch {
		case live.asked():
			return live.run(w, *rev, *namespace, args)
		case len(args) == 0:
			return failure(2, fmt.Errorf("what? want one of these kinds:\n%s", strings.TrimSuffix(kindsHelp(), "\n")))
		}
		if err := live.stray(); err != nil {
			return failure(2, err)
		}
		if args[0] == fluxList || args[0] == argocdList {
			return failure(2, writeSync(w, *rev, syncers, args))
		}
		if args[0] == updatesList {
			return failure(2, updating.List(cmd.Context(), updatePlaces(w, *rev), updatesList, *output, args))
		}
		g := lister{where: w, rev: *rev, print: listing.Printer{Flags: live.print, SortBy: live.sortBy, Err: cmd.ErrOrStderr()}}
		if g.query, err = live.listed(*namespace, args); err != nil {
			return failure(2, err)
		}
		if live.watch {
			return failure(2, g.watched())
		}
		return g.once()
	}
	return cmd
}

// kindsHelp lists the kinds of get with their other names.
func kindsHelp() string {
	var b strings.Builder
	for _, names := range listing.Names() {
		fmt.Fprintf(&b, "  %-30s %s\n", names[0], strings.Join(names[1:], ", "))
	}
	fmt.Fprintf(&b, "  %-30s %s\n", fluxList, "(what Flux is to apply)")
	fmt.Fprintf(&b, "  %-30s %s\n", argocdList, "(an ApplicationSet for Argo CD)")
	fmt.Fprintf(&b, "  %-30s %s\n", updatesList, "(what is newer of images and charts, why it is not taken, and what was taken last)")
	return b.String()
}

// listed is what is asked of Git.
func (f *liveFlags) listed(namespace string, args []string) (listing.Query, error) {
	q := listing.Query{Namespace: namespace, Absent: f.query.Absent}
	if f.query.AllNamespaces {
		q.Namespace = ""
	}
	kind, name, cut := strings.Cut(args[0], "/")
	q.Kind, q.Names = kind, args[1:]
	if cut {
		if q.Names = []string{name}; len(args) > 1 {
			return q, fmt.Errorf("%q names an object, and %q stands behind it; write %s %s %s", args[0], args[1], kind, name, strings.Join(args[1:], " "))
		}
	}
	if slices.Contains(q.Names, "") {
		return q, fmt.Errorf("%q names no object; write KIND NAME or KIND/NAME", args[0])
	}
	if f.query.Labels != "" && len(q.Names) > 0 {
		return q, errors.New("-l selects objects by their labels, and a NAME one by its name; use one of them")
	}
	var err error
	q.Labels, err = selector(f.query.Labels)
	return q, err
}

// syncers are what Flux and Argo CD are told.
type syncers struct {
	flux   consumer.Flux
	argocd consumer.ArgoCD
}

// writeSync prints what Flux or Argo CD is to apply.
func writeSync(w repositories, rev string, s *syncers, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("get %s lists no %q; --cluster names the clusters", args[0], args[1])
	}
	opened, snapshot, err := w.report(rev)
	if err != nil {
		return err
	}
	p, obs, err := w.plan(opened, snapshot, plan.Branch)
	if err != nil {
		return err
	}
	if args[0] == argocdList {
		s.argocd.URL, s.argocd.Clusters, s.argocd.UI = s.flux.URL, s.flux.Clusters, s.flux.UI
		return s.argocd.Write(w.cmd.OutOrStdout(), w.cmd.ErrOrStderr(), &p, obs.Arrived())
	}
	return s.flux.Write(w.cmd.OutOrStdout(), w.cmd.ErrOrStderr(), &p, obs.Arrived())
}

// syncerFlags adds the flags of `get flux` and `get argocd`.
func syncerFlags(cmd *cobra.Command) *syncers {
	s := &syncers{}
	flags := cmd.Flags()
	flags.StringVar(&s.flux.URL, "url", "", "for flux and argocd: URL by which they reach the published repository")
	flags.StringArrayVar(&s.flux.Clusters, "cluster", nil, "for flux and argocd: only this cluster; may be given again")
	flags.StringVar(&s.flux.UI, "ui-url", "", "for flux and argocd: URL of the web UI, to whose pages Applications and events of Kustomizations lead")
	flags.StringVar(&s.flux.Secret, "secret-ref", "", "for flux: name of the Secret with the credentials for that URL")
	flags.BoolVar(&s.flux.Migrate, "migrate", false, "for flux: print the steps from a Kustomization for each namespace to one root")
	flags.BoolVar(&s.flux.Rollout.Wanted, "rollout", false, "for flux: have Flux wait until what it applies is healthy, and set commit statuses, by which roll-outs go on")
	flags.StringVar(&s.flux.Rollout.Forge, "forge", "", "for flux --rollout: kind of the forge of that URL: github, gitlab, gitea or forgejo (default: as its host says)")
	flags.StringVar(&s.flux.Rollout.Secret, "status-secret-ref", "waybill-status", "for flux --rollout: name of the Secret with a token that may set commit statuses")
	flags.StringVar(&s.argocd.Namespace, "argocd-namespace", "argocd", "for argocd: namespace of Argo CD")
	flags.StringVar(&s.argocd.Project, "argocd-project", "default", "for argocd: project of the Applications")
	return s
}
