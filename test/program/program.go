// Package program builds waybill, for the tests that run it as users do.
package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
		*t.Path, err = build(context.Background(), dir) //nolint:forbidigo // no test runs yet that would have one
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return t.M.Run()
}

// Build builds the program for one test.
func Build(t *testing.T) string {
	t.Helper()
	path, err := build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "waybill")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/waybill-dev/waybill/cmd/waybill").CombinedOutput() //nolint:gosec // a folder of the tests
	if err != nil {
		return "", fmt.Errorf("building waybill: %w\n%s", err, out)
	}
	return path, nil
}
