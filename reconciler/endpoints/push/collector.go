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
	// Last is how the book of a cluster is kept that whoever served the cluster last wrote.
	Last(ctx context.Context, cluster string) (book.Kept, error)
	// Write replaces it, where refs are as they were.
	Write(ctx context.Context, bus exchange.Bus, b *book.Book, over book.Kept) (book.Kept, error)
	// Interval is how long changes wait, by what the config says.
	Interval(config time.Duration) (time.Duration, error)
}

const (
	// reread is how long somebody may have put something else in the place of a book until it is seen.
	reread = time.Minute
	// renewals is how many books without news come in the time after which a cluster is silent.
	renewals = 3
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
	failed   string // as it was said
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
	defer c.exchange.want(ctx, c, nil)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-c.wakes:
		case <-timer.C:
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
		timer.Reset(wait)
	}
}

// say says what failed, once.
func (c *collector) say(ctx context.Context, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case text == c.failed || ctx.Err() != nil:
	case text != "":
		c.exchange.log.WarnContext(ctx, "the book of endpoints is not written: others go on with the last one", "cluster", c.name, "err", err)
	default:
		c.exchange.log.InfoContext(ctx, "the book of endpoints is written again", "cluster", c.name)
	}
	c.failed = text
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
		if c.kept, err = c.exchange.Writer.Last(ctx, c.name); err != nil {
			return now, err
		}
		c.isKnown, c.read = true, now
	}
	next, ok := c.next(exports)
	if !ok {
		return c.read.Add(reread), nil // it is woken when more is known
	}
	return c.write(ctx, &next, settings)
}

// next is the book as it is to be, but for its number; false while it is not known what the cluster has. What is not known of a service
// is as the last book says.
func (c *collector) next(exports []types.NamespacedName) (next book.Book, ok bool) {
	next = book.Book{Cluster: c.name, UID: c.kept.Book.UID, Services: endpoints.Services{}}
	if len(exports) == 0 {
		return next, c.kept.Ref != ""
	}
	p := c.exchange.provider(c.name)
	if p == nil {
		return next, false
	}
	has := p.has(exports, 0)
	if has.UID == "" {
		return next, false
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
	return next, len(next.Services) > 0
}

// write writes the next book, if it is another one and has waited, or is to be renewed, and returns when to look again.
func (c *collector) write(ctx context.Context, next *book.Book, settings exchange.Services) (again time.Time, err error) {
	now := c.exchange.now()
	interval, err := c.exchange.Writer.Interval(settings.MinInterval.Duration)
	if err != nil {
		return now, err
	}
	again = c.read.Add(reread)
	was := &c.kept.Book
	switch renews := c.renews(settings.StaleAfter.Duration); {
	case book.Loses(was.Services, next.Services):
		c.throttle.Lost(now, interval)
	case c.kept.Ref == "" || !book.Same(next.Services, was.Services) || next.UID != was.UID:
		c.throttle.Changed(now, interval)
	case !renews.IsZero() && !renews.After(now):
		c.throttle.Changed(now, 0)
	default:
		c.throttle.Settled()
		if !renews.IsZero() && renews.Before(again) {
			again = renews
		}
	}
	due := c.throttle.Due()
	if due.IsZero() {
		return again, nil
	}
	if due.After(now) {
		return due, nil
	}
	c.throttle.Pushed(now)
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

// renews is when a book without news is due, by which others see that the cluster answers; zero where nobody looks for that. While it does
// not answer, that is later.
func (c *collector) renews(staleAfter time.Duration) time.Time {
	p := c.exchange.provider(c.name)
	if staleAfter == 0 || p == nil {
		return time.Time{}
	}
	if p.has(nil, answering).Silent {
		return c.exchange.now().Add(period)
	}
	return c.kept.Book.Time.Add(staleAfter / renewals)
}
