package push

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/clusters/endpointslices"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

const (
	// together is how long changes are gathered until they are brought to a consumer.
	together = 100 * time.Millisecond
	// atOnce is how many requests to a consumer are under way at once.
	atOnce = 8
)

// consumer is a cluster that imports services, or did.
type consumer struct {
	exchange *Exchange
	name     string
	uid      string          // of its Namespace kube-system; the exchange's lock is held for it
	done     <-chan struct{} // closed when the cluster is followed no more
	wakes    chan struct{}   // of one

	mu      sync.Mutex
	owner   string
	imports []services.Import
	live    []*discovery.EndpointSlice // with our label
	listed  bool                       // live is known

	taken   map[types.NamespacedName]bool // names that others have
	refused []endpoints.Refusal           // as it was said
}

func newConsumer(ctx context.Context, e *Exchange, name string) *consumer {
	return &consumer{exchange: e, name: name, done: ctx.Done(), wakes: make(chan struct{}, 1), taken: map[types.NamespacedName]bool{}}
}

func (c *consumer) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// wake has it look at what there is to do.
func (c *consumer) wake() {
	select {
	case c.wakes <- struct{}{}:
	default: // it is awake
	}
}

// set says what it imports from now on.
func (c *consumer) set(owner string, imports []services.Import) {
	c.mu.Lock()
	c.owner, c.imports = owner, imports
	c.mu.Unlock()
	c.wake()
}

// run serves it until ctx ends.
func (c *consumer) run(ctx context.Context) {
	defer c.exchange.left(ctx, c)
	failures, said := 0, ""
	for ctx.Err() == nil {
		if !c.exchange.serves(c.name) {
			c.exchange.want(ctx, c, nil)
			select {
			case <-ctx.Done():
			case <-c.wakes:
			}
			continue
		}
		listed, err := c.serve(ctx)
		if listed {
			failures, said = 0, ""
		}
		switch {
		case ctx.Err() != nil || err == nil:
			continue
		case errors.Is(err, errIdle):
			c.rest(ctx)
			continue
		}
		if text := err.Error(); text != said {
			said = text
			c.exchange.log.WarnContext(ctx, "endpoints are not brought to a cluster", "cluster", c.name, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.NewTimer(c.exchange.pause(failures)).C:
		}
		failures++
	}
}

// errIdle says that a cluster imports nothing, and has nothing that it imported.
var errIdle = errors.New("it imports nothing")

// rest waits until there is something to import, or the cluster takes no part any more.
func (c *consumer) rest(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wakes:
		}
		c.mu.Lock()
		imports := len(c.imports)
		c.mu.Unlock()
		if imports > 0 || !c.exchange.serves(c.name) {
			return
		}
	}
}

// serve keeps its slices as they should be until it cannot be reached, has none and is to have none (errIdle), or takes no part any
// more, which is no error. It reports whether slices were listed.
func (c *consumer) serve(ctx context.Context) (listed bool, err error) {
	r, err := c.exchange.open(ctx, c.name)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.mu.Lock()
	c.live, c.listed = nil, false
	c.mu.Unlock()
	clear(c.taken)
	go func() {
		cancel(r.Watch(ctx, discovery.LabelManagedBy+"="+endpoints.ManagedBy, func(live []*discovery.EndpointSlice) {
			c.mu.Lock()
			c.live, c.listed = live, true
			c.mu.Unlock()
			c.wake()
		}))
	}()
	var due <-chan time.Time
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return c.isListed(), context.Cause(ctx)
		case <-c.wakes:
			due = time.NewTimer(together).C
			continue
		case <-due:
			due = nil
		}
		if !c.exchange.serves(c.name) {
			return c.isListed(), nil
		}
		err := c.turn(ctx, r)
		switch {
		case errors.Is(err, errIdle):
			return true, err
		case err != nil:
			c.exchange.log.WarnContext(ctx, "endpoints are not all brought to a cluster", "cluster", c.name, "err", err)
			due = time.NewTimer(c.exchange.pause(failures)).C
			failures++
		default:
			failures = 0
		}
	}
}

