package reconciler

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/waybill-dev/waybill/policies/deschedule"
	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/drift"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/render/object"
)

const (
	// roundsAtOnce bounds how many clusters' branches are in memory at the same time.
	roundsAtOnce = 32
	// roundTime is how long a round may take, retries and all.
	roundTime = 15 * time.Minute
	// settleTime is how long changes in a cluster are gathered before a round puts them right.
	settleTime = 500 * time.Millisecond
)

// Follower keeps clusters at the heads of their branches: unless it is told otherwise, those that
// are registered with the syncMode Push. Each cluster has a queue of its own, so that one which hangs delays nobody;
// what somebody changes in a cluster is seen by watches, and put right.
type Follower struct {
	Applier Applier
	Rev     string // branch of the source, for its config
	// Resync is how long a cluster is left alone at most, whatever the watches say.
	Resync time.Duration
	Log    *slog.Logger
	Random func() float64 // in [0, 1)
	// Teller is told of every round, and of the health of objects; nil for nobody.
	Teller *Teller
	// Report is told of every round. It may be called by several at once.
	Report func(Application)
	// Observe is told which clusters are followed, which are registered, and what Observer.Observe is
	// to count there; nil: nobody is.
	Observe func(followed, registered []*karmada.Cluster, asked *deschedule.Watch)
	// Choose says which of the registered clusters to follow; nil: those that are pushed to.
	Choose func(*Deliverable) []*karmada.Cluster
	// Share divides clusters among replicas; nil: this one has all.
	Share Share
	// Forget is told of a cluster that is no longer followed.
	Forget func(cluster string)
}

// Share says which clusters are this replica's.
type Share interface {
	// Take returns a context that ends when the cluster has to be left. Leave is called when
	// that is done.
	Take(ctx context.Context, cluster string) (_ context.Context, leave func(), ok bool)
}

// choose returns the clusters that are followed.
func (f *Follower) choose(in *Deliverable) []*karmada.Cluster {
	if f.Choose != nil {
		return f.Choose(in)
	}
	return slices.DeleteFunc(slices.Clone(in.Clusters), func(c *karmada.Cluster) bool { return c.Spec.SyncMode != karmada.Push })
}

// Run follows until ctx ends. Every wake makes it look at what is published.
func (f *Follower) Run(ctx context.Context, wakes <-chan struct{}) error {
	q := queues{follower: f, slots: make(chan struct{}, roundsAtOnce), ended: make(chan struct{}), of: map[string]queue{}}
	var again <-chan time.Time
	failures := 0
	for {
		select {
		case <-ctx.Done():
			q.wait()
			return nil
		case <-q.ended:
			q.running--
			continue
		case <-wakes:
		case <-again:
		}
		again = nil
		in, err := f.Applier.Deliverable(ctx, f.Rev)
		if err != nil {
			f.Log.WarnContext(ctx, "nothing to apply", "err", err)
			f.Teller.Refused(err)
			failures++
			again = time.NewTimer(f.after(failures, askCeiling)).C
			continue
		}
		failures = 0
		q.order(ctx, &in)
	}
}

// follow serves one cluster.
func (f *Follower) follow(ctx context.Context, in inbox, slots chan struct{}) {
	strays := make(chan object.Ref)
	stopWatch := func() {}
	defer func() { stopWatch() }()
	var due <-chan time.Time
	p := pace{corrections: drift.Counts{}}
	for {
		p.corrects = false
		select {
		case <-ctx.Done():
			return
		case in.order = <-in.orders:
		case <-due:
			in.renew()
		case r := <-strays:
			if p.corrects = true; !f.gather(ctx, &in, &p, r, strays) {
				return
			}
		}
		stopWatch()
		in.fresh = false
		round, end := traces.Begin(ctx, "apply")
		app, client := f.round(round, &in, slots)
		end(app.Err, traces.Cluster(app.Cluster), traces.Commit(app.Commit.String()), traces.Count("changed", len(app.Report.Outcomes)))
		if ctx.Err() != nil {
			return
		}
		if in.fresh && errors.Is(app.Err, apply.ErrSuperseded) {
			due = time.NewTimer(0).C
			continue
		}
		p.hold(&app, f.Applier.Now())
		f.Report(app)
		f.Teller.Ended(&app)
		f.log(&app)
		wait := f.rest(&p, &app)
		if in.fresh {
			wait = 0
		}
		due = time.NewTimer(wait).C
		if app.Err == nil && client != nil {
			stopWatch = watch(ctx, client, &app, strays)
		}
	}
}

