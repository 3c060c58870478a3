package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/announce"
	"github.com/waybill-dev/waybill/reconciler/pulls"
)

// announceFlags say whether the controller shows at a forge what becomes of commits.
type announceFlags struct{ reports bool }

// addAnnounceFlags adds these flags.
func addAnnounceFlags(cmd *cobra.Command) *announceFlags {
	f := &announceFlags{}
	cmd.Flags().BoolVar(&f.reports, "commit-statuses", false, "show at --forge what became of each commit of the source: published, applied, healthy; and how far what goes out in stages is")
	return f
}

// turned shows it after each turn of the loop; nil if it is not asked for.
func (f *announceFlags) turned(c *controller) func(context.Context, *reconciler.Sync) {
	if !f.reports {
		return nil
	}
	statuses := &pulls.CommitStatuses{Reconciler: c.loop.Reconciler, Rev: c.loop.Rev, Forge: announce.At(c.forge, ""), Log: c.loop.Log}
	return statuses.Turned
}
