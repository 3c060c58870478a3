package worker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrBudget is that of a job for which its Budget has nothing left. It says nothing of the job: with another budget it
// may be done.
var ErrBudget = errors.New("what is rendered takes more than it may together")

// Budget is what several jobs may use together: processor time, and memory, which is that of the child at work and
// what the jobs have given. They are done one after the other, whoever does them.
type Budget struct {
	turn   chan struct{} // who holds its one place has the rest
	cpu    time.Duration // that is left
	memory int64         // that is left
	all    string        // for people
}

// NewBudget returns a budget of so much processor time, which is counted on Linux, and so many bytes.
func NewBudget(cpu time.Duration, memory int64) *Budget {
	return &Budget{turn: make(chan struct{}, 1), cpu: cpu, memory: memory, all: fmt.Sprintf("%v of a processor and %d MiB", cpu, memory>>20)}
}

// begin waits for the turn of a job in a child that may have so many bytes, and says why it may not be done. Nil
// bounds nothing.
func (b *Budget) begin(ctx context.Context, child int64) error {
	if b == nil {
		return nil
	}
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.cpu > 0 && b.memory >= child {
		return nil
	}
	<-b.turn
	return b.spent()
}

// end ends the turn of a job.
func (b *Budget) end() {
	if b != nil {
		<-b.turn
	}
}

func (b *Budget) spent() error { return fmt.Errorf("%w: %s", ErrBudget, b.all) }

// atMost is how much processor time the job may use whose turn it is, and what is wrong with it if it uses more.
func (b *Budget) atMost(limit time.Duration) (time.Duration, error) {
	if b != nil && b.cpu < limit {
		return b.cpu, b.spent()
	}
	return limit, errCPULimit
}

// spend notes what the job used whose turn it is.
func (b *Budget) spend(cpu time.Duration, output int) {
	if b != nil {
		b.cpu -= max(cpu, 0)
		b.memory -= int64(output)
	}
}
