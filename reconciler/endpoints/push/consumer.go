package push

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	discovery "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/policies/karmada"
	"github.com/waybill-dev/waybill/policies/services"
	"github.com/waybill-dev/waybill/reconciler/clusters/endpointslices"
	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

const (
	// together is how long changes are gathered until they are brought to a consumer.
	together = 100 * time.Millisecond
	// atOnce is how many requests to a consumer are under way at once.
	atOnce = 8
	// most is how much of one kind is said at once.
	most = 5
)

// consumer is a cluster that imports services, or did.
type consumer struct {
	exchange *Exchange
	name     string
	uid      string          // of its Namespace kube-system; the exchange's lock is held for it
	done     <-chan struct{} // closed when the cluster is followed no more
	wakes    chan struct{}   // of one

	mu      sync.Mutex
	of      Applied // the newest
	imports []services.Import
	live    []*discovery.EndpointSlice // with our label
	listed  bool                       // live is known

	// Of the goroutine that serves it alone:

	taken   map[types.NamespacedName]bool // names that others have
	refused map[endpoints.Refusal]bool    // as it was said; nil: nothing was
	failed  endpoints.Failure
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
func (c *consumer) set(of *Applied, imports []services.Import) {
	c.mu.Lock()
	c.of, c.imports = *of, imports
	c.mu.Unlock()
	c.wake()
}

// run serves it until ctx ends.
func (c *consumer) run(ctx context.Context) {
	defer c.exchange.left(ctx, c)
	failures, said := 0, endpoints.Failure("")
	for ctx.Err() == nil {
		if !c.exchange.serves(c.name) {
			c.exchange.want(ctx, c, nil)
			select {
			case <-ctx.Done():
			case <-c.wakes:
			}
			continue
		}
		began := c.exchange.now()
		err := c.serve(ctx)
		if c.exchange.now().Sub(began) > steady {
			failures, said = 0, ""
		}
		switch {
		case ctx.Err() != nil || err == nil:
			continue
		case errors.Is(err, errIdle):
			c.rest(ctx)
			continue
		case errors.Is(err, errAnother):
			continue
		}
		if said.Becomes(err) {
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

// serve keeps its slices as they should be until it cannot be reached, is another cluster (errAnother), has none and is to have none
// (errIdle), or takes no part any more or is to be listed anew, which is no error.
func (c *consumer) serve(ctx context.Context) error {
	r, err := c.exchange.open(ctx, c.name)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.live, c.listed = nil, false
	c.mu.Unlock()
	clear(c.taken)
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		cancel(r.Watch(ctx, discovery.LabelManagedBy+"="+endpoints.ManagedBy, func(live []*discovery.EndpointSlice) {
			c.mu.Lock()
			c.live, c.listed = live, true
			c.mu.Unlock()
			c.wake()
		}))
	})
	defer watching.Wait() // what it is told later would count for the next one
	defer cancel(nil)
	return c.keep(ctx, r)
}

// keep does what there is to do whenever it is woken, until ctx ends.
func (c *consumer) keep(ctx context.Context, r *reached) error {
	var due <-chan time.Time
	gathers := false // changes are gathered until it is due
	applied := false // any slice, of which the watch may not have told yet
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.wakes:
			if !gathers { // where changes never end, it is due nevertheless
				gathers, due = true, time.NewTimer(together).C
			}
			continue
		case <-due:
			gathers, due = false, nil
		}
		switch {
		case !c.exchange.serves(c.name):
			return nil
		case !c.exchange.isStill(c.name, r):
			return errAnother
		}
		applies, err := c.turn(ctx, r)
		applied = applied || applies
		switch {
		case errors.Is(err, errIdle) && applied:
			return nil // the slices are listed anew, and what is left of them goes
		case errors.Is(err, errIdle), apierrors.IsUnauthorized(err): // it is reached anew, with the credential as it is then
			return err
		case err != nil:
			if c.failed.Becomes(err) {
				c.exchange.log.WarnContext(ctx, "endpoints are not all brought to a cluster", "cluster", c.name, "err", err)
			}
			due = time.NewTimer(c.exchange.pause(failures)).C
			failures++
		default:
			failures, c.failed = 0, ""
		}
	}
}

// turn does what there is to do now, and reports whether it applied anything: errIdle is that there is nothing to import, and nothing
// here that was, as far as the watch told.
func (c *consumer) turn(ctx context.Context, r *reached) (applies bool, err error) {
	c.mu.Lock()
	in := endpoints.Input{Cluster: c.name, Owner: c.of.Owner, Formerly: c.of.Formerly, Imports: c.imports, Live: c.live, Taken: c.taken}
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
		return false, nil // it wakes when it is
	}
	if len(in.Imports) == 0 && len(in.Live) == 0 {
		return false, errIdle
	}
	var refused []endpoints.Refusal
	in.Providers, refused = c.providers(wanted)
	res := endpoints.Resolve(&in)
	c.say(ctx, append(refused, res.Refused...))
	return len(res.Apply) > 0, c.act(ctx, r, &res)
}

