package reconciler

import (
	"log/slog"
	"time"
)

// slowAfter is how long publishing takes before the log says that it goes on; the log says it again after twice the time.
const slowAfter = 2 * time.Second

// sayingSlow has the log say that publishing takes long, until end is called.
func sayingSlow(log *slog.Logger) (end func()) {
	done := make(chan struct{})
	go func() {
		var took time.Duration
		for wait := slowAfter; ; wait *= 2 {
			timer := time.NewTimer(wait)
			select {
			case <-done:
				timer.Stop()
				return
			case <-timer.C:
				took += wait
				log.Info("publishing takes long", "dur", took)
			}
		}
	}()
	return func() { close(done) }
}
