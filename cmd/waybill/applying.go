package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/events"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/serve"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
)

// applying is what a controller applies with.
type applying struct {
	server       *serve.Server
	one          *replica
	access       *clusters.Access
	log          *slog.Logger
	tell         func(...events.Event)
	recorder     observe.Recorder
	wakes, looks chan struct{}
	observes     bool
	words        bool // of the status branches
}

// start has a follower follow the clusters that are this replica's, and observe them if that
// is asked for.
func (a applying) start(ctx context.Context, group *errgroup.Group, f *applier.Follower) {
	f.Applier.Access, f.Log, f.Random, f.Forget = *a.access, a.log, rand.Float64, a.server.ForgetCluster
	f.Report = func(res applier.Result) {
		a.server.RecordApply(res)
		a.tell(res.Events()...)
	}
	if a.observes {
		observer := observe.NewObserver(a.recorder, *a.access, a.log, func() { wake(a.looks) })
		observer.Saw, observer.Left = a.server.RecordLookAt, a.server.ForgetLooks
		f.Observe = observer.Observe
		group.Go(func() error { return observer.Run(ctx) })
	}
	if a.words {
		f.Status = writer.New(f.Applier.Published.Target, time.Now, a.log)
		f.Applier.Looks, f.Applier.Saw = true, f.Status.Saw
		group.Go(func() error { return f.Status.Run(ctx) })
	}
	group.Go(func() error { return a.one.follow(ctx, f, a.wakes) })
}

// telling returns what tells Events, until ctx ends. If none are asked for it tells nobody.
func (m *managementFlags) telling(ctx context.Context) (func(...events.Event), error) {
	if !m.events {
		return func(...events.Event) {}, nil
	}
	cluster, err := m.open()
	if err != nil {
		return nil, err
	}
	events := cluster.Events("waybill")
	context.AfterFunc(ctx, events.Stop)
	return events.Tell, nil
}