func (c *consumer) isListed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed
}

// turn does what there is to do now: errIdle is that there is nothing to import, and nothing here that was.
func (c *consumer) turn(ctx context.Context, r *reached) error {
	c.mu.Lock()
	in := endpoints.Input{Cluster: c.name, Owner: c.owner, Imports: c.imports, Live: c.live, Taken: maps.Clone(c.taken)}
	listed := c.listed
	c.mu.Unlock()
	wanted := map[string][]types.NamespacedName{}
	for _, im := range in.Imports {
		for _, p := range im.From {
			wanted[p] = append(wanted[p], types.NamespacedName{Namespace: im.Namespace, Name: im.Service})
		}
	}
	c.exchange.want(ctx, c, wanted)
	if !listed {
		return nil // it wakes when it is
	}
	if len(in.Imports) == 0 && len(in.Live) == 0 {
		return errIdle
	}
	in.Providers = c.providers(ctx, wanted)
	res := endpoints.Resolve(&in)
	c.say(ctx, res.Refused)
	return c.act(ctx, r, &res)
}

// providers is what is known of clusters.
func (c *consumer) providers(ctx context.Context, wanted map[string][]types.NamespacedName) map[string]*endpoints.Provider {
	all := map[string]*endpoints.Provider{}
	for name, of := range wanted {
		p := c.exchange.provider(name)
		cluster, settings := c.exchange.cluster(name)
		if p == nil || cluster == nil {
			continue
		}
		has := p.has(of, settings.StaleAfter.Duration)
		ranges, err := endpoints.Ranges(cluster.Annotations[endpoints.RangesAnnotation])
		if err != nil {
			c.exchange.log.WarnContext(ctx, "endpoints of a cluster stay as they are in another", "cluster", name, "in", c.name, "err", err)
			has.Services = nil
		}
		has.Ranges = ranges
		all[name] = has
	}
	return all
}

// act applies and deletes. In a namespace where anything cannot be applied nothing is deleted: what is not there yet may stand for it.
func (c *consumer) act(ctx context.Context, r *reached, res *endpoints.Result) error {
	var errs []error
	failed := map[string]bool{} // namespaces
	for i, err := range each(res.Apply, func(s *discovery.EndpointSlice) error { return r.Apply(ctx, s) }) {
		s := res.Apply[i]
		if errors.Is(err, endpointslices.ErrTaken) {
			c.taken[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = true
		}
		errs, failed[s.Namespace] = append(errs, err), true
	}
	gone := slices.DeleteFunc(slices.Clone(res.Delete), func(s *discovery.EndpointSlice) bool { return failed[s.Namespace] })
	for _, err := range each(gone, func(s *discovery.EndpointSlice) error { return r.Delete(ctx, s) }) {
		errs = append(errs, err)
	}
	if len(res.Apply)+len(gone) > 0 {
		c.exchange.log.DebugContext(ctx, "endpoints brought to a cluster", "cluster", c.name, "applied", len(res.Apply), "deleted", len(gone), "errors", len(errs))
	}
	return errors.Join(errs...)
}

// each does something with slices, several at once, and returns what failed by the number of the slice.
func each(all []*discovery.EndpointSlice, do func(*discovery.EndpointSlice) error) map[int]error {
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	failed := map[int]error{}
	for i, s := range all {
		group.Go(func() error {
			if err := do(s); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[i] = err
			}
			return nil
		})
	}
	_ = group.Wait() // what failed is noted
	return failed
}

// say says what is refused, once.
func (c *consumer) say(ctx context.Context, refused []endpoints.Refusal) {
	for _, w := range refused {
		if !slices.Contains(c.refused, w) {
			c.exchange.log.WarnContext(ctx, "endpoints refused", "cluster", c.name, "from", w.Provider, "service", w.Service.String(), "slice", w.Slice, "reason", w.Why)
		}
	}
	c.refused = refused
}
