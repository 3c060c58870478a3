package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Jobs that share a budget have together what one of them may have: neither many small ones nor a large one get more,
// and others are not concerned.
func TestBudget(t *testing.T) {
	const child = 128 << 20 // what options give a child
	within := func(b *Budget, o order) Job {
		j := o.job(nil)
		j.Budget = b
		return j
	}
	echo := func(b *Budget, bytes int) Job { return within(b, order{Do: "echo", Arg: strings.Repeat("x", bytes)}) }
	burn := func(b *Budget) Job { return within(b, order{Do: "spin"}) }
	for _, tt := range []struct {
		name   string
		budget *Budget
		jobs   func(*Budget) []Job
		done   int // jobs, of which those after are refused
	}{
		{"enough of both", NewBudget(time.Minute, child+1<<20), func(b *Budget) []Job { return []Job{echo(b, 9000), echo(b, 9000), echo(b, 9000)} }, 3},
		{"what they give", NewBudget(time.Minute, child+10<<10), func(b *Budget) []Job { return []Job{echo(b, 9000), echo(b, 9000), echo(b, 9000)} }, 2},
		{"no room for a child", NewBudget(time.Minute, child-1), func(b *Budget) []Job { return []Job{echo(b, 1)} }, 0},
		{"the time of one", NewBudget(300*time.Millisecond, child+1<<20), func(b *Budget) []Job { return []Job{echo(b, 1), burn(b), echo(b, 1)} }, 1},
		{"the time of several", NewBudget(1500*time.Millisecond, child+1<<20), func(b *Budget) []Job { return []Job{burn(b), burn(b), echo(b, 1)} }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := pool(t)
			start := time.Now()
			for i, res := range p.Do(t.Context(), tt.jobs(tt.budget)) {
				_, died := errors.AsType[*DeathError](res.Err)
				switch {
				case i < tt.done && res.Err != nil:
					t.Errorf("job %d: %v", i, res.Err)
				case i >= tt.done && !died && (!errors.Is(res.Err, ErrBudget) || !strings.Contains(res.Err.Error(), "of a processor and ")):
					t.Errorf("job %d: %v", i, res.Err)
				}
			}
			if res := p.Do(t.Context(), []Job{echo(nil, 1)}); res[0].Err != nil {
				t.Errorf("another's: %v", res[0].Err)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// Who waits for its turn waits no longer than its caller.
func TestBudgetTakesTurns(t *testing.T) {
	b := NewBudget(time.Minute, 1<<30)
	if err := b.begin(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := b.begin(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("two have the turn: %v", err)
	}
	b.end()
	if err := b.begin(t.Context(), 1); err != nil {
		t.Error(err)
	}
	const room = 1
	spent := NewBudget(time.Minute, room)
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 2 { // one for which nothing is left gives its turn back
		if err := spent.begin(ctx, room+1); !errors.Is(err, ErrBudget) {
			t.Errorf("a job that needs more than is left: %v", err)
		}
	}
}
