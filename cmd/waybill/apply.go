package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/words"
)

// showList is what --adopt is without a digest.
const showList = "list"

// applyFlags are the flags of apply.
type applyFlags struct {
	access        *clusters.Access
	adopt         []string
	prune, dryRun bool
	rollback      bool
	wait          waiting
	timeout       time.Duration
	status        *bool
}

// addStatusFlag adds the flag of those who apply.
func addStatusFlag(flags *pflag.FlagSet) *bool {
	return flags.Bool("status", true, "write what became of each cluster to its branch waybill/status/CLUSTER")
}

// addAccessFlags adds the flags that say how clusters are reached.
func addAccessFlags(cmd *cobra.Command, flags *pflag.FlagSet) *clusters.Access {
	a, _ := addFleetFlags(cmd, flags)
	return a
}

// addFleetFlags adds those flags, and returns which cluster the Secrets are in, too.
func addFleetFlags(cmd *cobra.Command, flags *pflag.FlagSet) (*clusters.Access, *managementFlags) {
	a := &clusters.Access{Agent: "waybill/" + buildVersion()}
	managed := addManagementFlags(flags)
	managed.secretsOf(a)
	addKubeconfigFlags(cmd, flags, a)
	return a, managed
}

// addKubeconfigFlags adds the flags that name kubeconfigs, and what these may do.
func addKubeconfigFlags(cmd *cobra.Command, flags *pflag.FlagSet, a *clusters.Access) {
	flags.StringVar(&a.Kubeconfig, "kubeconfig", "", "kubeconfig with a context for each cluster, called as the cluster (default: where kubectl looks)")
	flags.StringVar(&a.Folder, "kubeconfig-dir", "", "folder with a file <cluster>.kubeconfig for each cluster")
	flags.StringArrayVar(&a.Exec, "allow-exec", nil, "program that a kubeconfig may run for a credential, as it is written there; repeat for more")
	flags.Func("allow-endpoint", "`host` that the source may name as the endpoint of a cluster, or as the proxy to it, where the Secret with its token names none: api.example.com, *.example.com, 10.0.0.0/8; repeat for more", func(text string) error {
		hosts, err := a.Hosts.With(text)
		if err == nil {
			a.Hosts = hosts
		}
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("kubeconfig", "kubeconfig-dir")
}

// addContextFlag adds the flag for a cluster that a kubeconfig calls otherwise.
func addContextFlag(flags *pflag.FlagSet, a *clusters.Access) {
	flags.StringVar(&a.Context, "context", "", "context to use, for one cluster that is called otherwise")
}

func addApplyFlags(cmd *cobra.Command) *applyFlags {
	flags := cmd.Flags()
	f := &applyFlags{access: addAccessFlags(cmd, flags)}
	addContextFlag(flags, f.access)
	flags.StringArrayVar(&f.adopt, "adopt", nil, "show what is there, is on the branch and is not from here; with the digest of that list, take it over")
	flags.Lookup("adopt").NoOptDefVal = showList
	flags.BoolVar(&f.prune, "allow-prune", false, "delete what left the branch, even if the guard would hold the cluster")
	flags.BoolVar(&f.rollback, "rollback", false, "apply a head that does not come after the commit applied last")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be done and change nothing")
	flags.Var(&f.wait, "wait", "wait until what was applied is healthy; healthy,suspended: or waits for somebody to go on, as Argo CD says it")
	flags.Lookup("wait").NoOptDefVal = waitHealthy
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "how long to wait")
	f.status = addStatusFlag(flags)
	return f
}

func applyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply [CLUSTER...]", Short: "Bring clusters to the heads of their branches, once",
		Long: `Apply brings each CLUSTER to the head of its published branch by server-side apply;
without names, every registered cluster whose syncMode is Push. Only what changed since
the last time costs a request. What left the branch is deleted, within the limits of
the guard. What is in a cluster and is not from here is not touched. See docs/apply.md.`,
	}
	where := repositoryFlags(cmd, "repository that holds the branches: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)")
	f := addApplyFlags(cmd)
	identities := identityFlags(cmd, f.access, "key file of age, by which documents that SOPS encrypted are decrypted")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		opens, err := identities(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		r, in, err := w.desired()
		if err != nil {
			return failure(2, err)
		}
		chosen, err := registration.Pushed(in.Clusters, args)
		if err != nil {
			return failure(2, err)
		}
		r.Rollback, r.Identities = f.rollback, opens
		if f.access.Context != "" && len(chosen) != 1 {
			return failure(2, fmt.Errorf("--context is for one cluster, and these are %d; name the one", len(chosen)))
		}
		apps := f.apply(cmd, r, &in, chosen)
		if err := show(cmd, output, report.Applications(apps, f.stage())); err != nil {
			return failure(2, err)
		}
		f.tell(cmd, r, apps, w.warn)
		return verdict(apps)
	}
	return cmd
}

// tell writes what became of clusters to their status branches.
func (f *applyFlags) tell(cmd *cobra.Command, r *reconciler.Reconciler, apps []applier.Result, warn func(string, ...any)) {
	if !*f.status || f.stage() != report.Done {
		return
	}
	if err := writer.Write(cmd.Context(), r.Target, r.Now(), applier.Rounds(apps)); err != nil {
		warn("%v; what was applied stays, and the next one who applies writes it", err)
	}
}

// stage is how far the command goes.
func (f *applyFlags) stage() report.Stage {
	switch {
	case slices.Contains(f.adopt, showList):
		return report.Adopting
	case f.dryRun:
		return report.Planned
	}
	return report.Done
}

// desired opens the source, and returns what may be applied.
func (w repositories) desired() (*reconciler.Reconciler, published.Desired, error) {
	r, err := w.reconciler("HEAD")
	if err != nil {
		return nil, published.Desired{}, err
	}
	in, err := r.Published().Desired(w.cmd.Context(), "HEAD", files.ID{})
	return r, in, err
}

// apply applies to clusters, several at once, so that one that hangs delays few.
func (f *applyFlags) apply(cmd *cobra.Command, r *reconciler.Reconciler, in *published.Desired, chosen []*karmada.Cluster) []applier.Result {
	a := applier.Applier{Published: r.Published(), Now: r.Now, Access: *f.access, Adopt: f.adopt, Prune: f.prune, Retry: true, DryRun: f.stage() != report.Done, Looks: *f.status}
	if f.wait != "" {
		a.Wait, a.WaitAccepts = f.timeout, f.wait.accepted()
	}
	const atOnce = 10
	apps := make([]applier.Result, len(chosen))
	part, end := terminal.Doing(cmd.Context(), len(chosen), "applying to %s", words.Count(len(chosen), "cluster"))
	defer end()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, c := range chosen {
		group.Go(func() error {
			defer part()
			apps[i] = a.Apply(cmd.Context(), in, c)
			return nil
		})
	}
	_ = group.Wait() // each has its error
	return apps
}

// verdict is how the command ends.
func verdict(apps []applier.Result) error {
	switch {
	case slices.ContainsFunc(apps, func(a applier.Result) bool { return a.Err != nil }):
		return &exitError{code: 2}
	case slices.ContainsFunc(apps, func(a applier.Result) bool { return a.Failed() }):
		return errSilent
	}
	return nil
}
