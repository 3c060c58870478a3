package serve

import (
	"sync"
	"time"
)

// Bell wakes somebody at most once in an interval, however often it is rung: at once, and when the
// interval is over if it was rung meanwhile.
type Bell struct {
	wake  func()
	every time.Duration

	mu      sync.Mutex
	resting bool
	again   bool // it was rung meanwhile
}

// NewBell returns a bell that calls wake, which does not wait.
func NewBell(every time.Duration, wake func()) *Bell { return &Bell{wake: wake, every: every} }

// Ring rings the bell, and does not wait. Several may ring at once.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.resting {
		b.again = true
		return
	}
	b.ring()
}

// ring wakes, and begins an interval.
func (b *Bell) ring() {
	b.resting, b.again = true, false
	b.wake()
	time.AfterFunc(b.every, b.rest)
}

// rest ends an interval.
func (b *Bell) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.resting = false; b.again {
		b.ring()
	}
}
