package main

import (
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/render/cache"
)

func controllerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "controller [PATH]", Short: "Follow a source and publish whenever it changes", Args: cobra.MaximumNArgs(1),
		Long: `Controller looks at the source every --interval, plans and publishes what changed,
and answers /healthz, /readyz and /metrics on --listen. PATH is a repository by
path or URL. On SIGTERM it ends the publication under way and stops.`,
	}
	rev := cmd.Flags().String("rev", "main", "branch to follow")
	where := repositoryFlags(cmd, "repository to publish to: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)")
	interval := cmd.Flags().Duration("interval", time.Minute, "time between two looks at the source")
	listen := cmd.Flags().String("listen", "127.0.0.1:8080", "address for health and metrics; empty for none")
	rollback := cmd.Flags().Bool("rollback", false, "follow the branch when it goes back to an earlier commit, too")
	verbose := cmd.Flags().BoolP("verbose", "v", false, "log diagnostics, too")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := where(pathOf(args))
		if err != nil {
			return failure(2, err)
		}
		if *interval < time.Second {
			return failure(2, fmt.Errorf("--interval is %s; want at least 1s", *interval))
		}
		r, err := w.publisher(*rev)
		if err != nil {
			return failure(2, err)
		}
		if r.Random.Key, err = randomKey(cmd, pathOf(args)); err != nil {
			return failure(2, err)
		}
		r.Cache, r.Rollback = cache.Memory(), *rollback
		level := slog.LevelInfo
		if *verbose {
			level = slog.LevelDebug
		}
		server := serve.New()
		loop := &reconciler.Loop{
			Reconciler: r, Rev: *rev, Interval: *interval, Now: time.Now, Report: server.Record,
			Log: slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level})),
		}
		group, ctx := errgroup.WithContext(cmd.Context())
		if *listen != "" {
			l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
			if err != nil {
				return failure(2, fmt.Errorf("listening on %s: %w", *listen, err))
			}
			group.Go(func() error { return server.Serve(ctx, l) })
		}
		group.Go(func() error { return loop.Run(ctx) })
		return failure(2, group.Wait())
	}
	return cmd
}
