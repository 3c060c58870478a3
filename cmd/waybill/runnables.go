package main

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"
)

// runnable is a part of the controller. It runs until its context ends or it fails, and then all end.
type runnable struct {
	name  string
	leads bool // it runs only while this replica leads
	// wakes has it work before its time; nil: nothing does.
	wakes <-chan struct{}
	run   func(ctx context.Context, wakes <-chan struct{}) error
}

// alone is the work of a part that nothing wakes.
func alone(run func(context.Context) error) func(context.Context, <-chan struct{}) error {
	return func(ctx context.Context, _ <-chan struct{}) error { return run(ctx) }
}

// runAll runs the parts: those that lead by lead, which calls what it is given while this replica leads.
func runAll(ctx context.Context, log *slog.Logger, parts []runnable, lead func(context.Context, func(context.Context) error) error) error {
	var leading, others []runnable
	for _, p := range parts {
		if p.leads {
			leading = append(leading, p)
		} else {
			others = append(others, p)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	start(ctx, group, log, others)
	group.Go(func() error {
		return lead(ctx, func(ctx context.Context) error {
			group, ctx := errgroup.WithContext(ctx)
			start(ctx, group, log, leading)
			return group.Wait()
		})
	})
	return group.Wait()
}

// always leads: what elects among several is elsewhere.
func always(ctx context.Context, work func(context.Context) error) error { return work(ctx) }

// start starts parts.
func start(ctx context.Context, group *errgroup.Group, log *slog.Logger, parts []runnable) {
	for _, p := range parts {
		group.Go(func() error {
			log.DebugContext(ctx, "started", "part", p.name)
			return p.run(ctx, p.wakes)
		})
	}
}

// wakes are what has a part of the controller work before its time. Each holds one wake, however many come.
type wakes struct {
	source    chan struct{} // the loop: a branch may have moved, or there is something else to plan
	published chan struct{} // who applies: something was published
	commented chan struct{} // who reads comments
	pulled    chan struct{} // who shows pull requests
}

func newWakes() wakes {
	one := func() chan struct{} { return make(chan struct{}, 1) }
	return wakes{one(), one(), one(), one()}
}

// wake wakes who waits for a channel of one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake
	}
}
