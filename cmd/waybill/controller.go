package main

import (
	"context"
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

// waking returns what tells of a turn of the loop, and wakes who applies if something was
// published.
func waking(report func(reconciler.Sync), tell func(...reconciler.Event), wakes chan<- struct{}) func(reconciler.Sync) {
	return func(s reconciler.Sync) {
		report(s)
		tell(s.Events()...)
		if s.Err == nil && !s.UpToDate {
			wake(wakes)
		}
	}
}

// wake wakes who waits for a channel of one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake
	}
}

// logger logs in JSON, a line a fact.
func logger(cmd *cobra.Command, verbose *bool) *slog.Logger {
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
}

// listening serves health and metrics on an address; empty is none.
func listening(ctx context.Context, group *errgroup.Group, server *serve.Server, address string) error {
	if address == "" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening on %s: %w", address, err)
	}
	group.Go(func() error { return server.Serve(ctx, l) })
	return nil
}

// keyed gives a reconciler the keys that it draws from and decrypts with.
func keyed(cmd *cobra.Command, r *reconciler.Reconciler, path string, identities func(path string) (ask, error)) (err error) {
	if r.Random.Key, err = randomKey(cmd, path); err != nil {
		return err
	}
	r.Identities, err = identities(path)
	return err
}

func controllerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "controller [PATH]", Short: "Follow a source and publish whenever it changes", Args: cobra.MaximumNArgs(1),
		Long: `Controller looks at the source every --interval, plans and publishes what changed,
and answers /healthz, /readyz and /metrics on --listen. PATH is a repository by
path or URL. With --apply it also keeps every registered cluster whose syncMode is Push
at the head of its branch, see docs/apply.md, and observes it, see docs/clusters.md.
With --leader-elect several replicas divide the work, see docs/controller.md.
On SIGTERM it ends what is under way and stops.`,
	}
	rev := cmd.Flags().String("rev", "main", "branch to follow")
	where := repositoryFlags(cmd, "repository to publish to: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)")
	interval := cmd.Flags().Duration("interval", time.Minute, "time between two looks at the source")
	listen := cmd.Flags().String("listen", "127.0.0.1:8080", "address for health and metrics; empty for none")
	rollback := cmd.Flags().Bool("rollback", false, "follow the branch when it goes back to an earlier commit, too")
	applies := cmd.Flags().Bool("apply", false, "apply to clusters with the syncMode Push, too")
	resync := cmd.Flags().Duration("resync", 10*time.Minute, "with --apply: time after which a cluster is looked at, whatever its watches say")
	observes := cmd.Flags().Bool("observe", true, "with --apply: record on the state branch what plans can see of these clusters, too: version, APIs, room, readiness")
	tells := addStatusFlag(cmd.Flags())
	access, managed := addFleetFlags(cmd, cmd.Flags())
	division := addReplicaFlags(cmd.Flags())
	cmd.Flags().BoolVar(&managed.events, "events", false, "tell what is held, applied and refused as Events of Kubernetes, in --cluster-secrets-namespace")
	identities := identityFlags(cmd, access, "with --apply: key file of age, by which documents that SOPS encrypted are decrypted")
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
		if err := keyed(cmd, r, pathOf(args), identities); err != nil {
			return failure(2, err)
		}
		r.Cache, r.Rollback = cache.Memory(), *rollback
		tell, err := managed.telling(cmd.Context())
		if err != nil {
			return failure(2, err)
		}
		server := serve.New()
		wakes, looks := make(chan struct{}, 1), make(chan struct{}, 1)
		wakes <- struct{}{} // what is published already
		loop := &reconciler.Loop{
			Reconciler: r, Rev: *rev, Interval: *interval, Now: time.Now, Wake: looks, Report: waking(server.Record, tell, wakes),
			Log: logger(cmd, verbose),
		}
		group, ctx := errgroup.WithContext(cmd.Context())
		reader := *r // which the loop does not share
		one, err := division.open(managed, loop.Log)
		if err != nil {
			return failure(2, err)
		}
		lookout := &reconciler.Lookout{Reconciler: &reader, Interval: *interval, Log: loop.Log, Wake: func() { wake(wakes) }, Report: server.RecordLook}
		group.Go(func() error { return one.look(ctx, lookout) })
		if *applies {
			with := applying{server: server, one: one, access: access, log: loop.Log, tell: tell, wakes: wakes, looks: looks, observes: *observes, words: *tells}
			follower := &reconciler.Follower{Applier: reconciler.Applier{Reconciler: &reader}, Rev: *rev, Resync: *resync}
			with.start(ctx, group, follower)
		}
		if err := listening(ctx, group, server, *listen); err != nil {
			return failure(2, err)
		}
		group.Go(func() error { return one.lead(ctx, loop.Run, server.RecordLead) })
		return failure(2, group.Wait())
	}
	return cmd
}
