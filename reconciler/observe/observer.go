// Package observe records what is seen of clusters on the state branch: what an observer sees of those that the controller
// reaches, and what agents say of the others.
package observe

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/virtual"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/clusters/survey"
	"github.com/waybill-dev/waybill/reconciler/observation"
)

const (
	// roomPause is the least time between two commits that say nothing but how much room there
	// is.
	roomPause = 5 * time.Minute
	// together is how long what is seen is gathered, so that it makes one commit.
	together = 2 * time.Second
	// apart is the time between the first looks at two clusters.
	apart = 10 * time.Millisecond
)

// Observer watches clusters and records what decisions can see of them on the state branch.
// Whoever plans sees that it moved.
type Observer struct {
	// Saw is told of every look at a cluster, and Left that it is not looked at any more; nil:
	// nobody is.
	Saw  func(cluster string, f observation.Facts)
	Left func(cluster string)

	// Record records what was seen: NewObserver has it written to the state branch.
	Record Record
	// Again is how long it holds what was read of what is recorded; zero: until Observe is called.
	Again time.Duration

	now      func() time.Time
	access   clusters.Access
	log      *slog.Logger
	recorded func()
	requests chan request // of one
	probes   chan probed
	asked    atomic.Pointer[deschedule.Watch] // by the newest request

	// survey watches a cluster, as survey.Pool does.
	survey func(ctx context.Context, c survey.Cluster, report func(observation.Facts)) error
}

// request is which clusters to watch of those that are registered, and for what besides.
type request struct {
	watched, registered []*karmada.Cluster
	asked               *deschedule.Watch
}

// Record records what was observed of clusters, where next says that it is not what is recorded;
// see Recorder.Record.
type Record = func(ctx context.Context, next Next) (map[string]*karmada.ClusterStatus, error)

// Next is given what is recorded of clusters, by name, and the registered clusters. It returns
// what to record instead, and what to say of it.
type Next = func(recorded map[string]*karmada.ClusterStatus, registered []*karmada.Cluster) (changed map[string]*karmada.ClusterStatus, why string)

// probed is what was seen of a cluster.
type probed struct {
	cluster string
	facts   observation.Facts
}

// NewObserver returns an observer that watches nothing yet. What it sees the recorder records;
// recorded is called when something was recorded.
func NewObserver(r Recorder, a clusters.Access, log *slog.Logger, recorded func()) *Observer {
	return &Observer{Record: r.Record, now: r.Now, access: a, log: log, recorded: recorded, requests: make(chan request, 1), probes: make(chan probed), survey: (&survey.Pool{}).Watch}
}

// Observe says which of the registered clusters to watch from now on, and of which workloads to
// count the replicas there that wait for a node; nil for none. Only one goroutine may call it.
func (o *Observer) Observe(list, registered []*karmada.Cluster, asked *deschedule.Watch) {
	select {
	case <-o.requests: // this one is newer
	default:
	}
	o.requests <- request{list, registered, asked}
}

// Run observes until ctx ends.
func (o *Observer) Run(ctx context.Context) error {
	j := journal{watches: watches{}}
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-o.requests:
			o.asked.Store(r.asked)
			o.watchOnly(ctx, j.watches, r)
			j.known = nil // somebody may have written it
		case p := <-o.probes:
			if w := j.watches[p.cluster]; w != nil {
				w.latest, w.at = &p.facts, o.now()
				if o.Saw != nil {
					o.Saw(p.cluster, p.facts)
				}
				if due == nil {
					due = time.NewTimer(together).C
				}
			}
		case <-due:
			due = nil
			o.write(ctx, &j)
		}
	}
}

// journal is what is seen, and what of it is recorded.
type journal struct {
	watches watches
	known   map[string]*karmada.ClusterStatus // what is recorded; nil: it is to be read
	read    time.Time                         // when that was read
	last    time.Time                         // when nothing but room was recorded
}

// write records what decisions can see, if it is not recorded. What fails is tried again after
// the next look.
func (o *Observer) write(ctx context.Context, j *journal) {
	now := o.now()
	if o.Again > 0 && now.Sub(j.read) >= o.Again {
		j.known = nil
	}
	if j.known != nil && len(j.watches.changes(j.known, now, j.last).statuses) == 0 {
		return
	}
	var done changes
	known, err := o.Record(ctx, func(recorded map[string]*karmada.ClusterStatus, registered []*karmada.Cluster) (map[string]*karmada.ClusterStatus, string) {
		done = j.watches.of(registered).changes(recorded, now, j.last)
		return done.statuses, done.why
	})
	j.known, j.read = known, now
	switch {
	case ctx.Err() != nil:
	case err != nil:
		o.log.WarnContext(ctx, "observation not recorded", "err", err)
	case len(done.statuses) > 0:
		if !done.soon {
			j.last = now
		}
		o.log.InfoContext(ctx, "observation recorded", "clusters", slices.Sorted(maps.Keys(done.statuses)), "changed", done.why)
		o.recorded()
	}
}

