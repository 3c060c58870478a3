// Package exits is a command for scripts of testscript that tells statuses apart.
package exits

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// With runs a program, which must end with a status, and not because it fell over:
// "exits 1 waybill validate src". Where the status is 0, exec says the same.
//
//nolint:revive // testscript calls it so
func With(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode() // -1: a signal ended it
	}
	if got != want {
		ts.Fatalf("the status is %d, want %d", got, want)
	}
	if strings.Contains(ts.ReadFile("stderr"), "\ngoroutine ") { // a panic ends with 2
		ts.Fatalf("it panicked")
	}
}
