package private

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAKeyIsReadWhereItIsPrivate: by its owner alone, a file, and outside of the source.
func TestAKeyIsReadWhereItIsPrivate(t *testing.T) {
	dir, source := t.TempDir(), t.TempDir()
	key := filepath.Join(dir, "key")
	for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o640: "others than its owner", 0o604: "others than its owner"} {
		if err := os.WriteFile(key, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		text, err := Read("key", key)
		if want == "" && (err != nil || string(text) != "secret") || want != "" && (err == nil || !strings.Contains(err.Error(), want) || text != nil) {
			t.Errorf("%o: %q, %v", mode, text, err)
		}
		if err := os.Remove(key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read("key", dir); err == nil {
		t.Error("a folder is read")
	}
	for _, file := range []string{filepath.Join(dir, "key"), filepath.Join(source, "key")} {
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Outside("key", filepath.Join(dir, "key"), source); err != nil {
		t.Errorf("a key elsewhere: %v", err)
	}
	link, linked := filepath.Join(dir, "link"), filepath.Join(dir, "source")
	for at, to := range map[string]string{link: filepath.Join(source, "key"), linked: source} {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ file, source string }{
		{filepath.Join(source, "key"), source},
		{link, source}, // by a link that leads there
		{filepath.Join(linked, "key"), source},
		{filepath.Join(source, "key"), linked},
	} {
		if err := Outside("key", tt.file, tt.source); err == nil || !strings.Contains(err.Error(), "among the files of the source") {
			t.Errorf("%s of the source %s: %v", tt.file, tt.source, err)
		}
	}
}
