package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Parts that do not lead run at once; those that do run while the replica leads, and each is given
// what wakes it.
func TestRunAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said []string
		say := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, what)
		}
		woken := make(chan struct{}, 1)
		part := func(name string, leads bool, wakes <-chan struct{}) runnable {
			return runnable{name: name, leads: leads, wakes: wakes, run: func(ctx context.Context, wakes <-chan struct{}) error {
				say(name)
				select {
				case <-wakes:
					say(name + " is woken")
				case <-ctx.Done():
				}
				<-ctx.Done()
				say(name + " ends")
				return nil
			}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- runAll(ctx, slog.New(slog.DiscardHandler), []runnable{part("poller", false, nil), part("loop", true, woken)},
				func(ctx context.Context, work func(context.Context) error) error {
					time.Sleep(time.Minute)
					say("leads")
					return work(ctx)
				})
		}()
		synctest.Wait()
		wake(woken)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if want := []string{"poller", "leads", "loop", "loop is woken"}; !slices.Equal(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
		cancel()
		if err := <-done; err != nil || !slices.Contains(said, "loop ends") || !slices.Contains(said, "poller ends") {
			t.Errorf("%v, %q", err, said)
		}
	})
}

// A part that fails ends all others, whether it leads or not, and its error is that of all.
func TestAPartThatFailsEndsAll(t *testing.T) {
	broken := errors.New("broken")
	for _, leads := range []bool{true, false} {
		waits := alone(func(ctx context.Context) error { <-ctx.Done(); return nil })
		fails := alone(func(context.Context) error { return broken })
		parts := []runnable{{name: "a", leads: true, run: waits}, {name: "b", run: waits}, {name: "c", leads: leads, run: fails}}
		if err := runAll(t.Context(), slog.New(slog.DiscardHandler), parts, always); !errors.Is(err, broken) {
			t.Errorf("leads %v: %v", leads, err)
		}
	}
}

// What wakes a part waits for it, once, and nobody waits for the part.
func TestWake(t *testing.T) {
	w := newWakes()
	wake(w.pulled)
	wake(w.pulled)
	if len(w.pulled) != 1 || len(w.commented)+len(w.source)+len(w.published) != 0 {
		t.Error("a wake is lost, or is there twice, or is somebody else's")
	}
}
