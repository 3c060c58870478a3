package poll_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/reconciler/poll"
)

// It looks at once, after a minute, when it is woken half a minute later, and a minute after that. Then it ends, and no error.
func TestEveryLooksAtOnceAfterEachIntervalAndWhenItIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began, wake, ended := time.Now(), make(chan struct{}), make(chan error, 1)
		var looked []string
		go func() {
			ended <- poll.Every(ctx, time.Minute, wake, func() { looked = append(looked, time.Since(began).String()) })
		}()
		time.Sleep(90 * time.Second)
		wake <- struct{}{}
		time.Sleep(75 * time.Second)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if want := []string{"0s", "1m0s", "1m30s", "2m30s"}; !slices.Equal(looked, want) {
			t.Error(fmt.Sprint("it looked after ", looked, ", want ", want))
		}
	})
}
