// Package agent applies a branch from inside the cluster that it is for, where nobody outside
// reaches that cluster (Karmada's syncMode Pull). Where that is the host of virtual clusters, it may
// apply their branches as well. It reads the repository of the branches and
// writes to another one: what became of its branch, and what plans can see of the cluster. What
// applies is what the controller applies with: applier.Follower, with one cluster.
//
// Of several agents for one cluster one works: the one that holds a Lease in the cluster, or held it
// last while the cluster does not answer.
package agent

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/observe"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/replicas"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/sources/signing"
)

// lookAgain is how long somebody may have written over what an agent observed until it looks.
const lookAgain = time.Minute

// Agent serves a cluster, or several on one API server.
type Agent struct {
	// Clusters are their names, in order.
	Clusters []string
	// Applier applies to the clusters. It has no source: what is published is all that it sees.
	Applier applier.Applier
	// Status is the repository that is written to, whose commits are signed; nil: nothing is told.
	Status published.Repository
	// Key is who signs them. What another one signed in the name of the clusters is written over; nil: nobody
	// signs.
	Key *signing.Public
	// Heart carries heartbeats; nil: there are none.
	Heart Heart
	// Books are where endpoints of services are told that clusters exchange which do not reach each other.
	Books Books
	// ServicesOnly has it bring these, and do nothing else: it applies, observes and tells nothing, and sends no heartbeat.
	ServicesOnly bool
	// Election is for the Lease by which one of several agents works.
	Election replicas.Election
	// Interval is the time between two looks at the branch, and Resync how long the cluster is
	// left alone at most, whatever its watches say.
	Interval, Resync time.Duration
	// Wake has it look at once; nil: nobody does.
	Wake   <-chan struct{}
	Log    *slog.Logger
	Random func() float64 // in [0, 1)
	// Applied is told of every round, and Looked of every look at the repository.
	Applied func(applier.Result)
	Looked  func(error)

	agents atomic.Int64  // clusters that have one
	beaten atomic.Uint64 // sequence number of the last heartbeat
	// served are those of the clusters that are this agent's to serve; nil: it is not known yet.
	served     atomic.Pointer[[]string]
	leadership replicas.Leadership
}

// Run serves the cluster, whenever no other agent does, until ctx ends.
func (a *Agent) Run(ctx context.Context) error {
	a.Log.InfoContext(ctx, "agent started", "clusters", a.Clusters, "agent", a.Election.Replica)
	e := a.Election
	e.Other = func(holder string) {
		a.Log.WarnContext(ctx, "standing by: another agent serves the cluster", "clusters", a.Clusters, "agent", e.Replica, "serves", holder, "lease", e.Namespace+"/"+e.Name)
	}
	a.leadership.Lost = func() {
		a.Log.WarnContext(ctx, "the Lease cannot be renewed; going on until another agent has it", "clusters", a.Clusters, "agent", e.Replica, "lease", e.Namespace+"/"+e.Name)
	}
	return a.leadership.Run(ctx, e, a.serve)
}

// serve serves the cluster until ctx ends.
func (a *Agent) serve(ctx context.Context) error {
	if a.ServicesOnly {
		return a.exchanges(ctx)
	}
	group, ctx := errgroup.WithContext(ctx)
	wakes := make(chan struct{}, 1)
	chosen := make(chan []string, 1)
	follower := applier.Follower{
		Applier: a.Applier, Resync: a.Resync, Log: a.Log, Random: a.Random, Report: a.Applied, Forget: func(string) {},
		Choose: func(in *published.Desired) []*karmada.Cluster { return a.own(in, chosen) }, Exchange: a.exchange(),
	}
	if a.Status != nil {
		status := writer.New(a.Status, a.Applier.Now, a.Log)
		status.Clusters = a.Clusters
		follower.Status, follower.Applier.Looks, follower.Applier.Saw = status, true, status.Saw
		group.Go(func() error { return status.Run(ctx) })

		record := recorder{repo: a.Status, clusters: a.Clusters, now: a.Applier.Now, may: a.mayTell, key: a.Key, last: map[string]uint64{}}
		observer := observe.NewObserver(observe.Recorder{Target: a.Applier.Published.Target, Now: a.Applier.Now}, a.Applier.Access, a.Log, func() {})
		observer.Record, observer.Again = record.record, lookAgain
		follower.Observe = func(all, registered []*karmada.Cluster, asked *deschedule.Watch) {
			record.set(all)
			observer.Observe(all, registered, asked)
		}
		group.Go(func() error { return observer.Run(ctx) })
	}
	poller := a.poller(chosen, wakes)
	group.Go(func() error { return a.beats(ctx) })
	group.Go(func() error { return poller.Run(ctx) })
	group.Go(func() error { return follower.Run(ctx, wakes) })
	group.Go(func() error { return a.reader(follower.Exchange).Run(ctx) })
	return group.Wait()
}

// poller wakes when something is published, where branches are told whenever they are others.
func (a *Agent) poller(chosen <-chan []string, wakes chan<- struct{}) *applier.BranchPoller {
	var branches []string
	return &applier.BranchPoller{
		Target: a.Applier.Published.Target, Interval: a.Interval, Now: a.Wake, Log: a.Log, Report: a.Looked,
		Branches: func() []string {
			select {
			case branches = <-chosen:
			default:
			}
			return branches
		},
		Wake: func() {
			select {
			case wakes <- struct{}{}:
			default: // it is awake
			}
		},
	}
}

// own returns the clusters that are this agent's to serve, and tells which their branches are.
func (a *Agent) own(in *published.Desired, branches chan []string) (own []*karmada.Cluster) {
	a.count(in)
	var names, served []string
	host := "" // of the first
	for _, name := range a.Clusters {
		names = append(names, in.Address(name).Branch)
		i := slices.IndexFunc(in.Clusters, func(c *karmada.Cluster) bool { return c.Name == name })
		switch {
		case i < 0:
			a.Log.Warn("nothing is applied: what is published registers no such cluster; what is there stays", "cluster", name)
		case in.Clusters[i].Spec.SyncMode != karmada.Pull:
			a.Log.Warn("nothing is applied: the syncMode of the cluster is not Pull, so that the controller applies to it", "cluster", name, "sync_mode", in.Clusters[i].Spec.SyncMode)
		case host != "" && hostOf(in.Clusters[i]) != host:
			a.Log.Warn("nothing is applied: the cluster is not on the API server of the others that this agent serves; give it an agent of its own", "cluster", name, "host", host)
		default:
			own, served, host = append(own, in.Clusters[i]), append(served, name), hostOf(in.Clusters[i])
		}
	}
	a.served.Store(&served)
	select {
	case <-branches: // these are newer
	default:
	}
	branches <- names
	return own
}

// hostOf is the cluster whose API server a cluster is on.
func hostOf(c *karmada.Cluster) string {
	if m := virtual.Of(c); m != nil {
		return m.Host
	}
	return c.Name
}
