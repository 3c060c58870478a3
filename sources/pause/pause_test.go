package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-dev/waybill/sources/pause"
)

func TestFor(t *testing.T) {
	for _, tt := range []struct {
		name           string
		timeout, pause time.Duration
		want           error
		lasts          time.Duration
	}{
		{"the whole of it", time.Hour, time.Minute, nil, time.Minute},
		{"until its context ends", time.Second, time.Minute, context.DeadlineExceeded, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				begun := time.Now()
				err := pause.For(ctx, tt.pause)
				if lasted := time.Since(begun); !errors.Is(err, tt.want) || lasted != tt.lasts {
					t.Errorf("it waits %s, with the error %v; want %s and %v", lasted, err, tt.lasts, tt.want)
				}
			})
		})
	}
}
