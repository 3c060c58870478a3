package rendering

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// folders lists the folders of the corpus that hold a file of one of the names.
func folders(t *testing.T, names ...string) []string {
	t.Helper()
	root := corpus(t)
	var all []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if slices.Contains(names, filepath.Base(path)) {
			all = append(all, filepath.Dir(path))
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("found no %s in %s: %v", names, root, err)
	}
	return all
}

func corpus(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("WAYBILL_CORPUS")
	if dir == "" {
		dir = "../../../shared/corpus"
	}
	if _, err := os.Stat(dir); err != nil {
		fmt.Fprintf(os.Stderr, "SKIPPED: %s, because there are no real manifests at %s; set WAYBILL_CORPUS\n", tb.Name(), dir)
		tb.Skip("SKIPPED: no corpus")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}
