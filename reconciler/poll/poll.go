// Package poll looks again and again at what does not say by itself that it changed.
package poll

import (
	"context"
	"time"
)

// Every looks until ctx ends: at once, after each interval, and when it is woken.
func Every(ctx context.Context, interval time.Duration, wake <-chan struct{}, look func()) error {
	for {
		look()
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}
