package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

const (
	// maxDeaths is after how many deaths in a row a key is quarantined.
	maxDeaths = 3
	// maxKeys bounds how many keys with deaths are remembered.
	maxKeys = 10_000
	// maxJobs is how many jobs a child does before it makes room for a new one.
	maxJobs = 500
)

// Pool runs jobs in children. It is safe for concurrent use.
type Pool struct {
	launcher launcher

	mu     sync.Mutex
	idle   []*process
	deaths map[string]int // by key
	walls  []Wall         // of the last child
	closed bool
	warned sync.Once
}

// New returns a pool. It starts nothing.
func New(o Options) *Pool {
	return &Pool{launcher: launcher{Options: o.withDefaults()}, deaths: map[string]int{}}
}

// Close ends the children that wait for work. Those at work end with their call.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		c.end()
	}
}

// Missing returns the walls that the last child lacked. Before the first there is
// none.
func (p *Pool) Missing() []Wall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return missing(p.walls)
}

// Do does jobs and returns what became of each, in order. It returns when all children
// that it used have answered or are gone.
func (p *Pool) Do(ctx context.Context, jobs []Job) []Result {
	results := make([]Result, len(jobs))
	next := make(chan int, len(jobs))
	for i := range jobs {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range min(p.launcher.Jobs, len(jobs)) {
		all.Go(func() {
			h := hand{Pool: p}
			for i := range next {
				results[i] = h.do(ctx, jobs[i])
			}
			h.put()
		})
	}
	all.Wait()
	if missing := p.Missing(); len(missing) > 0 && p.launcher.Warn != nil {
		p.warned.Do(func() { p.launcher.Warn(missing) })
	}
	return results
}

// hand does one job after the other, in a child that it replaces when it must.
type hand struct {
	*Pool

	child *process // nil: none yet
}

// do does a job, at most twice.
func (h *hand) do(ctx context.Context, j Job) Result {
	if size := int64(len(j.Input)); size > h.launcher.MaxInput {
		return Result{Err: fmt.Errorf("rendering %s: its input has %d bytes; at most %d are allowed", j.Name, size, h.launcher.MaxInput)}
	}
	if err := j.Budget.begin(ctx, h.launcher.Memory); err != nil {
		return Result{Err: fmt.Errorf("rendering %s: %w", j.Name, err)}
	}
	defer j.Budget.end()
	var res Result
	for attempt := range 2 {
		if h.quarantined(j.Key) {
			return Result{Err: fmt.Errorf("rendering %s: %w", j.Name, ErrQuarantined)}
		}
		if err := h.take(ctx, attempt); err != nil {
			return Result{Err: fmt.Errorf("rendering %s: %w", j.Name, err)}
		}
		var alive bool
		if res, alive = h.child.do(ctx, j); !alive {
			h.child.end()
			h.child = nil
		}
		e, died := errors.AsType[*DeathError](res.Err)
		if !died {
			h.count(j.Key, 0)
			return res
		}
		e.Name = j.Name
		h.count(j.Key, 1)
	}
	return res
}

// take gets hold of a child: for a second attempt, a new one.
func (h *hand) take(ctx context.Context, attempt int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.child != nil && h.child.jobs < maxJobs {
		return nil
	}
	if h.child != nil {
		h.child.end()
		h.child = nil
	}
	h.mu.Lock()
	if n := len(h.idle); n > 0 && attempt == 0 {
		h.child, h.idle = h.idle[n-1], h.idle[:n-1]
	}
	h.mu.Unlock()
	if h.child != nil {
		return nil
	}
	child, err := h.launcher.start(ctx)
	if err != nil {
		return err
	}
	h.child = child
	h.mu.Lock()
	defer h.mu.Unlock()
	h.walls = slices.Clone(child.walls)
	return nil
}

// put lets go of the child: a trusted one waits for more.
func (h *hand) put() {
	if h.child == nil {
		return
	}
	h.mu.Lock()
	keep := h.launcher.Trust == Trusted && !h.closed && len(h.idle) < h.launcher.Jobs && h.child.jobs < maxJobs
	if keep {
		h.idle = append(h.idle, h.child)
	}
	h.mu.Unlock()
	if !keep {
		h.child.end()
	}
	h.child = nil
}

// quarantined reports that a key is not to be tried.
func (p *Pool) quarantined(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return key != "" && p.deaths[key] >= maxDeaths
}

// count notes deaths of a key; none makes earlier ones forgotten.
func (p *Pool) count(key string, deaths int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if deaths == 0 {
		delete(p.deaths, key)
		return
	}
	if len(p.deaths) >= maxKeys {
		clear(p.deaths)
	}
	p.deaths[key] += deaths
}
