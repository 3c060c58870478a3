// Package corpus is where tests find what other people wrote: charts, kustomizations and
// manifests, which are no part of the repository.
package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the folder of the corpus: beside the checkout, in ../shared/corpus, or where
// WAYBILL_CORPUS says. A test for which there is none is skipped, and that is said.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("WAYBILL_CORPUS")
	if dir == "" {
		dir = "../../../shared/corpus"
	}
	if _, err := os.Stat(dir); err != nil { //nolint:gosec // whoever runs the tests names it
		fmt.Fprintf(os.Stderr, "SKIPPED: %s, because there are no real manifests at %s; set WAYBILL_CORPUS\n", tb.Name(), dir)
		tb.Skip("SKIPPED: no corpus")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}
