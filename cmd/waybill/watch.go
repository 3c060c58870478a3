package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/terminal"
	"github.com/waybill-dev/waybill/cmd/waybill/watching"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/git"
)

// watched shows what changes, and shows it again whenever a file changes, until it is interrupted.
// What cannot be read is said, and looked at again when it changes.
func (d *differ) watched(cmd *cobra.Command) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd.SetContext(ctx)
	seen, err := watching.Fingerprint(d.where.path)
	if err != nil {
		return err
	}
	r, s, err := d.where.compared(d.question.Base, "")
	if err != nil {
		return err
	}
	r.Cache = cache.Memory()
	source, _ := r.Source.(*git.Repo)
	d.question.Head = s
	for {
		d.redraw(cmd, r)
		if seen, err = watching.Next(ctx, d.where.path, seen); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		if d.question.Head, err = d.where.snapshot(source, ""); err != nil {
			return err
		}
	}
}

// redraw shows what changes on an empty screen.
func (d *differ) redraw(cmd *cobra.Command, r *reconciler.Reconciler) {
	if terminal.HasColours(cmd.OutOrStdout()) {
		fmt.Fprint(terminal.Uncleaned(cmd.OutOrStdout()), "\x1b[H\x1b[2J")
	}
	exit, ok := errors.AsType[*exitError](d.answer(cmd, r))
	if ok && exit.err != nil && cmd.Context().Err() == nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "error:", exit.err)
	}
}
