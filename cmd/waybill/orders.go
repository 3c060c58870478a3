package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/announce"
	"github.com/waybill-dev/waybill/reconciler/orders"
	"github.com/waybill-dev/waybill/reconciler/pulls"
)

// orderFlags say what the controller tells a forge, and takes from it.
type orderFlags struct {
	forge                     *forgeFlags
	takes, notAuthor, reports bool

	commented chan struct{} // wakes whoever reads comments
	previews  *previewFlags
}

// addOrderFlags adds these flags.
func addOrderFlags(cmd *cobra.Command, at *forgeFlags) *orderFlags {
	f := &orderFlags{forge: at, commented: make(chan struct{}, 1), previews: addPreviewFlags(cmd)}
	flags := cmd.Flags()
	flags.BoolVar(&f.takes, "orders", false, "take what maintainers order by comments on pull requests of --forge; see docs/forges.md")
	flags.BoolVar(&f.notAuthor, "orders-not-author", false, "with --orders: not from whoever opened the pull request")
	flags.BoolVar(&f.reports, "commit-statuses", false, "show at --forge what became of each commit of the source: published, applied, healthy")
	return f
}

// beside has a loop say what becomes of commits, and returns its work with what takes orders and
// what shows pull requests beside it. Look is called when there are other orders.
func (f *orderFlags) beside(loop *reconciler.Loop, look func(), work func(context.Context) error) (func(context.Context) error, error) {
	if !f.takes && !f.reports && !f.previews.shows {
		return work, nil
	}
	if err := f.previews.check(); err != nil {
		return nil, err
	}
	j, err := f.forge.job()
	if err != nil {
		return nil, err
	}
	at, err := f.forge.open(j)
	if err != nil {
		return nil, err
	}
	if f.reports {
		statuses := &pulls.CommitStatuses{Reconciler: loop.Reconciler, Rev: loop.Rev, Forge: announce.At(at, ""), Log: loop.Log}
		loop.After = statuses.Turned
	}
	if f.previews.shows {
		p, err := f.previews.previewer(*loop.Reconciler, loop.Rev, at, loop.Interval, loop.Log)
		if err != nil {
			return nil, err
		}
		work = f.previews.beside(p, work)
	}
	if !f.takes {
		return work, nil
	}
	asked, err := f.previews.previewer(*loop.Reconciler, loop.Rev, at, loop.Interval, loop.Log)
	if err != nil {
		return nil, err
	}
	handler := &pulls.CommandHandler{
		Forge: at, Target: loop.Reconciler.Target, Source: loop.Reconciler.Source, Adds: asked.Adds, Rules: orders.Rules{NotAuthor: f.notAuthor}, Interval: loop.Interval, Now: time.Now, Log: loop.Log,
		Changed: func() { look(); wake(f.previews.pulled) },
	}
	return together(func(ctx context.Context) error { return handler.Run(ctx, f.commented) }, work), nil
}

// together does two things at once.
func together(one, other func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return one(ctx) })
		group.Go(func() error { return other(ctx) })
		return group.Wait()
	}
}
