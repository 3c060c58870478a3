package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/guard"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/git"
)

func publishCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "publish [PATH]", Short: "Write every cluster's branch, and the state branch, once", Args: cobra.MaximumNArgs(1),
		Long: `Publish plans a commit of the repository at PATH (HEAD, unless --rev says) and
advances the branch of each cluster whose tree changed. The branches go to the
source's own repository, or to the one that --to or waybill.yaml names. What is
sound is published, whatever else is wrong or held.`,
	}
	rev := cmd.Flags().String("rev", "HEAD", "commit, branch or tag to publish")
	where := repositoryFlags(cmd, "repository to publish to: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)")
	allow := cmd.Flags().Bool("allow-prune", false, "publish clusters that the guard holds, too")
	takeOver := cmd.Flags().Bool("take-over", false, "publish over branches that were published from another source")
	rollback := cmd.Flags().Bool("rollback", false, "publish a commit that comes before the one published last")
	rotate := cmd.Flags().Bool("rotate-random-key", false, "draw and seal everything anew with the key of --random-key-file, instead of the one that was used last")
	dryRun := cmd.Flags().Bool("dry-run", false, "print what would be published and write nothing")
	where = signingFlag(cmd, where)
	told := addToldFlags(cmd, "URL of the repository that the agents of clusters with the syncMode Pull write to (default: that of the branches)")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		w.told = told
		r, err := w.publisher(*rev)
		if err != nil {
			return failure(2, err)
		}
		if *allow {
			r.Allow = guard.AllowAll
		}
		r.TakeOver, r.Rollback, r.Accept = *takeOver, *rollback, w.vacant
		if r.Random.Key, err = randomKey(cmd, sourcePath(cmd)); err != nil {
			return failure(2, err)
		}
		if r.Random.Rotate = *rotate; *rotate && r.Random.Key.IsZero() {
			return failure(2, errors.New("--rotate-random-key needs the new key; give it with --random-key-file"))
		}
		act := r.Publish
		if *dryRun {
			act = r.DryRun
		}
		res, err := published(cmd, *rev, act)
		if err != nil {
			return err
		}
		err = show(cmd, output, report.Publication(&res))
		if err == nil && output.Format == report.Table && !isQuiet(cmd) {
			fmt.Fprint(cmd.OutOrStdout(), w.next(&res, *dryRun))
		}
		if err == nil && diag.HasErrors(res.Diags) {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}

// published publishes, and says what is wrong with the source.
func published(cmd *cobra.Command, rev string, act func(context.Context, string) (reconciler.Result, error)) (reconciler.Result, error) {
	_, end := doing(cmd.Context(), 0, "publishing")
	res, err := act(cmd.Context(), rev)
	end()
	tell(cmd, res.Diags)
	if _, mistaken := errors.AsType[*reconciler.ConfigError](err); mistaken {
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
next, one of these syncs the branch of each cluster:
  Flux:     waybill get flux%[1]s%[2]s --cluster NAME | kubectl apply -f -
  Argo CD:  an Application of the branch %[3]sNAME, path manifests, recursively
  Waybill:  waybill apply%[1]s NAME, or for good waybill controller --apply
`, where, url, res.Plan.Config.Publish.BranchPrefix)
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

// newBranch reports a publication by which a cluster got its branch.
func newBranch(res *reconciler.Result) bool {
	for _, u := range res.Updates {
		if u.Old.IsZero() && strings.HasPrefix(u.Branch, res.Plan.Config.Publish.BranchPrefix) {
			return true
		}
	}
	return false
}
