package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/cmd/waybill/forgeflags"
	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/pulls"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/reconciler/ui"
	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/sources/forge"
)

// logger logs in JSON, a line a fact.
func logger(cmd *cobra.Command, verbose *bool) *slog.Logger {
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
}

// listening serves health and metrics on an address; empty is none.
func listening(ctx context.Context, server *serve.Server, address string) ([]runnable, error) {
	if address == "" {
		return nil, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return []runnable{{name: "health and metrics", run: alone(func(ctx context.Context) error { return server.Serve(ctx, l) })}}, nil
}

// keyed gives a reconciler the keys that it draws from and decrypts with.
func keyed(cmd *cobra.Command, r *reconciler.Reconciler, path string, identities func(path string) (ask, error)) (err error) {
	if r.Random.Key, err = randomKey(cmd, path); err != nil {
		return err
	}
	r.Identities, err = identities(path)
	return err
}

// controllerFlags are the flags of the controller: its own, and those of each feature.
type controllerFlags struct {
	where       func(path string) (repositories, error)
	rev, listen string
	interval    time.Duration
	rollback    bool
	restored    bool
	verbose     *bool

	apply    *applyingFlags
	division *replicaFlags
	statuses *statusFlags
	forge    *forgeflags.Flags
	evidence *forgeflags.Evidence
	hooks    *webhookFlags
	orders   *orderFlags
	announce *announceFlags
	previews *previewFlags
	ui       *uiFlags
	notify   *notifyFlags
	updates  *updatesFlags
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
	f.apply, f.division = addApplyingFlags(cmd), addReplicaFlags(flags)
	f.statuses = addStatusFlags(cmd, "URL of the repository that the agents of clusters with the syncMode Pull write to; with it they are heard").addSharedFlag()
	f.forge = forgeflags.Add(cmd)
	f.evidence = forgeflags.AddEvidence(cmd, f.forge)
	f.hooks, f.orders, f.announce, f.previews = addWebhookFlags(cmd, f.forge), addOrderFlags(cmd), addAnnounceFlags(cmd), addPreviewFlags(cmd)
	f.ui, f.notify, f.updates = addUIFlags(cmd), addNotifyFlags(cmd), addUpdatesFlags(cmd, f.forge, f.where)
	f.verbose = flags.BoolP("verbose", "v", false, "log diagnostics, too")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return failure(2, f.run(cmd, sourcePath(cmd))) }
	return withTraces(cmd, f.verbose)
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
	w.statuses = f.statuses
	r, err := w.publisher(f.rev)
	if err != nil {
		return nil, err
	}
	r.Cache, r.Rollback, r.Restored, r.ByComment = cache.Memory(), f.rollback, f.restored, f.orders.takes
	if r.Statuses, err = f.evidence.Lister(); err != nil {
		return nil, err
	}
	return r, keyed(cmd, r, path, f.apply.identities)
}

// forOthers is a reconciler that shares nothing of what another one remembers.
func forOthers(r reconciler.Reconciler) *reconciler.Reconciler {
	r.Seen = reconciler.NewCache()
	return &r
}

// controller is what the parts of a controller share.
type controller struct {
	loop   *reconciler.Loop // whose Reconciler other parts have forOthers
	server *serve.Server
	one    *replica
	tell   func(...events.Event)
	wakes  wakes
	forge  forge.Forge // nil: no part asks one
	shown  pulls.Shown
	ui     *ui.UI // nil: there is none
	url    string // of the web UI, for links
}

// run publishes, and does what else is asked for, until the command's context ends.
func (f *controllerFlags) run(cmd *cobra.Command, path string) error {
	r, err := f.publisher(cmd, path)
	if err != nil {
		return err
	}
	c := &controller{server: serve.New(), wakes: newWakes()}
	if c.tell, err = f.apply.telling(cmd.Context()); err != nil {
		return err
	}
	c.loop = &reconciler.Loop{Reconciler: r, Rev: f.rev, Interval: f.interval, Now: time.Now, Report: c.report, Log: logger(cmd, f.verbose)}
	if err := f.shared(c); err != nil {
		return err
	}
	parts, err := f.parts(cmd.Context(), c)
	if err != nil {
		return err
	}
	return runAll(cmd.Context(), c.loop.Log, parts, func(ctx context.Context, work func(context.Context) error) error {
		return c.one.lead(ctx, work, c.server.RecordLead)
	})
}

// shared makes what several parts share.
func (f *controllerFlags) shared(c *controller) (err error) {
	if c.ui, err = f.ui.open(c.loop, f.division.elect, f.forge.Known()); err != nil {
		return err
	}
	c.url = f.ui.url
	if f.previews.shows {
		c.shown = f.ui.previews(c.ui)
	}
	if c.one, err = f.division.open(f.apply.managed, reconciler.Work(c.loop.Reconciler, f.rev), c.loop.Log); err != nil {
		return err
	}
	if f.orders.takes || f.announce.reports || f.previews.shows {
		if err := f.previews.check(); err != nil {
			return err
		}
		c.forge, err = f.forge.Opened()
	}
	return err
}

// parts are those of the controller that the flags ask for.
func (f *controllerFlags) parts(ctx context.Context, c *controller) ([]runnable, error) {
	c.loop.After = f.announce.turned(c)
	all := []runnable{{name: "loop", leads: true, wakes: c.wakes.source, run: func(ctx context.Context, wakes <-chan struct{}) error {
		c.loop.Wake = wakes
		return c.loop.Run(ctx)
	}}}
	for _, feature := range []func(context.Context, *controller) ([]runnable, error){
		f.statuses.parts, f.previews.parts, f.orders.parts, f.notify.parts, f.updates.parts, f.division.parts,
		f.apply.parts, f.health, f.ui.parts, f.hooks.parts,
	} {
		some, err := feature(ctx, c)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (f *controllerFlags) health(ctx context.Context, c *controller) ([]runnable, error) {
	return listening(ctx, c.server, f.listen)
}

// report tells of a turn of the loop, and wakes who applies if something was published.
func (c *controller) report(s reconciler.Sync) {
	c.server.Record(s)
	published := s.Err == nil && !s.UpToDate
	if published && c.ui != nil {
		c.ui.Changed()
	}
	c.tell(s.Events()...)
	if published {
		wake(c.wakes.published)
	}
}
