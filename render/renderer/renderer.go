// Package renderer does the jobs that plans and sources ask for: it brings charts
// and files together, has the engines run, in a sandbox where there is one, and
// remembers results by all that went into them.
//
// It promises that a result depends on the job and on what the job read, never on
// what was done before; that an app which kills its worker fails alone; and that a
// chart which cannot be had is a diagnostic of its release, so that other releases
// go on.
package renderer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/waybill-dev/waybill/render/cache"
	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/engine"
	"github.com/waybill-dev/waybill/render/worker"
	"github.com/waybill-dev/waybill/sources"
)

// Runner runs engines.Run on jobs, each over its own files, and returns a result for each,
// in order. A *worker.Pool is one, and a *worker.Local.
type Runner interface {
	Do(ctx context.Context, jobs []worker.Job) []worker.Result
}

// Renderer does jobs. It is a render.Engine, and safe for concurrent use.
type Renderer struct {
	*memory

	runner Runner
	charts Charts
	budget *worker.Budget // nil: none
}

// memory is what is known of jobs that were done.
type memory struct {
	recipes *cache.Recipes[engine.Rendered]

	mu     sync.Mutex
	deadly map[string][]worker.Read // by the key of a job: what it had read when it killed its worker

	of *memory // what is known, too; nil: nothing is
}

func newMemory(of *memory) *memory {
	return &memory{recipes: cache.NewRecipes[engine.Rendered](remembered), deadly: map[string][]worker.Read{}, of: of}
}

// get looks for the result of a job.
func (m *memory) get(key string, digest func(string) string) (known engine.Rendered, ok bool) {
	for ; m != nil; m = m.of {
		if known, ok = m.recipes.Get(key, digest); ok {
			return known, true
		}
	}
	return known, false
}

// remembered is how many results are remembered: a few times what a large source
// renders, so that a change does not push out what it is compared with.
const remembered = 4096

// New returns a renderer that has jobs run by r and gets charts from c, which may be
// nil: then charts of repositories cannot be had.
func New(r Runner, c Charts) *Renderer {
	return &Renderer{memory: newMemory(nil), runner: r, charts: c}
}

// Within is the renderer for what has a budget: with what is known of jobs that were done, which cost it nothing. Once
// the budget is spent, nothing is rendered, and Render fails with worker.ErrBudget.
func (r *Renderer) Within(b *worker.Budget) *Renderer {
	return &Renderer{memory: r.memory, runner: r.runner, charts: r.charts, budget: b}
}

// Apart is the renderer for what is not trusted by others: it has what is known, and nobody else what it renders.
func (r *Renderer) Apart() *Renderer {
	return &Renderer{memory: newMemory(r.memory), runner: r.runner, charts: r.charts, budget: r.budget}
}

// Remember has results kept on a disk, too. It is called before anything is rendered.
func (r *Renderer) Remember(on cache.Disk, now func() time.Time) { r.recipes.On(on, decode, now) }

// decode reads what an engine gave, and identifies what it read of the source.
func decode(output []byte, reads map[string]string) (engine.Rendered, error) {
	r, err := engine.Decode(output)
	r.Inputs = inputs(reads)
	return r, err
}

// Render does jobs over the files of a snapshot and returns a result for each, in
// order. The error is ours.
func (r *Renderer) Render(ctx context.Context, s sources.Snapshot, jobs []engine.Job) ([]engine.Rendered, error) {
	b := &batch{renderer: r, snapshot: s, results: make([]engine.Rendered, len(jobs))}
	b.files = sync.OnceValue(func() *withCharts { return newWithCharts(ctx, s, r.charts) })
	b.digests = sync.OnceValue(func() func(string) (string, bool) { return sources.Digests(s) })
	for i, j := range jobs {
		if err := b.add(ctx, i, j); err != nil {
			return nil, err
		}
	}
	return b.results, b.run(ctx)
}

// batch is the jobs of one call.
type batch struct {
	renderer *Renderer
	snapshot sources.Snapshot
	files    func() *withCharts
	digests  func() func(path string) (string, bool) // of the snapshot
	results  []engine.Rendered
	tasks    []task
}

// task is a job that is left to do.
type task struct {
	job    worker.Job
	key    string           // of the job
	once   bool             // nothing after this process asks for the result
	result *engine.Rendered // to fill in
}

// add takes a job up, unless its result is known or its chart cannot be had.
func (b *batch) add(ctx context.Context, i int, j engine.Job) error {
	files, notices := fs.FS(nil), []diag.Diagnostic(nil)
	if j.Helm != nil {
		own := *j.Helm // what is found out about the chart is not the caller's
		j.Helm = &own
	}
	if c := j.Chart(); c != nil && c.Path == "" {
		var err error
		if files, notices, err = b.chart(ctx, c); err != nil {
			b.results[i].Diags = []diag.Diagnostic{unavailable(err)}
			return ctx.Err()
		}
	}
	key := j.Key()
	if known, ok := b.renderer.get(key, func(p string) string { d, _ := b.digest(p); return d }); ok {
		b.results[i] = known
		b.results[i].Diags = append(notices, known.Diags...)
		return nil
	}
	if files == nil {
		files = b.files().all
	}
	data, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("encoding a job: %w", err)
	}
	b.results[i].Diags = notices
	b.tasks = append(b.tasks, task{
		job: worker.Job{Name: j.Name(), Key: b.deadlyWith(key), Input: data, Files: files, Budget: b.renderer.budget},
		key: key, once: j.DrawsOnce(), result: &b.results[i],
	})
	return nil
}

