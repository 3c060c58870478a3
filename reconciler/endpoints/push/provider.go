package push

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

const (
	// period is the time between two looks at whether a provider answers. exchange.Services demands a longer StaleAfter.
	period = 10 * time.Second
	// misses is how many looks in a row may fail until it is reached anew.
	misses = 2
	// longest is how many bytes a list of names may have that is asked for: it is part of a URL.
	longest = 4000
)

// provider is a cluster that others import from.
type provider struct {
	exchange *Exchange
	name     string
	stop     context.CancelFunc
	anew     chan struct{} // of one: services are wanted that are not asked for
	looks    chan struct{} // of one: what is known of the cluster has changed

	mu      sync.Mutex
	users   map[user][]types.NamespacedName // what each wants
	asked   map[string]bool                 // names of services that are asked for now, in whatever namespace
	watched map[string]bool                 // those that the last list of this cluster had
	live    []*discovery.EndpointSlice
	uid     string
	heard   time.Time // when it answered last; at first when it was first wanted
	silent  bool      // as its users were told
}

// user is who wants to know what a provider has: a consumer, or a collector.
type user interface {
	wake() // something has changed
}

// want says what a user wants of providers from now on: nil for nothing any more. Those that are not reached from here are not watched.
func (e *Exchange) want(ctx context.Context, c user, of map[string][]types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	watched := map[string][]types.NamespacedName{}
	for name, services := range of {
		if is := e.takesPart(name); is == nil || e.reaches(is) {
			watched[name] = services
		}
	}
	for name := range watched {
		if e.providers[name] == nil {
			p := &provider{
				exchange: e, name: name, anew: make(chan struct{}, 1), looks: make(chan struct{}, 1),
				users: map[user][]types.NamespacedName{}, heard: e.now(),
			}
			var running context.Context
			running, p.stop = context.WithCancel(context.WithoutCancel(ctx)) // it may go on when this consumer leaves
			e.providers[name] = p
			go p.run(running)
			go p.listen(running)
		}
	}
	for name, p := range e.providers {
		if p.use(c, watched[name]) == 0 {
			p.stop()
			delete(e.providers, name)
		}
	}
}

// provider returns one that is wanted; nil for none.
func (e *Exchange) provider(name string) *provider {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.providers[name]
}

// use notes what a user wants, and returns how many want anything.
func (p *provider) use(c user, wanted []types.NamespacedName) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(wanted) == 0 {
		delete(p.users, c)
		return len(p.users)
	}
	p.users[c] = wanted
	if slices.ContainsFunc(wanted, func(s types.NamespacedName) bool { return !p.asked[s.Name] }) {
		select {
		case p.anew <- struct{}{}:
		default: // it is about to begin anew
		}
	}
	return len(p.users)
}

// saySilent and sayAnswers say of a cluster that it is silent, and that it is so no longer.
func (e *Exchange) saySilent(cluster string) {
	e.log.Warn("a cluster does not answer: its endpoints are not ready in others", "cluster", cluster)
}

func (e *Exchange) sayAnswers(cluster string) {
	e.log.Info("a cluster answers again", "cluster", cluster)
}

// has is what is known of it to a user.
func (p *provider) has(wanted []types.NamespacedName, staleAfter time.Duration) *endpoints.Provider {
	p.mu.Lock()
	defer p.mu.Unlock()
	watched := slices.DeleteFunc(slices.Clone(wanted), func(s types.NamespacedName) bool { return !p.watched[s.Name] })
	return &endpoints.Provider{UID: p.uid, Services: endpoints.Collect(watched, p.live), Silent: p.isSilent(staleAfter)}
}

// isSilent reports that it has not answered for so long. The lock is held.
func (p *provider) isSilent(staleAfter time.Duration) bool {
	return staleAfter > 0 && p.exchange.now().Sub(p.heard) > staleAfter
}

