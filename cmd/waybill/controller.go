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
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/render/cache"
)

// waking returns what tells of a turn of the loop, and wakes who applies if something was
// published.
func waking(report func(reconciler.Sync), tell func(...events.Event), wakes chan<- struct{}) func(reconciler.Sync) {
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

// controllerFlags are the flags of the controller.
type controllerFlags struct {
	where             func(path string) (repositories, error)
	rev, listen       string
	interval, resync  time.Duration
	rollback          bool
	restored          bool
	applies, observes bool
	words             *bool // of the status branches
	access            *clusters.Access
	managed           *managementFlags
	division          *replicaFlags
	identities        func(path string) (ask, error)
	told              *toldFlags
	hooks             *webhookFlags
	orders            *orderFlags
	ui                *uiFlags
	notify            *notifyFlags
	verbose           *bool
}

func controllerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "controller [PATH]", Short: "Follow a source and publish whenever it changes", Args: cobra.MaximumNArgs(1),
		Long: `Controller looks at the source every --interval, plans and publishes what changed,
and answers /healthz, /readyz and /metrics on --listen. PATH is a repository by
path or URL. With --ui-listen it serves a read-only web UI, see docs/ui.md. With --apply it also keeps every registered cluster whose syncMode is Push
at the head of its branch, see docs/apply.md, and observes it, see docs/clusters.md.
With --leader-elect several replicas divide the work, see docs/controller.md.
On SIGTERM it ends what is under way and stops.`,
	}
	f, flags := &controllerFlags{}, cmd.Flags()
	flags.StringVar(&f.rev, "rev", "main", "branch to follow")
	f.where = signingFlag(cmd, repositoryFlags(cmd, "repository to publish to: a remote's name, a path or a URL (default: as waybill.yaml says, else the source's own)"))
	flags.DurationVar(&f.interval, "interval", time.Minute, "time between two looks at the source")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "address for health and metrics; empty for none")
	flags.BoolVar(&f.rollback, "rollback", false, "follow the branch when it goes back to an earlier commit, too")
	addRestoredFlag(flags, &f.restored)
	flags.BoolVar(&f.applies, "apply", false, "apply to clusters with the syncMode Push, too")
	flags.DurationVar(&f.resync, "resync", 10*time.Minute, "with --apply: time after which a cluster is looked at, whatever its watches say")
	flags.BoolVar(&f.observes, "observe", true, "with --apply: record on the state branch what plans can see of these clusters, too: version, APIs, room, readiness")
	f.words = addStatusFlag(flags)
	f.access, f.managed = addFleetFlags(cmd, flags)
	f.division = addReplicaFlags(flags)
	flags.BoolVar(&f.managed.events, "events", false, "tell what is held, applied and refused as Events of Kubernetes, in --cluster-secrets-namespace")
	f.identities = identityFlags(cmd, f.access, "with --apply: key file of age, by which documents that SOPS encrypted are decrypted")
	f.told = addToldFlags(cmd, "URL of the repository that the agents of clusters with the syncMode Pull write to; with it they are heard").addSharedFlag()
	at := addForgeFlags(cmd)
	f.hooks, f.orders, f.ui, f.notify = addWebhookFlags(cmd, at), addOrderFlags(cmd, at), addUIFlags(cmd), addNotifyFlags(cmd)
	f.verbose = flags.BoolP("verbose", "v", false, "log diagnostics, too")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return failure(2, f.run(cmd, sourcePath(cmd))) }
	return withTraces(cmd, f.verbose)
}

// recorded takes a turn of the loop in, for those who ask and those who look.
func (f *controllerFlags) recorded(server *serve.Server) func(reconciler.Sync) {
	return func(s reconciler.Sync) {
		server.Record(s)
		if s.Err == nil && !s.UpToDate {
			f.ui.changed()
		}
	}
}

// publisher opens what the controller publishes with.
func (f *controllerFlags) publisher(cmd *cobra.Command, path string) (*reconciler.Reconciler, error) {
	if f.interval < time.Second {
		return nil, fmt.Errorf("--interval is %s; want at least 1s", f.interval)
	}
	w, err := f.where(path)
	if err != nil {
		return nil, err
	}
	w.told = f.told
	r, err := w.publisher(f.rev)
	if err != nil {
		return nil, err
	}
	r.Cache, r.Rollback, r.Restored, r.ByComment = cache.Memory(), f.rollback, f.restored, f.orders.takes
	return r, keyed(cmd, r, path, f.identities)
}

// forOthers is a reconciler that shares nothing of what another one remembers.
func forOthers(r reconciler.Reconciler) *reconciler.Reconciler {
	r.Seen = reconciler.NewCache()
	return &r
}

// work is what the one that leads does: the loop, and what goes beside it. Look has the loop look.
func (f *controllerFlags) work(r reconciler.Reconciler, loop *reconciler.Loop, server *serve.Server, look func()) (func(context.Context) error, error) {
	work, err := f.orders.beside(loop, look, f.told.monitored(r, loop.Log, server, look, loop.Run))
	if err != nil {
		return nil, err
	}
	return f.notify.beside(r, loop, f.ui.url, work)
}

// run publishes, and applies if that is asked for, until the command's context ends.
func (f *controllerFlags) run(cmd *cobra.Command, path string) error {
	r, err := f.publisher(cmd, path)
	if err != nil {
		return err
	}
	tell, err := f.managed.telling(cmd.Context())
	if err != nil {
		return err
	}
	server := serve.New()
	wakes, looks := make(chan struct{}, 1), make(chan struct{}, 1)
	wakes <- struct{}{} // what is published already
	loop := &reconciler.Loop{
		Reconciler: r, Rev: f.rev, Interval: f.interval, Now: time.Now, Wake: looks, Report: waking(f.recorded(server), tell, wakes),
		Log: logger(cmd, f.verbose),
	}
	group, ctx := errgroup.WithContext(cmd.Context())
	if err := f.ui.open(*r, loop, f.division.elect); err != nil {
		return err
	}
	if f.orders.previews.shows {
		f.orders.previews.shown = f.ui.previews()
	}
	one, err := f.division.open(f.managed, reconciler.Work(r, f.rev), loop.Log)
	if err != nil {
		return err
	}
	work, err := f.work(*r, loop, server, func() { wake(looks) })
	if err != nil {
		return err
	}
	poller := &applier.BranchPoller{Target: r.Target, Interval: f.interval, Log: loop.Log, Wake: func() { wake(wakes) }, Report: server.RecordLook}
	group.Go(func() error { return one.look(ctx, poller) })
	if f.applies {
		with := applying{server: server, one: one, access: f.access, log: loop.Log, tell: tell, wakes: wakes, looks: looks, observes: f.observes, words: *f.words,
			recorder: observe.Recorder{Target: r.Target, Version: r.Version, Now: r.Now}}
		follower := &applier.Follower{Applier: applier.Applier{Published: forOthers(*r).Published(), Now: r.Now}, Rev: f.rev, Resync: f.resync}
		with.start(ctx, group, follower)
	}
	if err := listening(ctx, group, server, f.listen); err != nil {
		return err
	}
	if err := f.ui.listening(ctx, group); err != nil {
		return err
	}
	if err := f.hooks.listening(ctx, group, server, hookWakes{
		look: func() { wake(looks); wake(f.orders.commented) }, read: func() { wake(f.orders.commented) },
		pulled: func() { wake(f.orders.commented); wake(f.orders.previews.pulled) },
	}); err != nil {
		return err
	}
	group.Go(func() error { return one.lead(ctx, work, server.RecordLead) })
	return group.Wait() //nolint:wrapcheck // the parts say what failed
}
