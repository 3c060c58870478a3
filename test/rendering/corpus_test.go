package rendering

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill-dev/waybill/test/corpus"
)

// folders lists the folders of the corpus that hold a file of one of the names.
func folders(t *testing.T, names ...string) []string {
	t.Helper()
	root := corpus.Dir(t)
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
