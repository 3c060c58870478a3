package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/reconciler"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/serve"
)

// applying is what a controller applies with.
type applying struct {
	server       *serve.Server
	one          *replica
	access       *clusters.Access
	log          *slog.Logger
	tell         func(...reconciler.Event)
	wakes, looks chan struct{}
	observes     bool
	words        bool // of the status branches
}

// start has a follower follow the clusters that are this replica's, and observe them if that
// is asked for.
func (a applying) start(ctx context.Context, group *errgroup.Group, f *reconciler.Follower) {
	f.Applier.Access, f.Log, f.Random, f.Forget = *a.access, a.log, rand.Float64, a.server.ForgetCluster
	f.Report = func(app reconciler.Application) {
		a.server.RecordApply(app)
		a.tell(app.Events()...)
	}
	if a.observes {
		writer := *f.Applier.Reconciler
		observer := reconciler.NewObserver(&writer, *a.access, a.log, func() { wake(a.looks) })
		observer.Saw, observer.Left = a.server.RecordLookAt, a.server.ForgetLooks
		f.Observe = observer.Observe
		group.Go(func() error { return observer.Run(ctx) })
	}
	if a.words {
		f.Teller = reconciler.NewTeller(f.Applier.Target, time.Now, a.log)
		f.Applier.Looks, f.Applier.Saw = true, f.Teller.Saw
		group.Go(func() error { return f.Teller.Run(ctx) })
	}
	group.Go(func() error { return a.one.follow(ctx, f, a.wakes) })
}

// telling returns what tells Events, until ctx ends. If none are asked for it tells nobody.
func (m *managementFlags) telling(ctx context.Context) (func(...reconciler.Event), error) {
	if !m.events {
		return func(...reconciler.Event) {}, nil
	}
	cluster, err := m.open()
	if err != nil {
		return nil, err
	}
	events := cluster.Events("waybill")
	context.AfterFunc(ctx, events.Stop)
	return events.Tell, nil
}