// pace is how a cluster has been served lately.
type pace struct {
	corrects    bool // this round puts right what somebody changed
	failures    int  // in a row
	corrections drift.Counts
	credential  clusters.Credential
}

// gather waits until it is time to put right what strays: an object, and others that stray meanwhile. One that was put
// right again and again waits longer, and none of the others for it. A new order ends it; false says that ctx has ended.
func (f *Follower) gather(ctx context.Context, in *inbox, p *pace, first object.Ref, strays <-chan object.Ref) bool {
	wait := func(r object.Ref) time.Duration { return max(settleTime, f.after(p.corrections.Of(r), backoffCeiling)) }
	due := time.NewTimer(wait(first))
	defer due.Stop()
	at := f.Applier.Now().Add(wait(first))
	for {
		select {
		case <-ctx.Done():
			return false
		case in.order = <-in.orders:
			return true
		case <-due.C:
			return true
		case r := <-strays:
			if sooner := f.Applier.Now().Add(wait(r)); sooner.Before(at) {
				at = sooner
				due.Reset(wait(r))
			}
		}
	}
}

// rest is how long to leave a cluster alone after a round.
func (f *Follower) rest(p *pace, app *Application) time.Duration {
	switch {
	case app.Suspension.Why != "":
		if !app.Suspension.Until.IsZero() {
			return min(f.Resync, app.Suspension.Until.Sub(f.Applier.Now()))
		}
	case errors.Is(app.Err, clusters.ErrNoCredential):
		return min(f.Resync, time.Minute)
	case app.Err != nil && !app.reached:
		p.failures++
		return f.after(p.failures, askCeiling)
	case app.Err != nil || app.Failed():
		p.failures++
		return f.after(p.failures, backoffCeiling)
	case p.corrects:
		var refs []object.Ref
		for _, o := range app.Report.Outcomes {
			refs = append(refs, o.Ref)
		}
		p.corrections.Corrected(refs, f.Applier.Now())
		p.failures = 0
	default:
		p.failures = 0
	}
	return f.Resync
}

// round applies once, when the cluster answers and there is a slot.
func (f *Follower) round(ctx context.Context, in *inbox, slots chan struct{}) (Application, *clusters.Client) {
	o := in.order
	p := suspend.Of(o.cluster.Name, o.cluster.Annotations, o.in.windows, f.Applier.Now())
	if p.Why != "" {
		return f.suspended(ctx, &o, p), nil
	}
	reaching, end := traces.Begin(ctx, "reach")
	applier := f.Applier
	applier.missed = in.missed
	client, err := applier.open(reaching, &o.in, o.cluster)
	if err == nil {
		err = client.Reachable(reaching)
	}
	if end(err); err != nil {
		return Application{Cluster: o.cluster.Name, Err: err, Credential: client.Known()}, nil
	}
	asked := f.Applier.Now()
	_, end = traces.Begin(ctx, "wait")
	select {
	case slots <- struct{}{}:
		end(nil)
		defer func() { <-slots }()
	case <-ctx.Done():
		return Application{Cluster: o.cluster.Name, Err: ctx.Err()}, nil
	}
	if in.newer() != nil { // it came while this one waited
		o, in.fresh = in.order, false
		if p := suspend.Of(o.cluster.Name, o.cluster.Annotations, o.in.windows, f.Applier.Now()); p.Why != "" {
			return f.suspended(ctx, &o, p), nil
		}
		if client, err = applier.open(ctx, &o.in, o.cluster); err != nil {
			return Application{Cluster: o.cluster.Name, Err: err}, nil
		}
	}
	began := f.Applier.Now()
	bounded, cancel := context.WithTimeout(ctx, roundTime)
	defer cancel()
	applier.Retry, applier.crowded = in.again(), func() bool { return len(slots) == cap(slots) }
	app := applier.applyOn(bounded, &o.in, client, o.cluster.Name, in.newer)
	app.Waited, app.Took = began.Sub(asked), f.Applier.Now().Sub(began)
	return app, client
}

