package worker

import (
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
)

// joined returns the child's view of files, answered by the parent's side in this
// process.
func joined(t *testing.T, files fs.FS) fs.FS {
	t.Helper()
	asks, ask := io.Pipe()
	answer, answers := io.Pipe()
	t.Cleanup(func() { ask.CloseWithError(io.EOF) })
	go func() {
		l := newLookup(files, 1<<20)
		for {
			_, name, err := readFrame(asks, map[kind]int64{kindAsk: maxPath})
			if err != nil {
				return
			}
			data, err := l.answer(string(name))
			if err == nil {
				err = writeFrame(answers, kindFound, data)
			}
			if err != nil {
				answers.CloseWithError(err)
				return
			}
		}
	}()
	return newRemote(asking(answer, ask))
}

func TestRemoteIsAFileSystem(t *testing.T) {
	files := fstest.MapFS{
		"a":           {Data: []byte("a")},
		"empty":       {},
		"dir/b":       {Data: make([]byte, 100<<10)},
		"dir/sub/c.d": {Data: []byte("with\nlines\n")},
	}
	if err := fstest.TestFS(joined(t, files), "a", "empty", "dir/b", "dir/sub/c.d"); err != nil {
		t.Error(err)
	}
}

func TestContentIsNotShared(t *testing.T) {
	fsys := joined(t, fstest.MapFS{"a": {Data: []byte("a")}})
	for range 2 {
		data, err := fs.ReadFile(fsys, "a")
		if err != nil || string(data) != "a" {
			t.Fatalf("%q, %v", data, err)
		}
		data[0] = 'x'
	}
}

func TestWhatCannotBeReadIsRefused(t *testing.T) {
	_, err := fs.ReadFile(joined(t, broken{fstest.MapFS{}, "b", errors.New("the disk is gone")}), "b")
	if !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
