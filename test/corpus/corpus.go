// Package corpus is where tests find what other people wrote: charts, kustomizations and
// manifests, which are no part of the repository.
package corpus

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the folder of the corpus: beside the checkout, in ../shared/corpus, or where
// WAYBILL_CORPUS says, which has to be there. A test for which there is none is skipped, and that
// is said.
func Dir(tb testing.TB) string {
	tb.Helper()
	named := os.Getenv("WAYBILL_CORPUS")
	dir, err := filepath.Abs(cmp.Or(named, filepath.Join(checkout(tb), "../shared/corpus")))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil { //nolint:gosec // whoever runs the tests names it
		if named != "" {
			tb.Fatalf("WAYBILL_CORPUS names no folder: %v", err)
		}
		fmt.Fprintf(os.Stderr, "SKIPPED: %s, because there are no real manifests at %s; set WAYBILL_CORPUS\n", tb.Name(), dir)
		tb.Skip("SKIPPED: no corpus")
	}
	return dir
}

// checkout returns the folder of go.mod, in or above that of the test.
func checkout(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			tb.Fatal("the test is not run in the folder of its package")
		}
		dir = filepath.Dir(dir)
	}
}