// providers is what is known of clusters, and which newer books of them are not taken.
func (c *consumer) providers(wanted map[string][]types.NamespacedName) (all map[string]*endpoints.Provider, refused []endpoints.Refusal) {
	all = map[string]*endpoints.Provider{}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		has, cluster, why := c.known(name, wanted[name])
		if why != "" {
			refused = append(refused, endpoints.Refusal{Provider: name, Why: why})
		}
		if has == nil {
			continue
		}
		ranges, err := karmada.Ranges(cluster.Annotations[karmada.RangesAnnotation])
		if err != nil {
			has.Wrong = fmt.Sprintf("the annotation %s: %v", karmada.RangesAnnotation, err)
		}
		has.Ranges = ranges
		all[name] = has
	}
	return all, refused
}

// known is what is known of a cluster, by watching it, or by its books; nil for nothing. Refused says why a newer book is not taken.
func (c *consumer) known(name string, wanted []types.NamespacedName) (has *endpoints.Provider, cluster *karmada.Cluster, refused string) {
	if cluster := c.exchange.elsewhere(name); cluster != nil {
		has, refused = c.exchange.Books.of(cluster)
		return has, cluster, refused
	}
	p := c.exchange.provider(name)
	cluster, settings := c.exchange.cluster(name)
	if p == nil || cluster == nil {
		return nil, nil, ""
	}
	has = p.has(wanted, settings.StaleAfter.Duration)
	switch uid := c.exchange.uidOf(cluster); uid {
	case "":
	case has.UID:
		has.Certain = true
	default: // what it had is that of another cluster
		has.Services = nil
	}
	return has, cluster, ""
}

// act applies and deletes. Nothing is deleted of a Service of which anything cannot be applied: what is not there yet may stand for it.
func (c *consumer) act(ctx context.Context, r *reached, res *endpoints.Result) error {
	errs := each(res.Apply, func(s *discovery.EndpointSlice) error { return r.Apply(ctx, s) })
	failed := map[types.NamespacedName]bool{} // Services
	for i, s := range res.Apply {
		if errs[i] != nil {
			failed[serviceOf(s)] = true
		}
		if errors.Is(errs[i], endpointslices.ErrTaken) {
			c.exchange.log.WarnContext(ctx, "an EndpointSlice is left alone: endpoints are brought by another name", "cluster", c.name, "err", errs[i])
			c.taken[types.NamespacedName{Namespace: s.Namespace, Name: s.Name}] = true
			errs[i] = nil
			c.wake()
		}
	}
	gone := slices.DeleteFunc(slices.Clone(res.Delete), func(s *discovery.EndpointSlice) bool { return failed[serviceOf(s)] })
	errs = append(errs, each(gone, func(s *discovery.EndpointSlice) error { return r.Delete(ctx, s) })...)
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(res.Apply)+len(gone) > 0 {
		c.exchange.log.DebugContext(ctx, "endpoints brought to a cluster", "cluster", c.name, "applied", len(res.Apply), "deleted", len(gone), "errors", len(errs))
	}
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}

// serviceOf is the Service that a slice is of.
func serviceOf(s *discovery.EndpointSlice) types.NamespacedName {
	return types.NamespacedName{Namespace: s.Namespace, Name: s.Labels[discovery.LabelServiceName]}
}

// each does something with slices, several at once, and returns what came of each.
func each(all []*discovery.EndpointSlice, do func(*discovery.EndpointSlice) error) []error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	errs := make([]error, len(all))
	for i, s := range all {
		group.Go(func() error {
			errs[i] = do(s)
			return nil
		})
	}
	_ = group.Wait() // what failed is noted
	return errs
}

// say says what is refused, once.
func (c *consumer) say(ctx context.Context, refused []endpoints.Refusal) {
	said, n := map[endpoints.Refusal]bool{}, 0
	for _, w := range refused {
		if said[w] = true; c.refused[w] {
			continue
		}
		if n++; n <= most {
			c.exchange.log.WarnContext(ctx, "endpoints refused", "cluster", c.name, "from", w.Provider, "service", w.Named(), "slice", w.Slice, "reason", w.Why)
		}
	}
	if n > most {
		c.exchange.log.WarnContext(ctx, "more endpoints refused", "cluster", c.name, "times", n-most)
	}
	if c.exchange.Refused != nil && (c.refused == nil || !maps.Equal(said, c.refused)) {
		c.exchange.Refused(c.name, refused)
	}
	c.refused = said
}
