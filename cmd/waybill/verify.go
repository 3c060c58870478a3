package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/verify"
)

func verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify BRANCH", Short: "Rebuild a published branch from its trailers and compare", Args: cobra.ExactArgs(1),
		Long: `Verify reads the source commit and the previous decisions that the head of BRANCH
names in its trailers, plans them again, and compares the result with the branch
byte for byte. The name of a cluster stands for its branch. Where clusters share a
branch, it and BRANCH:FOLDER stand for the cluster's folder, and BRANCH for the
folders that its head was written for; what was compared is said.`,
	}
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
		_, end := terminal.Doing(cmd.Context(), 0, "rebuilding %s", args[0])
		v, err := verify.New(r.Planner(), r.Published(), r.Version).Verify(cmd.Context(), args[0])
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
