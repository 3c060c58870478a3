package worker

import (
	"context"
	"fmt"
	"sync"
)

// Local does jobs as a Pool does, in this process, one after the other and with no walls
// around them. It is for sources that are trusted, and for tests.
type Local struct {
	Handler Handler

	mu sync.Mutex // handlers may share what is global
}

// Do does jobs and returns what became of each, in order.
func (l *Local) Do(ctx context.Context, jobs []Job) []Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	results := make([]Result, len(jobs))
	for i, j := range jobs {
		if results[i].Err = ctx.Err(); results[i].Err == nil {
			results[i] = l.do(j)
		}
	}
	return results
}

func (l *Local) do(j Job) (res Result) {
	files := newLookup(j.Files, defaultBytes)
	defer func() {
		res.Reads = files.reads
		if p := recover(); p != nil {
			res.Err = fmt.Errorf("rendering %s: the engine panicked: %v", j.Name, p)
		}
		if files.err != nil {
			res.Output, res.Err = nil, fmt.Errorf("rendering %s: %w", j.Name, files.err)
		}
	}()
	res.Output, res.Err = l.Handler(j.Input, newRemote(files.look))
	return res
}
