package gitdir_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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