// chart gets a chart of a repository. One that is not locked is resolved, and said
// to be.
func (b *batch) chart(ctx context.Context, c *engine.Chart) (fs.FS, []diag.Diagnostic, error) {
	if b.renderer.charts == nil {
		return nil, nil, fmt.Errorf("%s is in a repository, and nothing here asks repositories", c.Ref)
	}
	var notices []diag.Diagnostic
	if c.Locked == nil {
		e, err := b.renderer.charts.Resolve(ctx, c.Ref)
		if err != nil {
			return nil, nil, err
		}
		c.Locked = &e
		if !c.Ref.IsFixed() {
			notices = []diag.Diagnostic{{
				Code: diag.ChartFloating, Severity: diag.Notice,
				Message: fmt.Sprintf("%s is version %s today", c.Ref, e.Version), Hint: "pin it: waybill update",
			}}
		}
	}
	files, err := b.renderer.charts.Fetch(ctx, *c.Locked)
	return files, notices, err
}

// digest identifies what is at a path of the source, or in a chart that its lock file
// names; false if that is not known.
func (b *batch) digest(p string) (string, bool) {
	if e, _, ok := b.files().entry(p); ok {
		return e.Digest, true
	}
	return b.digests()(p)
}

// run does what is left to do.
func (b *batch) run(ctx context.Context) error {
	if len(b.tasks) == 0 {
		return nil
	}
	jobs := make([]worker.Job, len(b.tasks))
	for i, t := range b.tasks {
		jobs[i] = t.job
	}
	for n, o := range b.renderer.runner.Do(ctx, jobs) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("rendering: %w", err)
		}
		if errors.Is(o.Err, worker.ErrBudget) {
			return o.Err
		}
		t := b.tasks[n]
		result := t.result
		b.bury(t.key, o)
		missed := b.files().missed(o.Reads)
		switch {
		case o.Err != nil && missed != nil:
			result.Diags = append(result.Diags, unavailable(missed))
			continue // it is worth another try
		case o.Err != nil:
			result.Diags = append(result.Diags, diag.Diagnostic{Code: diag.RenderFailed, Severity: diag.Error, Message: o.Err.Error()})
			continue
		}
		reads, known := b.read(t, o)
		r, err := decode(o.Output, reads)
		if err != nil {
			return fmt.Errorf("rendering %s: %w", t.job.Name, err)
		}
		result.Manifests, result.Inputs, result.Diags = r.Manifests, r.Inputs, append(result.Diags, r.Diags...)
		if missed != nil && r.Failed() {
			result.Diags = append(result.Diags, unavailable(missed))
			continue // as above
		}
		if known && t.once {
			b.renderer.recipes.Keep(t.key, reads, r, nil)
		} else if known {
			b.renderer.recipes.Keep(t.key, reads, r, o.Output)
		}
	}
	return nil
}

// inputs identifies what was read of the source; empty for nothing.
func inputs(reads map[string]string) string {
	if len(reads) == 0 {
		return ""
	}
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(reads)) {
		fmt.Fprintf(h, "%q %s\n", p, reads[p])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func unavailable(err error) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.ChartUnavailable, Severity: diag.Error, Message: fmt.Sprintf("its chart cannot be had: %v", err)}
}

// bury notes what a job had read when it killed its worker, or that it no longer does.
func (b *batch) bury(key string, o worker.Result) {
	b.renderer.mu.Lock()
	defer b.renderer.mu.Unlock()
	switch _, died := errors.AsType[*worker.DeathError](o.Err); {
	case died:
		b.renderer.deadly[key] = o.Reads
	case o.Err == nil:
		delete(b.renderer.deadly, key)
	}
}

// deadlyWith identifies a job that killed its worker with what it had read, as that is
// now; empty for a job that did not.
func (b *batch) deadlyWith(key string) string {
	b.renderer.mu.Lock()
	reads, died := b.renderer.deadly[key]
	b.renderer.mu.Unlock()
	if !died {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", key)
	for _, read := range reads {
		d, _ := b.digest(read.Path)
		fmt.Fprintf(h, "%s %s\n", read.Path, d)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// read returns the digests of what a job read; false if one is not known. What was read of
// a fetched chart is settled by the job, which names its digest.
func (b *batch) read(t task, o worker.Result) (reads map[string]string, known bool) {
	reads = map[string]string{}
	if t.job.Files != b.files().all {
		return reads, true
	}
	for _, read := range o.Reads {
		if reads[read.Path], known = b.digest(read.Path); !known {
			return nil, false
		}
	}
	return reads, true
}
