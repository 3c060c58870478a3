package memfs_test

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/waybill-dev/waybill/sources/memfs"
)

func TestAFolderIsListedInParts(t *testing.T) {
	entry := memfs.NewInfo("a", 1, 0o444)
	f := memfs.OpenFolder(memfs.NewInfo("d", 0, fs.ModeDir|0o555), []fs.DirEntry{entry, entry, entry})
	for i, want := range []int{2, 1} {
		if got, err := f.ReadDir(2); len(got) != want || err != nil {
			t.Errorf("part %d has %d entries, %v; want %d", i, len(got), err, want)
		}
	}
	if _, err := f.ReadDir(2); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last part: %v", err)
	}
	if rest, err := f.ReadDir(-1); len(rest) > 0 || err != nil {
		t.Errorf("all of nothing: %v, %v", rest, err)
	}
	if _, err := f.Read(nil); !errors.Is(err, memfs.ErrFolder) {
		t.Errorf("reading a folder like a file: %v", err)
	}
}

func TestAFileKnowsItsSizeOnceItIsOpened(t *testing.T) {
	f := memfs.OpenFile(memfs.NewInfo("f", 0, 0o444), []byte("text"))
	info, err := f.Stat()
	if err != nil || info.Size() != 4 || info.IsDir() || !info.ModTime().IsZero() {
		t.Errorf("it is %v, %v", info, err)
	}
	if data, err := io.ReadAll(f); string(data) != "text" || err != nil {
		t.Errorf("read %q, %v", data, err)
	}
}
