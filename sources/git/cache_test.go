package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestACacheIsForItsOwner: what is fetched may be of a repository that only some may read, so nobody else on the machine reads it.
func TestACacheIsForItsOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache", "one")
	if err := initCache(dir); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folders := 0
	if err := fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		folders++
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if folders < 6 {
		t.Errorf("there are %d folders", folders)
	}
}
