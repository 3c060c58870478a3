package applier

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
	"github.com/waybill-dev/waybill/reconciler/ancestry"
	"github.com/waybill-dev/waybill/reconciler/apply"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/drift"
	"github.com/waybill-dev/waybill/reconciler/endpoints/push"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/status/writer"
	"github.com/waybill-dev/waybill/reconciler/suspend"
	"github.com/waybill-dev/waybill/reconciler/traces"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

const (
	// roundsAtOnce bounds how many clusters' branches are in memory at the same time.
	roundsAtOnce = 32
	// roundTime is how long a round may take, retries and all.
	roundTime = 15 * time.Minute
	// settleTime is how long changes in a cluster are gathered before a round puts them right.
	settleTime = 500 * time.Millisecond
	// failedWait and unreachedWait are the longest waits after rounds that failed, and until a cluster that did not answer is
	// asked again, which costs one request.
	failedWait    = 2 * time.Minute
	unreachedWait = 20 * time.Second
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
	// Status writes what rounds came to, and how objects are; nil: nobody does.
	Status *writer.Writer
	// Report is told of every round. It may be called by several at once.
	Report func(Result)
	// Observe is told which clusters are followed, which are registered, and what Observer.Observe is
	// to count there; nil: nobody is.
	Observe func(followed, registered []*karmada.Cluster, asked *deschedule.Watch)
	// Exchange brings endpoints of services to clusters; nil: nobody does.
	Exchange *push.Exchange
	// Choose says which of the registered clusters to follow; nil: those that are pushed to.
	Choose func(*published.Desired) []*karmada.Cluster
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
func (f *Follower) choose(in *published.Desired) []*karmada.Cluster {
	if f.Choose != nil {
		return f.Choose(in)
	}
	return slices.DeleteFunc(slices.Clone(in.Clusters), func(c *karmada.Cluster) bool { return c.Spec.SyncMode != karmada.Push })
}

// Run follows until ctx ends. Every wake makes it look at what is published.
func (f *Follower) Run(ctx context.Context, wakes <-chan struct{}) error {
	f.tellRefused()
	q := queues{follower: f, slots: make(chan struct{}, roundsAtOnce), ended: make(chan struct{}), of: map[string]queue{}}
	var again <-chan time.Time
	failures := 0
	var last files.ID // head of the state branch that was gone by
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
		in, err := f.Applier.Published.Desired(ctx, f.Rev, last)
		if err != nil {
			f.Log.WarnContext(ctx, "nothing to apply", "err", err)
			f.refused(err)
			failures++
			again = time.NewTimer(f.after(failures, unreachedWait)).C
			continue
		}
		failures, last = 0, in.Head
		q.request(ctx, &in)
	}
}

// refused says of its clusters that what is published was refused as a whole, if that is why: whoever publishes reads
// then what they went by.
func (f *Follower) refused(err error) {
	if _, refused := errors.AsType[*ancestry.RefusedError](err); !refused || f.Status == nil {
		return
	}
	for _, cluster := range f.Status.Clusters {
		f.ended(&Result{Cluster: cluster, Err: err, observed: observed{reached: true}})
	}
}

// ended says what a round came to, if there was one.
func (f *Follower) ended(res *Result) {
	if round := res.Round(); round != nil {
		f.Status.Ended(res.Cluster, round)
	}
}

