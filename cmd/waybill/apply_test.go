package main

import (
	"errors"
	"testing"

	"github.com/waybill-dev/waybill/reconciler/applier"
	"github.com/waybill-dev/waybill/reconciler/apply"
)

// TestVerdictOfApply: one cluster that is not as its branch is enough, however many are, and an error weighs more.
func TestVerdictOfApply(t *testing.T) {
	well, held, failed := applier.Result{}, applier.Result{Report: apply.Report{Plan: apply.Plan{Hold: &apply.Hold{}}}}, applier.Result{Err: errors.New("away")}
	for _, tt := range []struct {
		name string
		apps []applier.Result
		want int
	}{
		{"none", nil, 0},
		{"all are well", []applier.Result{well, well}, 0},
		{"one is held", []applier.Result{well, held}, 1},
		{"all are held", []applier.Result{held, held}, 1},
		{"one did not come to its end", []applier.Result{well, held, failed}, 2},
	} {
		got, err := 0, verdict(tt.apps)
		if exit, is := errors.AsType[*exitError](err); is {
			got = exit.code
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got != tt.want {
			t.Errorf("%s: it ends with %d, want %d", tt.name, got, tt.want)
		}
	}
}
