package renderer

import (
	"context"
	"sync"

	"github.com/waybill-dev/waybill/render/worker"
)

// Workers runs tasks in the children of a pool, behind walls. Their handler is
// engine.Run.
type Workers struct {
	Pool *worker.Pool
	// Warn is called once if a child has been missing walls and ran all the same. It
	// may be nil.
	Warn func(missing []worker.Wall)

	once sync.Once
}

// Do implements Runner.
func (w *Workers) Do(ctx context.Context, tasks []Task) []Outcome {
	jobs := make([]worker.Job, len(tasks))
	for i, t := range tasks {
		jobs[i] = worker.Job{Name: t.Name, Key: t.Deadly, Input: t.Job, Files: t.Files}
	}
	outcomes := make([]Outcome, len(tasks))
	for i, r := range w.Pool.Do(ctx, jobs) {
		outcomes[i] = Outcome{Output: r.Output, Err: r.Err}
		for _, read := range r.Reads {
			outcomes[i].Reads = append(outcomes[i].Reads, read.Path)
		}
	}
	if missing := w.Pool.Missing(); len(missing) > 0 && w.Warn != nil {
		w.once.Do(func() { w.Warn(missing) })
	}
	return outcomes
}
