package worker

import (
	"context"
	"sync"
	"time"
)

// cpuInterval is how often the processor time of a job is looked at.
const cpuInterval = 50 * time.Millisecond

// clock is the processor time that a child uses for a job.
type clock struct {
	pid    int
	before time.Duration

	mu   sync.Mutex
	used time.Duration // when it was looked at last
}

func newClock(pid int) *clock { return &clock{pid: pid, before: processorTime(pid)} }

// read looks at the clock. Of a child that is gone it says what was read last.
func (c *clock) read() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = max(c.used, processorTime(c.pid)-c.before)
	return c.used
}

// watch tells when the job has used up a limit.
func (c *clock) watch(ctx context.Context, limit time.Duration, over func()) {
	tick := time.NewTicker(cpuInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if c.read() > limit {
				over()
			}
		}
	}
}
