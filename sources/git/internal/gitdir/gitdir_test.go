package gitdir_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-dev/waybill/sources/git/internal/gitdir"
)

// TestAnIndexIsReadLikeAFile: through the buffer the same bytes come as from the file, after every way of going elsewhere in it.
func TestAnIndexIsReadLikeAFile(t *testing.T) {
	dir := t.TempDir()
	content := make([]byte, 300_000)
	for i := range content {
		content[i] = byte(i * 7 / 5)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.idx"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := gitdir.New(dir).Open("a.idx")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	at := int64(0)
	for _, step := range []struct {
		offset int64
		whence int
		read   int
	}{{0, io.SeekStart, 4}, {0, io.SeekCurrent, 1000}, {-8, io.SeekCurrent, 8}, {100, io.SeekCurrent, 100_000}, {-40, io.SeekEnd, 40}, {5, io.SeekStart, 70_000}} {
		switch step.whence {
		case io.SeekStart:
			at = step.offset
		case io.SeekCurrent:
			at += step.offset
		default:
			at = int64(len(content)) + step.offset
		}
		if got, err := f.Seek(step.offset, step.whence); got != at || err != nil {
			t.Fatalf("%+v: it is at %d, want %d: %v", step, got, at, err)
		}
		got := make([]byte, step.read)
		if _, err := io.ReadFull(f, got); err != nil || !bytes.Equal(got, content[at:at+int64(step.read)]) {
			t.Fatalf("%+v: other bytes: %v", step, err)
		}
		at += int64(step.read)
	}
	part := make([]byte, 10)
	if _, err := f.ReadAt(part, 99); err != nil || !bytes.Equal(part, content[99:109]) {
		t.Errorf("at 99 are %v: %v", part, err)
	}
	known, ok := f.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		t.Fatal("its length is not known")
	}
	if info, err := known.Stat(); err != nil || info.Size() != int64(len(content)) {
		t.Errorf("its length is %v: %v", info, err)
	}
}

// A pack without an index is not listed, wherever else there is one; other folders are listed whole, and one that is not there is an error.
func TestAPackThatIsNotWholeIsNotThere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"objects/pack/pack-b.pack", "objects/pack/pack-b.idx", "objects/pack/pack-a.pack", "objects/pack/pack-c.idx", "objects/pack/pack-d.pack", "objects/pack/pack-d.idx",
		"objects/pack/pack-d.keep", "objects/pack/pack-e", "objects/pack/pack-e.idx", "objects/info/pack-a.pack", "pack/pack-a.pack", "HEAD.idx",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := gitdir.New(dir)
	for folder, want := range map[string]string{
		"objects/pack": "pack-b.pack pack-d.pack", "objects/info": "pack-a.pack", "pack": "pack-a.pack", "": "HEAD.idx objects pack",
	} {
		var names []string
		all, err := f.ReadDir(folder)
		for _, info := range all {
			names = append(names, info.Name())
		}
		if is := strings.Join(names, " "); err != nil || is != want {
			t.Errorf("in %q are %s, want %s (%v)", folder, is, want, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "objects", "pack")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadDir("objects/pack"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a folder that is gone it says %v", err)
	}
	if file, err := f.Open("gone.idx"); !errors.Is(err, fs.ErrNotExist) || file != nil {
		t.Errorf("of an index that is gone it says %v", err)
	}
	other, err := f.Open("objects/info/pack-a.pack")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if _, isBuffered := other.(interface{ Stat() (os.FileInfo, error) }); isBuffered {
		t.Error("what is no index is read as one")
	}
}
