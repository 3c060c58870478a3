package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/firstsource"
	"github.com/waybill-dev/waybill/examples"
)

func initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init [DIR]", Short: "Write a first source: two clusters, a policy, an app", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			names, err := firstsource.Write(dir, examples.Quickstart, "quickstart")
			if err != nil {
				return failure(2, err)
			}
			out := cmd.OutOrStdout()
			for _, n := range names {
				fmt.Fprintln(out, "wrote", n)
			}
			_, err = fmt.Fprintf(out, "\nnext:\n  waybill render %[1]s\n  git init -b main %[1]s && git -C %[1]s add -A && git -C %[1]s commit -m first\n  waybill publish %[1]s\n", dir)
			return err
		},
	}
}
