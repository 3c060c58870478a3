package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify BRANCH", Short: "Rebuild a published branch from its trailers and compare", Args: cobra.ExactArgs(1),
		Long: `Verify reads the source commit and the previous decisions that the head of BRANCH
names in its trailers, plans them again, and compares the result with the branch
byte for byte.`,
	}
	path := cmd.Flags().StringP("source", "C", ".", "directory of the source repository")
	where := repositoryFlags(cmd, "repository that holds BRANCH: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)")
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(*path)
		if err != nil {
			return failure(2, err)
		}
		r, err := w.reconciler("HEAD")
		if err != nil {
			return failure(2, err)
		}
		if r.Random.Key, err = randomKey(cmd, *path); err != nil {
			return failure(2, err)
		}
		v, err := r.Verify(cmd.Context(), args[0])
		if err != nil {
			return failure(2, err)
		}
		err = emit(cmd.OutOrStdout(), *output, v, func(w io.Writer) error {
			if v.Same {
				_, err := fmt.Fprintf(w, "%s at %s is what %s gives, byte for byte\n", v.Branch, abbreviate(v.Commit), abbreviate(v.Source))
				return err
			}
			fmt.Fprintf(w, "%s at %s is not what %s gives:\n", v.Branch, abbreviate(v.Commit), abbreviate(v.Source))
			for _, d := range v.Differences {
				fmt.Fprintln(w, " ", d)
			}
			if v.Version != buildVersion() {
				fmt.Fprintf(w, "it was written by Waybill %s, this is %s\n", v.Version, buildVersion())
			}
			return nil
		})
		if err == nil && !v.Same {
			return errSilent
		}
		return failure(2, err)
	}
	return cmd
}
