package replicas

import (
	"context"
	"errors"
	"sync"
)

// Leadership is work that begins when a replica gets the Lease of an election, and ends when another
// one is known to have it. That the Lease cannot be renewed does not end it: while the API server
// does not answer nobody else can get the Lease either. When it answers again, the Lease says who
// goes on; until both have seen that, two may work.
type Leadership struct {
	// Lost is told when the Lease cannot be renewed; nil: nobody is.
	Lost func()

	work func(context.Context) error

	mu    sync.Mutex
	stop  context.CancelFunc
	ended chan error // gets what it ended with; nil: it does not run
	sure  bool       // the replica has the Lease
	left  bool       // the work is to end
}

// Run works whenever the election has it so, until ctx ends or the work fails.
func (t *Leadership) Run(ctx context.Context, e Election, work func(context.Context) error) error {
	t.work = work
	other := e.Other
	e.Other = func(replica string) {
		if replica == "" { // it was given back
			return
		}
		if other != nil {
			other(replica)
		}
		t.Leave()
	}
	err := e.Run(ctx, func(lead context.Context) error { return t.term(ctx, lead) })
	return errors.Join(err, t.wait())
}

// Leave ends the work, and does not wait for its end: another replica works.
func (t *Leadership) Leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != nil {
		t.left = true
		t.stop()
	}
}

// Holds reports whether the replica has the Lease.
func (t *Leadership) Holds() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sure
}

// term works while the replica leads, which is until lead ends. The work goes on after that, unless
// it ended, or ctx did.
func (t *Leadership) term(ctx, lead context.Context) (err error) {
	ended := t.begin(ctx)
	select {
	case err = <-ended:
	case <-lead.Done():
		if ctx.Err() == nil {
			t.lose()
			return nil
		}
		err = <-ended
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop()
	t.ended, t.sure = nil, false
	return err
}

// begin begins, unless the work goes on from a term before. It returns what gets the end.
func (t *Leadership) begin(ctx context.Context) chan error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sure = true
	if t.left && t.ended != nil {
		if err := <-t.ended; err != nil {
			t.ended <- err // the term that begins ends with it
		} else {
			t.ended = nil
		}
	}
	t.left = false
	if t.ended == nil {
		ended := make(chan error, 1)
		ctx, t.stop = context.WithCancel(ctx)
		t.ended = ended
		go func() { ended <- t.work(ctx) }()
	}
	return t.ended
}

func (t *Leadership) lose() {
	t.mu.Lock()
	goesOn := !t.left
	t.sure = false
	t.mu.Unlock()
	if goesOn && t.Lost != nil {
		t.Lost()
	}
}

// wait waits for the end of what goes on.
func (t *Leadership) wait() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == nil {
		return nil
	}
	t.stop()
	err := <-t.ended
	t.ended = nil
	return err
}