// run watches its slices until ctx ends.
func (p *provider) run(ctx context.Context) {
	failures, said := 0, endpoints.Failure("")
	for ctx.Err() == nil {
		began := p.exchange.now()
		err := p.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if p.exchange.now().Sub(began) > steady {
			failures, said = 0, ""
		}
		if errors.Is(err, errAnew) || errors.Is(err, errAnother) {
			continue
		}
		if said.Becomes(err) {
			p.exchange.log.WarnContext(ctx, "endpoints of a cluster stay as they are in others", "cluster", p.name, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-p.anew:
		case <-time.NewTimer(p.exchange.pause(failures)).C:
		}
		failures++
	}
}

// errAnew says that other services are wanted.
var errAnew = errors.New("other services are wanted")

// watch watches until it cannot go on, or other services are wanted.
func (p *provider) watch(ctx context.Context) error {
	select {
	case <-p.anew: // they are among those that are asked for now
	default:
	}
	names := p.ask()
	if len(names) == 0 { // whoever wants it says for what in a moment
		select {
		case <-ctx.Done():
		case <-p.anew:
		}
		return errAnew
	}
	r, err := p.exchange.open(ctx, p.name)
	if err == nil {
		err = p.recognise(r)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		listed := false
		ended <- r.Watch(ctx, selector(names), func(live []*discovery.EndpointSlice) {
			p.told(names, live)
			if !listed {
				go p.probe(ctx, r, cancel)
			}
			listed = true
		})
	}()
	select {
	case err = <-ended:
	case <-p.anew:
		cancel(errAnew)
		err = <-ended
	}
	return cmp.Or(context.Cause(ctx), err)
}

// selector finds the slices of services; those of all, where there are too many names for a request.
func selector(names []string) string {
	list := strings.Join(names, ",")
	if len(list) > longest {
		return discovery.LabelServiceName
	}
	return discovery.LabelServiceName + " in (" + list + ")"
}

// recognise refuses a cluster that is another one than before, unless it is certain that it is the right one.
func (p *provider) recognise(r *reached) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if was := p.uid; was != "" && was != r.uid && !r.isKnown {
		return errors.New(endpoints.Another(was, r.uid))
	}
	if p.uid != r.uid {
		p.uid, p.watched = r.uid, nil
	}
	return nil
}

// ask has the services be asked for that anybody wants, and returns their names, sorted.
func (p *provider) ask() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = map[string]bool{}
	for _, wanted := range p.users {
		for _, s := range wanted {
			p.asked[s.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(p.asked))
}

// told takes what a watch of services found.
func (p *provider) told(names []string, live []*discovery.EndpointSlice) {
	p.mu.Lock()
	p.live, p.heard, p.watched = live, p.exchange.now(), map[string]bool{}
	for _, name := range names {
		p.watched[name] = true
	}
	p.mu.Unlock()
	p.wakeUsers()
}

func (p *provider) wakeUsers() {
	p.mu.Lock()
	all := slices.Collect(maps.Keys(p.users))
	p.mu.Unlock()
	for _, c := range all {
		c.wake()
	}
}

// look has it looked at whether the cluster is the one that it was, and is reached as it was.
func (p *provider) look() {
	select {
	case p.looks <- struct{}{}:
	default: // it is about to be looked at
	}
}

// probe asks the cluster who it is again and again while it is watched, for a watch may be quiet because nothing changes, and go on
// although the cluster takes no part any more.
func (p *provider) probe(ctx context.Context, r *reached, cancel context.CancelCauseFunc) {
	tick := time.NewTimer(period).C
	for missed := 0; ; {
		is := r
		var err error
		select {
		case <-ctx.Done():
			return
		case <-p.looks:
			is, err = p.exchange.open(ctx, p.name) // as it is reached now
		case <-tick:
			tick = time.NewTimer(period).C
		}
		var uid string
		if err == nil {
			uid, err = is.asked(ctx)
		}
		switch {
		case err == nil && uid == r.uid:
			missed = 0
			p.mu.Lock()
			p.heard = p.exchange.now()
			p.mu.Unlock()
			continue
		case err == nil:
			err = errAnother
		case !errors.Is(err, errNoPart):
			if missed++; missed < misses {
				continue
			}
		}
		cancel(err)
		return
	}
}

// listen wakes who imports from the cluster when it becomes silent, and when it is heard again.
func (p *provider) listen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.NewTimer(time.Second).C:
		}
		cluster, settings := p.exchange.cluster(p.name)
		p.mu.Lock()
		is := cluster != nil && p.isSilent(settings.StaleAfter.Duration)
		changed := is != p.silent
		p.silent = is
		p.mu.Unlock()
		if !changed {
			continue
		}
		if is {
			p.exchange.saySilent(p.name)
		} else {
			p.exchange.sayAnswers(p.name)
		}
		p.wakeUsers()
	}
}
