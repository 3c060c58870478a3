package endpoints_test

import (
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/endpoints"
)

// TestAFailureIsSaidOnce until something else fails, or nothing does.
func TestAFailureIsSaidOnce(t *testing.T) {
	var f endpoints.Failure
	away, full := errors.New("the server is away"), errors.New("the disk is full")
	for i, step := range []struct {
		err  error
		want bool
	}{{nil, false}, {away, true}, {errors.New("the server is away"), false}, {full, true}, {nil, true}, {nil, false}, {full, true}} {
		if got := f.Becomes(step.err); got != step.want {
			t.Errorf("step %d, %v: it is said: %t", i, step.err, got)
		}
	}
}
