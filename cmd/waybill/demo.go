package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/demo"
)

func demoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "demo", Short: "Show the whole way in a temporary folder: source, branches, bindings, a diff", Args: cobra.NoArgs,
		Long: "Demo makes a small source and an empty bare repository in a temporary folder, publishes, changes\nthe source and shows what that does. It needs git and touches nothing else.",
	}
	keep := cmd.Flags().String("keep", "", "use this folder, and leave it there")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir := *keep
		if dir == "" {
			temp, err := os.MkdirTemp("", "waybill-demo-")
			if err != nil {
				return failure(2, err)
			}
			defer os.RemoveAll(temp)
			dir = temp
		}
		return failure(2, demo.Show(cmd.Context(), cmd.OutOrStdout(), dir, func(args []string, out io.Writer) int {
			return run(cmd.Context(), args, out, out)
		}))
	}
	return cmd
}
