package reconciler

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What takes less than two seconds is not said, and what takes long is said ever less often, until it ends.
func TestWhatTakesLongIsSaid(t *testing.T) {
	for took, want := range map[time.Duration]string{time.Second: "", 3 * time.Second: "2s", 7 * time.Second: "2s 6s", 20 * time.Second: "2s 6s 14s"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			end := sayingSlow(slog.New(slog.NewTextHandler(&out, nil)))
			time.Sleep(took)
			end()
			synctest.Wait()
			time.Sleep(time.Minute)
			var said []string
			for line := range strings.SplitSeq(out.String(), "\n") {
				if _, dur, ok := strings.Cut(line, `msg="publishing takes long" dur=`); ok {
					said = append(said, dur)
				}
			}
			if got := strings.Join(said, " "); got != want {
				t.Errorf("in %s it said %q, want %q", took, got, want)
			}
		})
	}
}
