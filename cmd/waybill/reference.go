package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/waybill-dev/waybill/cmd/waybill/reference"
)

// referenceCommand writes what every command says of itself: for docs/commands.md, and for man.
func referenceCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "reference", Short: "Print the reference of all commands as Markdown", Args: cobra.NoArgs, Hidden: true}
	man := cmd.Flags().String("man", "", "folder to write pages for man(1) to, instead")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		root := cmd.Root()
		root.DisableAutoGenTag = true
		if *man != "" {
			header := doc.GenManHeader{Section: "1", Source: "waybill " + buildVersion(), Manual: "Waybill"}
			return failure(2, doc.GenManTree(root, &header, *man))
		}
		_, err := io.WriteString(cmd.OutOrStdout(), reference.Markdown(root))
		return failure(2, err)
	}
	return cmd
}
