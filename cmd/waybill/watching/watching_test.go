package watching

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWhatIsAnotherDirectory: a file that comes, goes, or has another content or mode; and of what Git keeps there, what HEAD was.
func TestWhatIsAnotherDirectory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func() [32]byte {
		t.Helper()
		sum, err := Fingerprint(dir)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	write("apps/a.yaml", "a: b\n")
	write(".git/index", "1")
	write(".git/logs/HEAD", "1\n")
	for _, step := range []struct {
		name string
		do   func()
		want bool // it is another one
	}{
		{"nothing", func() {}, false},
		{"a file that is new", func() { write("apps/b.yaml", "a: b\n") }, true},
		{"a file that is longer", func() { write("apps/a.yaml", "a: bc\n") }, true},
		{"a file that is gone", func() { _ = os.Remove(filepath.Join(dir, "apps/b.yaml")) }, true},
		{"another mode", func() { _ = os.Chmod(filepath.Join(dir, "apps/a.yaml"), 0o700) }, true},
		{"another time", func() { _ = os.Chtimes(filepath.Join(dir, "apps/a.yaml"), time.Unix(1, 0), time.Unix(1, 0)) }, true},
		{"Git's index", func() { write(".git/index", "22") }, false},
		{"a commit", func() { write(".git/logs/HEAD", "1\n2\n") }, true},
	} {
		before := is()
		step.do()
		if other := is() != before; other != step.want {
			t.Errorf("%s: it is another one: %t", step.name, other)
		}
	}
	if _, err := Fingerprint(filepath.Join(dir, "apps", "a.yaml", "x")); err == nil {
		t.Error("what is below a file has a fingerprint")
	}
	seen := is()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := Next(ctx, dir, [32]byte{}); got != [32]byte{} || err != nil {
		t.Errorf("who is cut off sees %x, %v", got, err)
	}
	if got, err := Next(t.Context(), dir, [32]byte{}); got != seen || err != nil {
		t.Errorf("what changed is %x, %v; want %x", got, err, seen)
	}
}
