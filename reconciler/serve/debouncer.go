package serve

import (
	"sync"
	"time"
)

// Debouncer wakes somebody at most once in an interval, however often it is asked to: at once, and when the
// interval is over if it was asked meanwhile.
type Debouncer struct {
	wake  func()
	every time.Duration

	mu      sync.Mutex
	resting bool
	again   bool // it was asked meanwhile
}

// NewDebouncer returns a debouncer that calls wake, which does not wait.
func NewDebouncer(every time.Duration, wake func()) *Debouncer {
	return &Debouncer{wake: wake, every: every}
}

// Wake has somebody be woken, and does not wait. Several may call it at once.
func (b *Debouncer) Wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.resting {
		b.again = true
		return
	}
	b.call()
}

// call wakes, and begins an interval.
func (b *Debouncer) call() {
	b.resting, b.again = true, false
	b.wake()
	time.AfterFunc(b.every, b.rest)
}

// rest ends an interval.
func (b *Debouncer) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.resting = false; b.again {
		b.call()
	}
}
