package reconciler

import (
	"cmp"
	"context"
	"maps"
	"sync/atomic"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/reconciler/clusters"
	"github.com/waybill-dev/waybill/reconciler/suspend"
)

// order is what a cluster's queue holds: the newest that is known.
type order struct {
	in      Deliverable
	cluster *karmada.Cluster
}

// inbox holds the newest order of a cluster.
type inbox struct {
	orders <-chan order
	newest *atomic.Pointer[order] // that is known, be it one that says the same
	order  order
	fresh  bool // no round was made of it yet
	// requested is when a round was requested that was made, see suspend.RequestedAt.
	requested string
	// missed is remembered of the cluster from one round to the next.
	missed clusters.Missed
}

// again reports whether somebody has requested a round since the last one.
func (i *inbox) again() bool {
	const never = "never"
	at, before := cmp.Or(i.order.cluster.Annotations[suspend.RequestedAt], never), i.requested
	i.requested = at
	return before != "" && at != before && at != never
}

// renew takes the newest order. It says the same, but what it says it by may count where that did not.
func (i *inbox) renew() {
	if o := i.newest.Load(); o != nil {
		i.order = *o
	}
}

// newer returns what was published since the last look; nil for nothing.
func (i *inbox) newer() *Deliverable {
	select {
	case i.order = <-i.orders:
		i.fresh = true
		return &i.order.in
	default:
		return nil
	}
}

// queue is that of a cluster: it holds the newest order.
type queue struct {
	orders chan order // of one
	newest *atomic.Pointer[order]
	gist   gist // of the newest
	stop   context.CancelFunc
	done   <-chan struct{} // when it is stopped
}

// queues are those of the clusters that are followed.
type queues struct {
	follower *Follower
	slots    chan struct{}
	ended    chan struct{}
	running  int
	of       map[string]queue
}

// order puts what is published into the queues of the clusters that are chosen, those that are
// this replica's. What a cluster has that is not registered any more stays as it is.
func (q *queues) order(ctx context.Context, in *Deliverable) {
	chosen := map[string]bool{}
	var followed []*karmada.Cluster
	for _, c := range q.follower.choose(in) {
		if !q.follows(ctx, c.Name) {
			continue
		}
		followed = append(followed, c)
		chosen[c.Name] = true
		q.put(ctx, c.Name, order{*in, c})
	}
	if q.follower.Observe != nil {
		q.follower.Observe(followed, in.Clusters, in.waiting)
	}
	for name := range maps.Clone(q.of) {
		if !chosen[name] {
			q.of[name].stop()
			delete(q.of, name)
			q.follower.Forget(name)
			q.follower.Teller.Forget(name)
		}
	}
}

// put puts an order into the queue of a cluster, in the place of an older one. One that says
// what the newest one said is left out: nothing would come of it.
func (q *queues) put(ctx context.Context, cluster string, o order) {
	one := q.of[cluster]
	one.newest.Store(&o)
	now, err := q.follower.Applier.gist(ctx, &o.in, o.cluster)
	if err == nil && now == one.gist {
		return
	}
	one.gist = now
	q.of[cluster] = one
	select {
	case <-one.orders: // this one is newer
	default:
	}
	one.orders <- o
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
	ctx, stop := context.WithCancel(ctx) //nolint:gosec // order calls it, or ctx ends
	one := queue{orders: make(chan order, 1), newest: &atomic.Pointer[order]{}, stop: stop, done: ctx.Done()}
	q.of[cluster] = one
	q.running++
	go func() {
		q.follower.follow(ctx, inbox{orders: one.orders, newest: one.newest, missed: clusters.Missed{}}, q.slots)
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
