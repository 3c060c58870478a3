package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/reconciler/report"
	"github.com/waybill-dev/waybill/reconciler/status/reports"
)

func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status [CLUSTER...]", Short: "Say from Git how clusters are: what is behind, failing or not healthy",
		Long: `Status reads how clusters are from Git alone: the heads of their branches, and the
branches waybill/status/CLUSTER that whoever applies writes. It asks no cluster. TOLD is how
old a word is; one that is older than --max-age counts for nothing. With names it also
lists the objects that are not well, and why. See docs/status.md.`,
		Example: "  waybill status\n  waybill status eu-1 -n shop -o wide",
	}
	rev := cmd.Flags().String("rev", "", "a commit, branch or tag, instead of the directory as it stands, for its waybill.yaml")
	namespace := cmd.Flags().StringP("namespace", "n", "", "only what is in this namespace")
	lasting := cmd.Flags().Duration("max-age", reports.Lasting, "how old a word may be; one who applies says something at least every 30 days")
	where := reportFlags(cmd)
	output := outputFlag(cmd, report.Wide)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, s, err := openPublished(cmd, where, *rev)
		if err != nil {
			return failure(2, err)
		}
		_, end := terminal.Doing(cmd.Context(), 0, "reading what clusters say")
		fleet, err := r.Reports().Fleet(cmd.Context(), s, reports.Query{Clusters: args, Namespace: *namespace, Closely: len(args) > 0, Lasting: *lasting})
		end()
		if err != nil {
			return failure(2, err)
		}
		if err := show(cmd, output, report.Fleet(&fleet, r.Now())); err != nil {
			return failure(2, err)
		}
		if slices.ContainsFunc(fleet.Clusters, func(m reports.Cluster) bool { return !m.Well() }) {
			return errSilent
		}
		return nil
	}
	return cmd
}

// errNothingPublished says of a directory that nothing can be published from it.
func errNothingPublished(path string) error {
	return fmt.Errorf("%s is in no Git repository, so that nothing was published from it; -C names the source", path)
}
