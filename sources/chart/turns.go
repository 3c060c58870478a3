package chart

import (
	"context"
	"sync"
)

// turns lets one at a time do a thing that has a name.
type turns struct {
	mu   *sync.Mutex
	busy map[string]chan struct{} // closed when its turn is over
}

func newTurns() turns { return turns{mu: new(sync.Mutex), busy: map[string]chan struct{}{}} }

// wait returns when no other does the named thing; done ends the turn.
func (t turns) wait(ctx context.Context, name string) (done func(), err error) {
	for {
		t.mu.Lock()
		other, taken := t.busy[name]
		if !taken {
			mine := make(chan struct{})
			t.busy[name] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.busy, name)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
