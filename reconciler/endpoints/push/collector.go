package push

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
	"github.com/waybill-dev/waybill/reconciler/endpoints/book"
	"github.com/waybill-dev/waybill/reconciler/heartbeat"
	"github.com/waybill-dev/waybill/render/exchange"
)

// Writer writes books of clusters. Each has one writer.
type Writer interface {
	// Last is how the book of a cluster is kept that whoever served the cluster last wrote. What is known of it is not read again.
	Last(ctx context.Context, cluster string, known book.Kept) (book.Kept, error)
	// Write replaces it, where refs are as they were.
	Write(ctx context.Context, bus exchange.Bus, b *book.Book, over book.Kept) (book.Kept, error)
	// Times are those at which books are written, by what the config says. Those of other clusters than that take part do not count.
	Times(by exchange.Services, takesPart func(cluster string) bool) (book.Times, error)
}

const (
	// reread is how long somebody may have put something else in the place of a book until it is seen.
	reread = time.Minute
	// answering is how long ago a cluster answered of which a book without news is written.
	answering = misses*period + soon
)

// collector writes the book of a cluster: what it has of services that others import who do not reach it.
type collector struct {
	exchange *Exchange
	name     string
	done     <-chan struct{} // closed when the cluster is followed no more
	wakes    chan struct{}   // of one

	mu      sync.Mutex
	exports []types.NamespacedName

	// Of the goroutine that writes it alone:

	kept     book.Kept
	isKnown  bool      // kept is
	read     time.Time // when it was read or written last
	throttle book.Throttle
	failed   endpoints.Failure
	unfit    endpoints.Failure
}

// collect has a book be written of what a cluster exports, if anybody needs one, until ctx ends.
func (e *Exchange) collect(ctx context.Context, cluster string, all []services.Export) {
	if e.Writer == nil {
		return
	}
	var exports []types.NamespacedName
	for _, s := range all {
		if s.Book {
			exports = append(exports, types.NamespacedName{Namespace: s.Namespace, Name: s.Service})
		}
	}
	e.mu.Lock()
	c := e.collectors[cluster]
	isNew := c == nil || c.hasEnded()
	if isNew && len(exports) > 0 {
		c = &collector{exchange: e, name: cluster, done: ctx.Done(), wakes: make(chan struct{}, 1)}
		e.collectors[cluster] = c
	}
	e.mu.Unlock()
	if isNew && len(exports) == 0 {
		return // nobody ever needed one
	}
	c.mu.Lock()
	c.exports = exports
	c.mu.Unlock()
	c.wake()
	if isNew {
		go c.run(ctx)
	}
}

func (c *collector) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *collector) wake() {
	select {
	case c.wakes <- struct{}{}:
	default: // it is awake
	}
}

// run writes until ctx ends.
func (c *collector) run(ctx context.Context) {
	defer c.exchange.written(ctx, c)
	due := time.NewTimer(0).C
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-c.wakes:
		case <-due:
		}
		at, err := c.turn(ctx)
		wait := max(0, at.Sub(c.exchange.now()))
		if err != nil {
			wait = c.exchange.pause(failures)
			failures++
		} else {
			failures = 0
		}
		c.say(ctx, err)
		due = time.NewTimer(wait).C
	}
}

