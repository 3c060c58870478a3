package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/endpoints/pull"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/refs"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/sources/git"
	"github.com/waybill-dev/waybill/sources/signing"
)

// applyingFlags say whether and how the controller applies.
type applyingFlags struct {
	applies, observes bool
	resync            time.Duration
	words             *bool // of the status branches
	access            *clusters.Access
	managed           *managementFlags
	identities        func(path string) (ask, error)
}

// addApplyingFlags adds these flags.
func addApplyingFlags(cmd *cobra.Command) *applyingFlags {
	f, flags := &applyingFlags{}, cmd.Flags()
	flags.BoolVar(&f.applies, "apply", false, "apply to clusters with the syncMode Push, too")
	flags.DurationVar(&f.resync, "resync", 10*time.Minute, "with --apply: time after which a cluster is looked at, whatever its watches say")
	flags.BoolVar(&f.observes, "observe", true, "with --apply: record on the state branch what plans can see of these clusters, too: version, APIs, room, readiness")
	f.words = addStatusFlag(flags)
	f.access, f.managed = addFleetFlags(cmd, flags)
	flags.BoolVar(&f.managed.events, "events", false, "tell what is held, applied and refused as Events of Kubernetes, in --cluster-secrets-namespace")
	f.identities = identityFlags(cmd, f.access, "with --apply: key file of age, by which documents that SOPS encrypted are decrypted")
	return f
}

// parts follow the clusters that are this replica's, and observe them and write statuses if that
// is asked for.
func (f *applyingFlags) parts(_ context.Context, c *controller) ([]runnable, error) {
	if !f.applies {
		return nil, nil
	}
	log := c.loop.Log
	r := c.loop.Reconciler
	follower := &applier.Follower{
		Applier: applier.Applier{Published: forOthers(*r).Published(), Access: *f.access, Now: r.Now}, Rev: c.loop.Rev, Resync: f.resync,
		Log: log, Random: rand.Float64, Forget: c.server.ForgetCluster, Exchange: f.exchange(r, log),
		Report: func(res applier.Result) {
			c.server.RecordApply(res)
			c.tell(res.Events()...)
		},
	}
	reader := &pull.Reader{Books: follower.Exchange.Books, Agents: booksOfAgents(r), Log: log}
	all := []runnable{{name: "books of endpoints", run: alone(reader.Run)}}
	if f.observes {
		observer := observe.NewObserver(observe.Recorder{Target: r.Target, Version: r.Version, Now: r.Now}, *f.access, log, func() { wake(c.wakes.source) })
		observer.Saw, observer.Left = c.server.RecordLookAt, c.server.ForgetLooks
		follower.Observe = observer.Observe
		all = append(all, runnable{name: "observer", run: alone(observer.Run)})
	}
	if *f.words {
		follower.Status = writer.New(r.Target, time.Now, log)
		follower.Applier.Looks, follower.Applier.Saw = true, follower.Status.Saw
		all = append(all, runnable{name: "status writer", run: alone(follower.Status.Run)})
	}
	if c.one != nil { // the clusters of the only replica are all
		member := c.one.member(func() { wake(c.wakes.published) })
		follower.Share = member
		all = append(all, runnable{name: "share of the clusters", run: alone(member.Run)})
	}
	wake(c.wakes.published) // what is published already
	return append(all, runnable{name: "clusters", wakes: c.wakes.published, run: follower.Run}), nil
}

// exchange brings endpoints of services, and writes books of clusters for those that are pulled to where branches are published.
func (f *applyingFlags) exchange(r *reconciler.Reconciler, log *slog.Logger) *push.Exchange {
	e := push.New(push.By(*f.access), r.Now, rand.Float64, log)
	if repo, ok := r.Target.(*git.Repo); ok {
		e.Writer = &pull.Writer{Repo: git.LooseOf(repo), Host: refs.Host{What: "endpoints", Now: r.Now, Log: log}, Wrote: func(h git.Head) error {
			if r.Key == nil {
				return nil
			}
			return r.Key.Verify(signing.Git, h.Signed, h.Signature)
		}}
	}
	return e
}

// booksOfAgents is where agents write books of endpoints; nil where that is not known.
func booksOfAgents(r *reconciler.Reconciler) pull.Repository {
	if r.Shared {
		return behindURL(r.Target)
	}
	return behindURL(r.Agents)
}

// telling returns what tells Events, until ctx ends. If none are asked for it tells nobody.
func (f *applyingFlags) telling(ctx context.Context) (func(...events.Event), error) {
	if !f.managed.events {
		return func(...events.Event) {}, nil
	}
	cluster, err := f.managed.open()
	if err != nil {
		return nil, err
	}
	recorder := cluster.Events("waybill")
	context.AfterFunc(ctx, recorder.Stop)
	return recorder.Tell, nil
}
