package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	kubectlget "k8s.io/kubectl/pkg/cmd/get"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/members"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/sources/words"
)

const (
	clustersFlag = "--clusters"
	// all is every registered cluster; a star is, too.
	all = "all"
)

// everyCluster gives --clusters its value where it has none.
func everyCluster(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break
		}
		if a == clustersFlag && (i == len(out)-1 || strings.HasPrefix(out[i+1], "-")) {
			out[i] = clustersFlag + "=" + all
		}
	}
	return out
}

// liveFlags are the flags of get: those of kubectl get, and those by which clusters are asked.
type liveFlags struct {
	cmd    *cobra.Command
	names  []string // of the flags that mean nothing without --clusters
	access *clusters.Access
	print  *kubectlget.PrintFlags

	clusters []string
	query    members.Query
	watch    bool
	sortBy   string
	deadline time.Duration
}

func addLiveFlags(cmd *cobra.Command) *liveFlags {
	const deadline = 15 * time.Second
	f := &liveFlags{cmd: cmd, print: kubectlget.NewGetPrintFlags()}
	flags := cmd.Flags()
	flags.BoolVarP(&f.query.AllNamespaces, "all-namespaces", "A", false, "in all namespaces, as it is without --clusters and -n anyway")
	flags.StringVarP(&f.query.Labels, "selector", "l", "", "only what has these labels, as app=web,tier!=cache")
	flags.BoolVar(&f.query.Absent, "ignore-not-found", false, "an object that is not there is no error")
	flags.BoolVarP(&f.watch, "watch", "w", false, "go on with what changes: in the directory of the source, or with --clusters, for one KIND, in them")
	flags.BoolVar(f.print.NoHeaders, "no-headers", false, "print no names of columns")
	flags.BoolVar(f.print.HumanReadableFlags.ShowLabels, "show-labels", false, "print all labels as the last column")
	flags.StringSliceVarP(f.print.HumanReadableFlags.ColumnLabels, "label-columns", "L", nil, "print these labels as columns")
	flags.StringVar(&f.sortBy, "sort-by", "", "without --clusters: the field to sort by, as .metadata.name")
	asking := pflag.NewFlagSet("", pflag.ContinueOnError)
	asking.StringVar(&f.query.Fields, "field-selector", "", "with --clusters: only what has these fields, as status.phase=Running")
	asking.BoolVar(&f.print.JSONYamlPrintFlags.ShowManagedFields, "show-managed-fields", false, "with --clusters: print managedFields, too")
	asking.DurationVar(&f.deadline, "request-timeout", deadline, "with --clusters: how long a cluster may take to answer; 0 for as long as it takes")
	asking.VisitAll(func(x *pflag.Flag) { f.names = append(f.names, x.Name) })
	flags.AddFlagSet(asking)
	flags.StringSliceVar(&f.clusters, strings.TrimPrefix(clustersFlag, "--"), nil, "ask these clusters what they hold now; all, or no value, for every registered one")
	f.access = addAccessFlags(cmd, cmd.Flags())
	addContextFlag(cmd.Flags(), f.access)
	return f
}

// asked reports whether clusters are to be asked.
func (f *liveFlags) asked() bool {
	return f.cmd.Flags().Changed(strings.TrimPrefix(clustersFlag, "--"))
}

// stray returns an error for a flag that needs --clusters, without it.
func (f *liveFlags) stray() error {
	for _, name := range f.names {
		if f.cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for what clusters hold now; add %s", name, clustersFlag)
		}
	}
	return nil
}

// run asks clusters and prints what they answer.
func (f *liveFlags) run(w repositories, rev, namespace string, args []string) error {
	if len(args) == 0 {
		return failure(2, fmt.Errorf("which KIND? %s has the value %q; write the KIND before it", clustersFlag, strings.Join(f.clusters, ",")))
	}
	if f.sortBy != "" {
		return failure(2, errors.New("--sort-by is for what Git answers; leave it out, for objects of clusters are in the order of the clusters"))
	}
	out := members.Output{Flags: f.print, Out: f.cmd.OutOrStdout(), Err: f.cmd.ErrOrStderr()}
	if err := out.Check(); err != nil {
		return failure(2, err)
	}
	registered, err := w.registered(rev)
	if err != nil {
		return failure(2, err)
	}
	chosen, err := named(registered, f.clusters)
	if err != nil {
		return failure(2, err)
	}
	if f.access.Context != "" && len(chosen) != 1 {
		return failure(2, fmt.Errorf("--context is for one cluster, and these are %d; name the one", len(chosen)))
	}
	quiet(f.cmd)
	f.query.Args, f.query.Whole = args, out.Whole()
	fleet := members.Fleet{Way: members.Way{Access: f.access.Among(registered), Namespace: namespace}, Clusters: chosen, Deadline: f.deadline}
	var t members.Tally
	if f.watch {
		var say func(members.Answer) error
		if say, err = out.Follow(&t); err == nil {
			err = fleet.Watch(f.cmd.Context(), f.query, say)
		}
	} else {
		_, end := terminal.Doing(f.cmd.Context(), 0, "asking %s", words.Count(len(chosen), "cluster"))
		answers := fleet.Get(f.cmd.Context(), f.query)
		end()
		t, err = out.Print(answers)
	}
	if err == nil && f.watch && f.cmd.Context().Err() != nil {
		return nil // it was told to stop
	}
	return ended(t, err)
}

// ended is how the command ends.
func ended(t members.Tally, err error) error {
	switch {
	case err != nil:
		return failure(2, err)
	case t.Answered == 0:
		return &exitError{code: 2}
	case t.Refused > 0:
		return errSilent
	}
	return nil
}

// registered lists the clusters that a source registers, in the order of their names.
func (w repositories) registered(rev string) ([]*karmada.Cluster, error) {
	r, s, err := w.alone(rev)
	if err != nil {
		return nil, err
	}
	objects, err := clustersOf(w.cmd.Context(), r, s)
	return registration.Registered(objects, nil), err
}

// named returns the clusters of these names, each once.
func named(registered []*karmada.Cluster, names []string) ([]*karmada.Cluster, error) {
	if every := slices.ContainsFunc(names, func(n string) bool { return n == all || n == "*" }); !every {
		return registration.Named(registered, names, "the source")
	}
	if len(registered) == 0 {
		return nil, errors.New("the source registers no cluster")
	}
	return registered, nil
}