// watches are the clusters that are watched, by name.
type watches map[string]*watched

type watched struct {
	cluster *karmada.Cluster
	counts  bool // the replicas that wait for a node
	stop    context.CancelFunc
	tracker *observation.Tracker
	latest  *observation.Facts // nil: nothing was seen yet
	at      time.Time          // of that look
}

// of returns those of them that are registered.
func (w watches) of(registered []*karmada.Cluster) watches {
	some := watches{}
	for _, c := range registered {
		if one := w[c.Name]; one != nil {
			some[c.Name] = one
		}
	}
	return some
}

// changes are statuses to record, and what changes by them.
type changes struct {
	statuses map[string]*karmada.ClusterStatus
	why      string
	soon     bool // it is not just room
}

// changes holds what was seen last against what is recorded. What is but room waits for its pause
// after the last time that nothing else was recorded, and a cluster that turned for others that
// seem to.
func (w watches) changes(recorded map[string]*karmada.ClusterStatus, now, last time.Time) changes {
	c := changes{statuses: map[string]*karmada.ClusterStatus{}}
	news, turns := map[string]observation.Change{}, map[string]observation.Turn{}
	for name, one := range w {
		if one.latest == nil {
			continue
		}
		next, change := one.tracker.Next(recorded[name], *one.latest, one.at)
		turns[name] = change.Turn
		if len(change.Words) > 0 && (change.Soon || now.Sub(last) >= roomPause) {
			c.statuses[name], news[name] = next, change
		}
	}
	for name := range observation.Together(turns) {
		delete(c.statuses, name)
	}
	var why []string
	for _, name := range slices.Sorted(maps.Keys(c.statuses)) {
		c.soon = c.soon || news[name].Soon
		why = append(why, name+": "+strings.Join(news[name].Words, ", "))
	}
	c.why = strings.Join(why, "\n")
	return c
}

// watchOnly watches clusters as they are registered now, and no others.
func (o *Observer) watchOnly(ctx context.Context, all watches, r request) {
	wanted, counts := map[string]*karmada.Cluster{}, r.asked != nil
	for _, c := range r.watched {
		wanted[c.Name] = c
	}
	for name, w := range maps.Clone(all) {
		if c := wanted[name]; c == nil || w.counts != counts || !equality.Semantic.DeepEqual(c.Spec, w.cluster.Spec) || !equality.Semantic.DeepEqual(virtual.Of(c), virtual.Of(w.cluster)) {
			w.stop()
			delete(all, name)
			if o.Left != nil {
				o.Left(name)
			}
		}
	}
	started := 0
	for _, c := range r.watched {
		if all[c.Name] != nil {
			continue
		}
		one, stop := context.WithCancel(ctx)
		all[c.Name] = &watched{cluster: c, counts: counts, stop: stop, tracker: &observation.Tracker{}}
		go o.watch(one, r.registered, all[c.Name], time.Duration(started)*apart)
		started++
	}
}

// watch watches one cluster until ctx ends. How it is reached is looked up anew whenever it does
// not answer. One without a credential is not looked at, and nothing is said of it.
func (o *Observer) watch(ctx context.Context, registered []*karmada.Cluster, w *watched, after time.Duration) {
	c := w.cluster
	access, host := o.access.Among(registered), virtual.SharedServer(registered, c)
	var asked func() *deschedule.Watch
	if w.counts {
		asked = o.asked.Load
	}
	report := func(f observation.Facts) {
		select {
		case o.probes <- probed{c.Name, f}:
		case <-ctx.Done():
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.NewTimer(after).C:
		}
		after = observation.Period
		config, err := access.Config(ctx, c)
		if err != nil {
			if !errors.Is(err, clusters.ErrNoCredential) {
				o.log.DebugContext(ctx, "cluster not observed", "cluster", c.Name, "err", err)
			}
			continue
		}
		err = o.survey(ctx, survey.Cluster{Name: c.Name, ID: c.Spec.ID, Config: config, Models: c.Spec.ResourceModels, Virtual: virtual.Of(c), Watch: asked, Host: host}, report)
		if ctx.Err() == nil && err != nil {
			o.log.DebugContext(ctx, "cluster not observed", "cluster", c.Name, "err", err)
			report(observation.Facts{Health: observation.Unreachable})
		}
	}
}