// follow serves one cluster.
func (f *Follower) follow(ctx context.Context, in work, slots chan struct{}) {
	drifted := make(chan object.Ref)
	stopWatch := func() {}
	defer func() { stopWatch() }()
	var due <-chan time.Time
	b := backoff{corrections: drift.Counts{}}
	for {
		b.corrects = false
		select {
		case <-ctx.Done():
			return
		case in.request = <-in.requests:
		case <-due:
			in.renew()
		case r := <-drifted:
			if b.corrects = true; !f.gather(ctx, &in, &b, r, drifted) {
				return
			}
		}
		stopWatch()
		in.fresh = false
		round, end := traces.Begin(ctx, "apply")
		res, client := f.round(round, &in, slots)
		end(res.Err, traces.Cluster(res.Cluster), traces.Commit(res.Commit.String()), traces.Count("changed", len(res.Report.Outcomes)))
		if ctx.Err() != nil {
			return
		}
		if in.fresh && errors.Is(res.Err, apply.ErrSuperseded) {
			due = time.NewTimer(0).C
			continue
		}
		b.hold(&res, f.Applier.Now())
		f.Report(res)
		f.ended(&res)
		f.exchange(ctx, &res)
		f.log(&res)
		wait := f.rest(&b, &res)
		if in.fresh {
			wait = 0
		}
		due = time.NewTimer(wait).C
		if res.Err == nil && client != nil {
			stopWatch = watch(ctx, client, &res, drifted)
		}
	}
}

// backoff is how a cluster has been served lately, by which the next round waits.
type backoff struct {
	corrects    bool // this round puts right what somebody changed
	failures    int  // in a row
	corrections drift.Counts
	credential  clusters.Credential
}

// gather waits until it is time to put right what drifted: an object, and others that drift meanwhile. One that was put
// right again and again waits longer, and none of the others for it. A new request ends it; false says that ctx has ended.
func (f *Follower) gather(ctx context.Context, in *work, b *backoff, first object.Ref, drifted <-chan object.Ref) bool {
	wait := func(r object.Ref) time.Duration { return max(settleTime, f.after(b.corrections.Of(r), failedWait)) }
	rest := wait(first)
	due := time.NewTimer(rest)
	defer due.Stop()
	at := f.Applier.Now().Add(rest)
	for {
		select {
		case <-ctx.Done():
			return false
		case in.request = <-in.requests:
			return true
		case <-due.C:
			return true
		case r := <-drifted:
			rest := wait(r)
			if sooner := f.Applier.Now().Add(rest); sooner.Before(at) {
				at = sooner
				due.Reset(rest)
			}
		}
	}
}

// rest is how long to leave a cluster alone after a round: at most until time alone gives it something to do.
func (f *Follower) rest(b *backoff, res *Result) time.Duration {
	switch {
	case res.Suspension.Why != "":
		if !res.Suspension.Until.IsZero() {
			return min(f.Resync, res.Suspension.Until.Sub(f.Applier.Now()))
		}
	case errors.Is(res.Err, clusters.ErrNoCredential):
		return min(f.Resync, time.Minute)
	case res.Err != nil && !res.reached:
		b.failures++
		return f.after(b.failures, unreachedWait)
	case res.Err != nil || res.Failed():
		b.failures++
		return f.after(b.failures, failedWait)
	case b.corrects:
		var refs []object.Ref
		for _, o := range res.Report.Outcomes {
			refs = append(refs, o.Ref)
		}
		b.corrections.Corrected(refs, f.Applier.Now())
		b.failures = 0
	default:
		b.failures = 0
	}
	if at := res.Report.Plan.Again; !at.IsZero() {
		return min(f.Resync, max(at.Sub(f.Applier.Now()), 0))
	}
	return f.Resync
}

