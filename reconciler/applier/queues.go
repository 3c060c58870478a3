package applier

import (
	"cmp"
	"context"
	"maps"
	"sync/atomic"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/published"
	"github.com/waybill-dev/waybill/reconciler/suspend"
)

// request is what a cluster's queue holds: the newest that is known.
type request struct {
	in      published.Desired
	cluster *karmada.Cluster
}

// work is what a cluster's queue gives out: the newest request.
type work struct {
	requests <-chan request
	newest   *atomic.Pointer[request] // that is known, be it one that says the same
	request  request
	fresh    bool // no round was made of it yet
	// requested is when a round was requested that was made, see suspend.RequestedAt.
	requested string
	// missed is remembered of the cluster from one round to the next.
	missed clusters.Missed
}

// again reports whether somebody has requested a round since the last one.
func (w *work) again() bool {
	const never = "never"
	at, before := cmp.Or(w.request.cluster.Annotations[suspend.RequestedAt], never), w.requested
	w.requested = at
	return before != "" && at != before && at != never
}

// renew takes the newest request. It says the same, but what it says it by may count where that did not.
func (w *work) renew() {
	if r := w.newest.Load(); r != nil {
		w.request = *r
	}
}

// newer returns what was published since the last look; nil for nothing.
func (w *work) newer() *published.Desired {
	select {
	case w.request = <-w.requests:
		w.fresh = true
		return &w.request.in
	default:
		return nil
	}
}

// queue is that of a cluster: it holds the newest request.
type queue struct {
	requests    chan request // of one
	newest      *atomic.Pointer[request]
	fingerprint published.Fingerprint // of the newest
	stop        context.CancelFunc
	done        <-chan struct{} // when it is stopped
}

// queues are those of the clusters that are followed.
type queues struct {
	follower *Follower
	slots    chan struct{}
	ended    chan struct{}
	running  int
	of       map[string]queue
}

// request puts what is published into the queues of the clusters that are chosen, those that are
// this replica's. What a cluster has that is not registered any more stays as it is.
func (q *queues) request(ctx context.Context, in *published.Desired) {
	chosen := map[string]bool{}
	var followed []*karmada.Cluster
	for _, c := range q.follower.choose(in) {
		if !q.follows(ctx, c.Name) {
			continue
		}
		followed = append(followed, c)
		chosen[c.Name] = true
		q.put(ctx, c.Name, request{*in, c})
	}
	if q.follower.Exchange != nil {
		q.follower.Exchange.Known(in.Clusters, in.Services, in.Booked)
	}
	if q.follower.Observe != nil {
		q.follower.Observe(followed, in.Clusters, in.Waiting)
	}
	for name := range maps.Clone(q.of) {
		if !chosen[name] {
			q.of[name].stop()
			delete(q.of, name)
			q.follower.Forget(name)
			q.follower.Status.Forget(name)
		}
	}
}

// put puts a request into the queue of a cluster, in the place of an older one. One that says
// what the newest one said is left out: nothing would come of it.
func (q *queues) put(ctx context.Context, cluster string, r request) {
	one := q.of[cluster]
	one.newest.Store(&r)
	now, err := q.follower.Applier.Published.Fingerprint(ctx, &r.in, r.cluster)
	if err == nil && now == one.fingerprint {
		return
	}
	one.fingerprint = now
	q.of[cluster] = one
	select {
	case <-one.requests: // this one is newer
	default:
	}
	one.requests <- r
}

// follows reports whether this replica follows a cluster, which begins now if it may.
func (q *queues) follows(ctx context.Context, cluster string) bool {
	if one, ok := q.of[cluster]; ok {
		select {
		case <-one.done: // it had to be left
		default:
			return true
		}
	}
	leave := func() {}
	if q.follower.Share != nil {
		var ok bool
		if ctx, leave, ok = q.follower.Share.Take(ctx, cluster); !ok {
			return false
		}
	}
	ctx, stop := context.WithCancel(ctx) //nolint:gosec // request calls it, or ctx ends
	one := queue{requests: make(chan request, 1), newest: &atomic.Pointer[request]{}, stop: stop, done: ctx.Done()}
	q.of[cluster] = one
	q.running++
	go func() {
		q.follower.follow(ctx, work{requests: one.requests, newest: one.newest, missed: clusters.Missed{}}, q.slots)
		leave()
		q.ended <- struct{}{}
	}()
	return true
}

// wait waits until the rounds that are under way have ended.
func (q *queues) wait() {
	for ; q.running > 0; q.running-- {
		<-q.ended
	}
}