// written forgets a collector.
func (e *Exchange) written(ctx context.Context, c *collector) {
	e.want(ctx, c, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.collectors[c.name] == c {
		delete(e.collectors, c.name)
	}
}

// say says what failed, once.
func (c *collector) say(ctx context.Context, err error) {
	switch isNew := c.failed.Becomes(err); {
	case !isNew || ctx.Err() != nil:
	case err != nil:
		c.exchange.log.WarnContext(ctx, "the book of endpoints is not written: others go on with the last one", "cluster", c.name, "err", err)
	default:
		c.exchange.log.InfoContext(ctx, "the book of endpoints is written again", "cluster", c.name)
	}
}

// turn writes the book, if that is due, and returns when to look again.
func (c *collector) turn(ctx context.Context) (again time.Time, err error) {
	cluster, settings := c.exchange.cluster(c.name)
	now := c.exchange.now()
	if cluster == nil || settings.Endpoints != exchange.Apply {
		c.exchange.want(ctx, c, nil)
		c.isKnown = false
		return now.Add(time.Hour), nil // it is woken before
	}
	c.mu.Lock()
	exports := slices.Clone(c.exports)
	c.mu.Unlock()
	c.exchange.want(ctx, c, map[string][]types.NamespacedName{c.name: exports})
	if !c.isKnown || now.Sub(c.read) >= reread {
		if c.kept, err = c.exchange.Writer.Last(ctx, c.name, c.kept); err != nil {
			return now, err
		}
		c.isKnown, c.read = true, now
	}
	next, ok, unfit := c.next(exports)
	if c.unfit.Becomes(unfit) && unfit != nil {
		c.exchange.log.WarnContext(ctx, "the book of endpoints leaves services as they were: they have more than it may hold", "cluster", c.name, "err", unfit)
	}
	if !ok {
		return c.read.Add(reread), nil // it is woken when more is known
	}
	return c.write(ctx, &next, settings)
}

// next is the book as it is to be, but for its number; false while it is not known what the cluster has. What is not known of a service,
// or is more than a book may hold, which unfit says, is as the last book says.
func (c *collector) next(exports []types.NamespacedName) (next book.Book, ok bool, unfit error) {
	next = book.Book{Cluster: c.name, UID: c.kept.Book.UID, Services: endpoints.Services{}}
	if len(exports) == 0 {
		return next, c.kept.Ref != "", nil
	}
	p := c.exchange.provider(c.name)
	if p == nil {
		return next, false, nil
	}
	has := p.has(exports, 0)
	if has.UID == "" {
		return next, false, nil
	}
	before := c.kept.Book.Services
	if next.UID != has.UID {
		next.UID, before = has.UID, nil
	}
	for _, s := range exports {
		if slices, known := has.Services[s]; known {
			next.Services[s] = slices
		} else if slices, known := before[s]; known {
			next.Services[s] = slices
		}
	}
	next.Services, unfit = book.Fit(next.Services, before)
	return next, len(next.Services) > 0, unfit
}

// write writes the next book, if it is another one and has waited, or is to be renewed, and returns when to look again.
func (c *collector) write(ctx context.Context, next *book.Book, settings exchange.Services) (again time.Time, err error) {
	now := c.exchange.now()
	times, err := c.exchange.Writer.Times(settings, c.exchange.Books.TakesPart)
	if err != nil {
		return now, err
	}
	again = c.read.Add(reread)
	was := &c.kept.Book
	renews := c.renews(times.Renew)
	switch {
	case book.Loses(was.Services, next.Services):
		c.throttle.Changed(now, times.Soon)
	case c.kept.Ref == "" || !book.Same(next.Services, was.Services) || next.UID != was.UID:
		c.throttle.Changed(now, times.Wait)
	case renews.IsZero() || renews.After(now):
		c.throttle.Settled()
	}
	if !renews.IsZero() && !renews.After(now) {
		c.throttle.Changed(now, 0)
	}
	for _, at := range []time.Time{renews, c.throttle.Due(times)} {
		if at.After(now) && at.Before(again) {
			again = at
		}
	}
	if due := c.throttle.Due(times); due.IsZero() || due.After(now) {
		return again, nil
	}
	c.throttle.Pushed(now, times)
	next.Time, next.Number = now, heartbeat.Next(was.Number, now)
	kept, err := c.exchange.Writer.Write(ctx, settings.Bus, next, c.kept)
	if err != nil {
		c.isKnown = false // somebody else may have written it
		return now, err
	}
	c.kept, c.read = kept, now
	c.exchange.log.DebugContext(ctx, "the book of endpoints is written", "cluster", c.name, "services", len(next.Services), "ref", kept.Ref)
	return now, nil
}

// renews is when a book is due that is so old, by which others see that the cluster answers; zero where nobody looks for that. While it
// does not answer, that is later.
func (c *collector) renews(after time.Duration) time.Time {
	p := c.exchange.provider(c.name)
	if after == 0 || p == nil {
		return time.Time{}
	}
	if p.has(nil, answering).Silent {
		return c.exchange.now().Add(period)
	}
	return c.kept.Book.Time.Add(after)
}