// suspended is a round at a cluster to which nothing is applied now.
func (f *Follower) suspended(ctx context.Context, o *order, why suspend.Suspension) Application {
	if err := f.Applier.stays(ctx, &o.in, o.cluster); err != nil {
		return Application{Cluster: o.cluster.Name, Err: err, observed: observed{reached: true}}
	}
	return Application{Cluster: o.cluster.Name, Suspension: why}
}

// watch wakes the queue of a cluster when something in it strays from what a round left.
func watch(ctx context.Context, client *clusters.Client, app *Application, strays chan<- object.Ref) context.CancelFunc {
	ctx, stop := context.WithCancel(ctx)
	entries := app.Report.Inventory.Entries
	refused := map[object.Ref]bool{}
	for _, a := range app.Report.Plan.Refused {
		refused[a.Ref] = true
	}
	var kinds []schema.GroupKind
	for r := range entries {
		if k := (schema.GroupKind{Group: r.Group, Kind: r.Kind}); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	wake := func(r object.Ref) {
		select {
		case strays <- r:
		case <-ctx.Done():
		}
	}
	go func() {
		err := client.Watch(ctx, kinds, func(r object.Ref, live *metav1.PartialObjectMetadata) {
			if e, known := entries[r]; (known || refused[r]) && apply.Strays(e, known, live) {
				wake(r)
			}
		})
		if err != nil && ctx.Err() == nil {
			wake(object.Ref{})
		}
	}()
	return stop
}

// after is how long to wait after so many failures in a row, at most.
func (f *Follower) after(failures int, ceiling time.Duration) time.Duration {
	if failures == 0 {
		return 0
	}
	d := time.Second
	for range failures - 1 {
		if d *= 2; d >= ceiling {
			d = ceiling
			break
		}
	}
	return d/2 + time.Duration(f.Random()*float64(d)/2)
}

// log says what a round did, if it did anything.
func (f *Follower) log(app *Application) {
	f.logCredential(app)
	commit := app.Commit.String()
	switch {
	case errors.Is(app.Err, clusters.ErrNoCredential):
		f.Log.Warn("cluster has no credential", "cluster", app.Cluster, "err", app.Err)
		return
	case app.Suspension.Why != "":
		f.Log.Info("apply suspended", "cluster", app.Cluster, "reason", app.Suspension.Why, "until", app.Suspension.Until)
		return
	case errors.Is(app.Err, ErrUnpublished):
		f.Log.Info("nothing to apply", "cluster", app.Cluster, "reason", app.Err)
		return
	case app.Err != nil:
		f.Log.Error("apply failed", "cluster", app.Cluster, "err", app.Err)
		return
	case app.Report.Plan.Hold != nil:
		f.Log.Warn("apply held", "cluster", app.Cluster, "commit", commit, "reason", app.Report.Plan.Hold.Reason, "removals", len(app.Report.Plan.Hold.Removals))
		return
	}
	if app.Report.Stopped != "" {
		f.Log.Warn("apply stopped", "cluster", app.Cluster, "commit", commit, "reason", app.Report.Stopped)
	}
	const most = 5 // objects a round
	n := 0
	say := func(r object.Ref, why string) {
		if n++; n <= most {
			f.Log.Warn("object not applied", "cluster", app.Cluster, "commit", commit, "object", r.String(), "reason", why)
		}
	}
	for _, a := range app.Report.Plan.Refused {
		say(a.Ref, a.Why)
	}
	for _, o := range app.Report.Outcomes {
		if o.Err != nil {
			say(o.Ref, o.Err.Error())
		}
	}
	if len(app.Report.Outcomes) > 0 {
		f.Log.Info("applied", "cluster", app.Cluster, "commit", commit, "objects", len(app.Report.Outcomes), "errors", n)
	}
}