// round applies once, when the cluster answers and there is a slot.
func (f *Follower) round(ctx context.Context, in *work, slots chan struct{}) (Result, *clusters.Client) {
	r := in.request
	p := suspend.Of(r.cluster.Name, r.cluster.Annotations, r.in.Windows, f.Applier.Now())
	if p.Why != "" {
		return f.suspended(ctx, &r, p), nil
	}
	reaching, end := traces.Begin(ctx, "reach")
	applier := f.Applier
	applier.missed = in.missed
	client, err := applier.open(reaching, &r.in, r.cluster)
	if err == nil {
		err = client.Reachable(reaching)
	}
	if end(err); err != nil {
		return Result{Cluster: r.cluster.Name, Err: err, Credential: client.Known()}, nil
	}
	asked := f.Applier.Now()
	_, end = traces.Begin(ctx, "wait")
	select {
	case slots <- struct{}{}:
		end(nil)
		defer func() { <-slots }()
	case <-ctx.Done():
		return Result{Cluster: r.cluster.Name, Err: ctx.Err()}, nil
	}
	if in.newer() != nil { // it came while this one waited
		r, in.fresh = in.request, false
		if p := suspend.Of(r.cluster.Name, r.cluster.Annotations, r.in.Windows, f.Applier.Now()); p.Why != "" {
			return f.suspended(ctx, &r, p), nil
		}
		if client, err = applier.open(ctx, &r.in, r.cluster); err != nil {
			return Result{Cluster: r.cluster.Name, Err: err}, nil
		}
	}
	began := f.Applier.Now()
	bounded, cancel := context.WithTimeout(ctx, roundTime)
	defer cancel()
	applier.Retry, applier.crowded = in.again(), func() bool { return len(slots) == cap(slots) }
	res := applier.applyOn(bounded, &r.in, client, r.cluster.Name, in.newer)
	res.Waited, res.Took = began.Sub(asked), f.Applier.Now().Sub(began)
	return res, client
}

// suspended is a round at a cluster to which nothing is applied now.
func (f *Follower) suspended(ctx context.Context, r *request, why suspend.Suspension) Result {
	if err := f.Applier.stays(ctx, &r.in, r.cluster); err != nil {
		return Result{Cluster: r.cluster.Name, Err: err, observed: observed{reached: true}}
	}
	return Result{Cluster: r.cluster.Name, Suspension: why}
}

// watch wakes the queue of a cluster when something in it drifts from what a round left.
func watch(ctx context.Context, client *clusters.Client, res *Result, drifted chan<- object.Ref) context.CancelFunc {
	ctx, stop := context.WithCancel(ctx)
	entries := res.Report.Inventory.Entries
	refused := map[object.Ref]bool{}
	for _, a := range res.Report.Plan.Refused {
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
		case drifted <- r:
		case <-ctx.Done():
		}
	}
	go func() {
		err := client.Watch(ctx, kinds, func(r object.Ref, live *metav1.PartialObjectMetadata) {
			if e, known := entries[r]; (known || refused[r]) && apply.Drifted(e, live) {
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
func (f *Follower) log(res *Result) {
	f.logCredential(res)
	commit := res.Commit.String()
	switch {
	case errors.Is(res.Err, clusters.ErrNoCredential):
		f.Log.Warn("cluster has no credential", "cluster", res.Cluster, "err", res.Err)
		return
	case res.Suspension.Why != "":
		f.Log.Info("apply suspended", "cluster", res.Cluster, "reason", res.Suspension.Why, "until", res.Suspension.Until)
		return
	case errors.Is(res.Err, published.ErrUnpublished):
		f.Log.Info("nothing to apply", "cluster", res.Cluster, "reason", res.Err)
		return
	case res.Err != nil:
		f.Log.Error("apply failed", "cluster", res.Cluster, "err", res.Err)
		return
	case res.Report.Plan.Hold != nil:
		f.Log.Warn("apply held", "cluster", res.Cluster, "commit", commit, "reason", res.Report.Plan.Hold.Reason, "removals", len(res.Report.Plan.Hold.Removals))
		return
	}
	if res.Report.Stopped != "" {
		f.Log.Warn("apply stopped", "cluster", res.Cluster, "commit", commit, "reason", res.Report.Stopped)
	}
	const most = 5 // objects a round
	n := 0
	say := func(r object.Ref, why string) {
		if n++; n <= most {
			f.Log.Warn("object not applied", "cluster", res.Cluster, "commit", commit, "object", r.String(), "reason", why)
		}
	}
	for _, a := range res.Report.Plan.Refused {
		say(a.Ref, a.Why)
	}
	for _, o := range res.Report.Outcomes {
		if o.Err != nil {
			say(o.Ref, o.Err.Error())
		}
	}
	if len(res.Report.Outcomes) > 0 {
		f.Log.Info("applied", "cluster", res.Cluster, "commit", commit, "objects", len(res.Report.Outcomes), "errors", n)
	}
}
