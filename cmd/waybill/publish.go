package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/publish"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/git"
)

func publishCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "publish [PATH]", Short: "Write every cluster's branch, and the state branch, once", Args: cobra.MaximumNArgs(1),
		Long: `Publish plans a commit of the repository at PATH (HEAD, unless --rev says) and
advances the branch of each cluster whose tree changed or, where clusters share a
branch (publish.layout: folders), that branch. The branches go to the source's own
repository, or to the one that --to or waybill.yaml names. What is sound is
published, whatever else is wrong or held.`,
	}
	f := addPublishFlags(cmd)
	flags := cmd.Flags()
	rev := flags.String("rev", "HEAD", "commit, branch or tag to publish")
	flags.BoolVar(&f.rollback, "rollback", false, "publish a commit that comes before the one published last")
	addRestoredFlag(flags, &f.restored)
	rotate := flags.Bool("rotate-random-key", false, "draw and seal everything anew with the key of --random-key-file, instead of the one that was used last")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		w, r, err := f.open(cmd, *rev)
		if err != nil {
			return failure(2, err)
		}
		if r.Random.Rotate = *rotate; *rotate && r.Random.Key.IsZero() {
			return failure(2, errors.New("--rotate-random-key needs the new key; give it with --random-key-file"))
		}
		return f.publish(w, r, *rev)
	}
	return cmd
}

// publishFlags are the flags of a command that publishes once.
type publishFlags struct {
	where                                func(path string) (repositories, error)
	statuses                             *statusFlags
	evidence                             *forgeflags.Evidence
	allow                                []string // clusters, or guard.AllowAll
	takeOver, rollback, dryRun, restored bool
	output                               *format
}

func addPublishFlags(cmd *cobra.Command) *publishFlags {
	f, flags := &publishFlags{}, cmd.Flags()
	f.where = signingFlag(cmd, repositoryFlags(cmd, "repository to publish to: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)"))
	flags.StringSliceVar(&f.allow, "allow-prune", nil, "publish clusters that the guard holds, too: all, or with =CLUSTER,... these")
	flags.Lookup("allow-prune").NoOptDefVal = guard.AllowAll
	flags.BoolVar(&f.takeOver, "take-over", false, "publish over branches that were published from another source")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print what would be published and write nothing")
	f.statuses = addStatusFlags(cmd, "URL of the repository that the agents of clusters with the syncMode Pull write to (default: that of the branches)")
	f.evidence = forgeflags.AddEvidence(cmd, forgeflags.Add(cmd))
	f.output = outputFlag(cmd)
	return f
}

// open opens what is published from, and to.
func (f *publishFlags) open(cmd *cobra.Command, rev string) (repositories, *reconciler.Reconciler, error) {
	w, err := f.where(sourcePath(cmd))
	if err != nil {
		return w, nil, err
	}
	w.statuses = f.statuses
	r, err := w.publisher(rev)
	if err != nil {
		return w, nil, err
	}
	if r.Allow, err = w.allowed(f.allow, rev); err != nil {
		return w, nil, err
	}
	if r.Statuses, err = f.evidence.Lister(); err != nil {
		return w, nil, err
	}
	who := git.Person(w.path, os.Getenv)
	r.AllowedBy = cmp.Or(who.Email, who.Name)
	r.TakeOver, r.Rollback, r.Restored, r.Accept = f.takeOver, f.rollback, f.restored, w.vacant
	r.Random.Key, err = randomKey(cmd, w.path)
	return w, r, err
}

// allowed is what --allow-prune allows.
func (w repositories) allowed(clusters []string, rev string) (string, error) {
	if len(clusters) == 0 || slices.Contains(clusters, guard.AllowAll) {
		return strings.Join(clusters, ""), nil
	}
	registered, err := w.registered(rev)
	if err != nil {
		return "", err
	}
	if _, err := registration.Named(registered, clusters, "the source"); err != nil {
		return "", fmt.Errorf("--allow-prune: %w", err)
	}
	var all []string
	for _, name := range clusters {
		all = append(all, guard.OfCluster(name))
	}
	return strings.Join(all, " "), nil
}

// publish publishes a commit, and says what comes next.
func (f *publishFlags) publish(w repositories, r *reconciler.Reconciler, rev string) error {
	act := r.Publish
	if f.dryRun {
		act = r.DryRun
	}
	res, err := publishing(w.cmd, rev, act)
	if err != nil {
		return err
	}
	err = show(w.cmd, f.output, report.Publication(&res))
	if err == nil && f.output.Format == report.Table && !isQuiet(w.cmd) {
		fmt.Fprint(w.cmd.OutOrStdout(), w.next(&res, f.dryRun))
	}
	if err == nil && diag.HasErrors(res.Diags) {
		return errSilent
	}
	return failure(2, err)
}

// publishing publishes, and says what is wrong with the source.
func publishing(cmd *cobra.Command, rev string, act func(context.Context, string) (reconciler.Result, error)) (reconciler.Result, error) {
	_, end := terminal.Doing(cmd.Context(), 0, "publishing")
	res, err := act(cmd.Context(), rev)
	end()
	tell(cmd, res.Diags)
	if _, mistaken := errors.AsType[*render.ConfigError](err); mistaken {
		return res, failure(1, err)
	}
	return res, failure(2, err)
}

// next says what to do after a publication; nothing where nothing was published.
func (w repositories) next(res *reconciler.Result, dry bool) string {
	switch {
	case len(res.Updates) == 0:
		return ""
	case dry:
		return "nothing was written; without --dry-run it is\n"
	}
	where := argument("-C", w.path) + argument("--to", w.to)
	if !newBranch(res) {
		return "\nnext: waybill status" + where + "\n"
	}
	url := ""
	if res.Plan.Config.Publish.Repository == "" {
		url = " --url URL"
	}
	return fmt.Sprintf(`
next, one of these syncs the %[3]s of each cluster:
  Flux:     waybill get flux%[1]s%[2]s --cluster NAME | kubectl apply -f -
  Argo CD:  waybill get argocd%[1]s%[2]s | kubectl apply -f -
  Waybill:  waybill apply%[1]s NAME, or for good waybill controller --apply
`, where, url, res.Plan.Config.Publish.Addresses().Noun())
}

// argument is a flag as it is to be typed again; nothing where it says nothing. In a URL there
// may be a password.
func argument(flag, value string) string {
	switch {
	case value == "" || value == ".":
		return ""
	case git.IsURL(value):
		value = "URL"
	}
	return " " + flag + " " + value
}

// newBranch reports a publication by which a cluster got its branch, or its folder.
func newBranch(res *reconciler.Result) bool {
	at := res.Plan.Config.Publish.Addresses()
	for _, u := range res.Updates {
		if !at.Has(u.Branch) {
			continue
		}
		isNew := func(cluster string) bool { return res.Plan.Published[cluster].Built == nil }
		if u.Old.IsZero() || at.Shared != "" && slices.ContainsFunc(sources.Trailers(u.Message, publish.TrailerCluster), isNew) {
			return true
		}
	}
	return false
}

// addRestoredFlag adds the flag of those who publish to what was restored from a backup.
func addRestoredFlag(flags *pflag.FlagSet, restored *bool) {
	flags.BoolVar(restored, "restored", false, "the repository that is published to was restored from a backup: go on from what the clusters' status branches say was applied")
}
