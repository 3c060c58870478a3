// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends, whose error it then returns.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
