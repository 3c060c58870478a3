package main

import (
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/registration"
	"github.com/waybill-dev/waybill/reconciler/report"
)

func orphansCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "orphans NAME", Short: "List what a lost inventory left in a cluster", Args: cobra.ExactArgs(1),
		Long: `Orphans lists the objects of a cluster that were applied from this source, by the annotation
waybill.dev/owner and their field manager, and that are neither on its branch nor in the inventory.
Waybill deletes none of them; kubectl delete does.`,
	}
	where := repositoryFlags(cmd, "repository that holds the branches: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)")
	access := addAccessFlags(cmd, cmd.Flags())
	addContextFlag(cmd.Flags(), access)
	output := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(sourcePath(cmd))
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
		a := applier.Applier{Published: r.Published(), Now: r.Now, Access: *access}
		orphans, failed := a.Orphans(cmd.Context(), &in, chosen[0])
		if err := show(cmd, output, report.Orphans(orphans)); err != nil {
			return failure(2, err)
		}
		return failure(2, failed)
	}
	return cmd
}
