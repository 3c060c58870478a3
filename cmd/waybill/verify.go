package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/state"
	"github.com/waybill-dev/waybill/reconciler/verify"
)

func verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify BRANCH", Short: "Rebuild a published branch from its trailers and compare", Args: cobra.ExactArgs(1),
		Long: `Verify reads the source commit and the previous decisions that the head of BRANCH
names in its trailers, plans them again, and compares the result with the branch
byte for byte. The name of a cluster stands for its branch. Where clusters share a
branch, it and BRANCH:FOLDER stand for the cluster's folder, and BRANCH for the
folders that its head was written for; what was compared is said.

With --chain it goes through ` + state.Branch + ` commit by commit: each is rebuilt from the one before and
what it records, and so are the commits of clusters' branches that were published with it.`,
	}
	chain := cmd.Flags().Bool("chain", false, "rebuild the commits of "+state.Branch+" one by one, and what was published with each")
	from := cmd.Flags().String("from", "", "the first commit of --chain, or the first of its digits (default: where the oldest run began that is open, else the last run)")
	where := repositoryFlags(cmd, "repository that holds BRANCH: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(sourcePath(cmd))
		if err != nil {
			return failure(2, err)
		}
		r, err := w.reconciler("HEAD")
		if err != nil {
			return failure(2, err)
		}
		if r.Random.Key, err = randomKey(cmd, sourcePath(cmd)); err != nil {
			return failure(2, err)
		}
		verifier := verify.New(r.Planner(), r.Published(), r.Version)
		if *chain || *from != "" {
			return verifyChain(cmd, verifier, output, args[0], *from)
		}
		_, end := terminal.Doing(cmd.Context(), 0, "rebuilding %s", args[0])
		v, err := verifier.Verify(cmd.Context(), args[0])
		end()
		if err != nil {
			return failure(2, err)
		}
		err = show(cmd, output, report.Verification(&v, buildVersion()))
		if err == nil && !v.Same {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}

// verifyChain rebuilds the state branch commit by commit.
func verifyChain(cmd *cobra.Command, v *verify.Verifier, output *format, branch, from string) error {
	end := func() {}
	c, err := v.Chain(cmd.Context(), branch, from, func(commits int) (part func()) {
		part, end = terminal.Doing(cmd.Context(), commits, "rebuilding %s", state.Branch)
		return part
	})
	end()
	if err == nil {
		err = cmp.Or(show(cmd, output, report.Chain(&c)), c.Err())
	}
	if err != nil || c.Same {
		return failure(2, err)
	}
	return errSilent
}
