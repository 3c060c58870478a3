// Package program builds waybill, for the tests that run it as users do.
package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/test/peers"
)

// Tests are the tests of a package that run the program. They know it as Path.
type Tests struct {
	M    *testing.M
	Path *string
}

// Run builds the program, runs the tests and removes it.
func (t Tests) Run() int {
	dir, err := os.MkdirTemp("", "waybill-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		*t.Path, err = Link(context.Background(), dir) //nolint:forbidigo // no test runs yet that would have one
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return t.M.Run()
}

// Build builds the program for one test.
func Build(tb testing.TB) string {
	tb.Helper()
	path, err := Link(tb.Context(), tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// Link puts the program into a folder, and returns its path. It is linked once for each state of the
// code: what was linked last stays in bin/test of the checkout, where go finds that it is up to date.
func Link(ctx context.Context, dir string) (string, error) {
	kept, err := folder(ctx)
	if err != nil {
		return "", err
	}
	shared := filepath.Join(kept, "waybill")
	unlock, err := peers.Lock(shared + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-w", "-o", shared, pkg) //nolint:gosec // a folder of the tests
	cmd.Env = append(os.Environ(), "GOTMPDIR="+kept)                                 // go moves it to its place, so that older links stay whole
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building waybill: %w\n%s", err, out)
	}
	path := filepath.Join(dir, "waybill")
	if os.Link(shared, path) == nil {
		return path, nil
	}
	data, err := os.ReadFile(shared) //nolint:gosec // the folder is on another file system
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, data, mode) //nolint:gosec // it is to be run
}

const (
	pkg              = "github.com/waybill-dev/waybill/cmd/waybill"
	mode os.FileMode = 0o700
)

// folder returns where the program of this checkout is kept.
func folder(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "bin", "test")
	return dir, os.MkdirAll(dir, mode)
}
