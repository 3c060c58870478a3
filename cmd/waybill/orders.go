package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler/commands"
	"github.com/waybill-dev/waybill/reconciler/pulls"
)

// orderFlags say whether the controller takes orders from a forge.
type orderFlags struct {
	cmd              *cobra.Command
	takes, notAuthor bool
}

// addOrderFlags adds these flags.
func addOrderFlags(cmd *cobra.Command) *orderFlags {
	f, flags := &orderFlags{cmd: cmd}, cmd.Flags()
	flags.BoolVar(&f.takes, "orders", false, "take what maintainers order by comments on pull requests of --forge; see docs/forges.md")
	flags.BoolVar(&f.notAuthor, "orders-not-author", false, "with --orders: not from whoever opened the pull request")
	return f
}

// parts read comments. What they order has the loop look, and pull requests be shown again.
func (f *orderFlags) parts(_ context.Context, c *controller) ([]runnable, error) {
	if !f.takes {
		return nil, nil
	}
	asked, err := newPreviewer(f.cmd, c)
	if err != nil {
		return nil, err
	}
	handler := &pulls.CommandHandler{
		Forge: c.forge, Target: c.loop.Reconciler.Target, Source: c.loop.Reconciler.Source, Adds: asked.Adds, Rules: commands.Rules{NotAuthor: f.notAuthor},
		Interval: c.loop.Interval, Now: time.Now, Log: c.loop.Log,
		Changed: func() { wake(c.wakes.source); wake(c.wakes.pulled) },
	}
	return []runnable{{name: "command handler", leads: true, wakes: c.wakes.commented, run: handler.Run}}, nil
}
