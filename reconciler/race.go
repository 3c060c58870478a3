package reconciler

import (
	"context"
	"fmt"
	"time"

	"github.com/waybill-dev/waybill/sources/git"
)

// How often a publication is planned again after a lost race, and the bounds of the first
// and of every pause before that.
const (
	maxRaces   = 20
	firstPause = 200 * time.Millisecond
	mostPause  = 10 * time.Second
)

// Pauses are what a Reconciler waits by when others write at the same time. The zero value
// waits not at all.
type Pauses struct {
	Sleep  func(context.Context, time.Duration) error // until then, or until the context ends
	Random func() float64                             // in [0, 1)
}

// afterRace waits after the n-th lost race in a row; an error says that it is not worth
// while to go on.
func (p Pauses) afterRace(ctx context.Context, n int, race *git.RaceError) error {
	if n >= maxRaces {
		return fmt.Errorf("giving up after %d lost races: other writers keep moving the branches; run it again, or let one job publish at a time: %w", n, race)
	}
	if p.Sleep == nil {
		return nil
	}
	return p.Sleep(ctx, pause(n, p.Random()))
}

// pause is how long to wait after n lost races in a row: by chance, so that those who lost
// to each other do not meet again, and up to a bound that doubles each time.
func pause(n int, random float64) time.Duration {
	bound := firstPause
	for ; n > 1 && bound < mostPause; n-- {
		bound *= 2
	}
	return time.Duration(random * float64(min(bound, mostPause)))
}
