package main

import (
	"fmt"

	"github.com/waybill-dev/waybill/reconciler/health"
)

// waiting is the value of --wait: what is waited for; empty for nothing.
type waiting string

const (
	waitHealthy   = "healthy"
	waitSuspended = "healthy,suspended"
)

// Set implements pflag.Value.
func (w *waiting) Set(s string) error {
	switch s {
	case "true":
		s = waitHealthy
	case "false":
		s = ""
	case waitHealthy, waitSuspended:
	default:
		return fmt.Errorf("want %s or %s", waitHealthy, waitSuspended)
	}
	*w = waiting(s)
	return nil
}

// String implements pflag.Value.
func (w *waiting) String() string { return string(*w) }

// Type implements pflag.Value.
func (*waiting) Type() string { return "states" }

// accepted are the reasons with which an object need not be healthy.
func (w *waiting) accepted() []string {
	if *w == waitSuspended {
		return []string{health.Suspended}
	}
	return nil
}
