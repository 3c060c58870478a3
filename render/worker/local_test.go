package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/waybill-dev/waybill/render/worker"
)

// failing is a file system of which one file cannot be read.
type failing struct {
	fs.FS

	name string
}

func (f failing) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, errors.New("the disk is gone")
	}
	return f.FS.Open(name)
}

// TestJobsInThisProcess give what their handler does, with what it read; a panic, and a file that cannot be had, are errors of the one job.
func TestJobsInThisProcess(t *testing.T) {
	t.Parallel()
	files := failing{fstest.MapFS{
		"a": {Data: []byte("text")}, "dir/b": {Data: []byte("b")}, "dir/c": {Data: []byte("c")},
		"device": {Mode: fs.ModeDevice}, "bad": {Data: []byte("x")},
	}, "bad"}
	for _, tt := range []struct {
		name  string
		does  func(fsys fs.FS) ([]byte, error)
		want  string // output; "error: " before the text of one
		reads []worker.Read
	}{
		{"nothing", func(fs.FS) ([]byte, error) { return []byte("done"), nil }, "done", nil},
		{"a mistake", func(fs.FS) ([]byte, error) { return nil, errors.New("line 3") }, "error: line 3", nil},
		{"a panic", func(fs.FS) ([]byte, error) { panic("no such key") }, "error: rendering a panic: the engine panicked: no such key", nil},
		{"a file, twice", func(fsys fs.FS) ([]byte, error) {
			_, _ = fs.Stat(fsys, "a")
			return fs.ReadFile(fsys, "a")
		}, "text", []worker.Read{{Path: "a", Kind: worker.File}}},
		{"a folder, as a file", func(fsys fs.FS) ([]byte, error) {
			return fs.ReadFile(fsys, "dir")
		}, "error: read dir: is a folder", []worker.Read{
			{Path: "dir", Kind: worker.Folder},
		}},
		{"a file, as a folder", func(fsys fs.FS) ([]byte, error) {
			list, err := fs.ReadDir(fsys, "a")
			return fmt.Append(nil, len(list)), err
		}, "error: readdir a: not a folder", []worker.Read{{Path: "a", Kind: worker.File}}},
		{"a folder", func(fsys fs.FS) ([]byte, error) {
			list, err := fs.ReadDir(fsys, "dir")
			var names []string
			for _, e := range list {
				info, infoErr := e.Info()
				err = errors.Join(err, infoErr)
				names = append(names, fmt.Sprint(e.Name(), " ", e.IsDir(), " ", info.Size()))
			}
			return []byte(strings.Join(names, ", ")), err
		}, "b false 1, c false 1", []worker.Read{
			{Path: "dir", Kind: worker.Folder}, {Path: "dir/b", Kind: worker.File}, {Path: "dir/c", Kind: worker.File},
		}},
		{"what is not there", func(fsys fs.FS) ([]byte, error) {
			return fs.ReadFile(fsys, "none")
		}, "error: read none: file does not exist", []worker.Read{
			{Path: "none", Kind: worker.Absent},
		}},
		{"what is no file", func(fsys fs.FS) ([]byte, error) {
			return fs.ReadFile(fsys, "device")
		}, "error: read device: invalid argument", []worker.Read{
			{Path: "device", Kind: worker.Refused},
		}},
		{"a path that is none", func(fsys fs.FS) ([]byte, error) { return fs.ReadFile(fsys, "../a") }, "error: read ../a: invalid argument", nil},
		{"what is lost", func(fsys fs.FS) ([]byte, error) {
			_, _ = fs.ReadFile(fsys, "bad")
			return []byte("done"), nil
		}, "error: rendering what is lost: reading bad: the disk is gone", []worker.Read{{Path: "bad", Kind: worker.Refused}}},
	} {
		l := &worker.Local{Handler: func(job []byte, fsys fs.FS) ([]byte, error) {
			if string(job) == "next" {
				return []byte("next"), nil
			}
			return tt.does(fsys)
		}}
		all := l.Do(t.Context(), []worker.Job{{Name: tt.name, Input: []byte("job"), Files: files}, {Name: "next", Input: []byte("next")}})
		got := string(all[0].Output)
		if err := all[0].Err; err != nil {
			got = "error: " + err.Error()
		}
		if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.reads, all[0].Reads); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		if diff := cmp.Diff(worker.Result{Output: []byte("next")}, all[1]); diff != "" {
			t.Errorf("%s: the next one: %s", tt.name, diff)
		}
	}
}

// TestJobsInThisProcessAreDoneInTurn: one at a time, whoever asks, and none when the caller is gone.
func TestJobsInThisProcessAreDoneInTurn(t *testing.T) {
	t.Parallel()
	var at, done atomic.Int32
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := &worker.Local{Handler: func(job []byte, _ fs.FS) ([]byte, error) {
		if at.Add(1) > 1 {
			t.Error("two are done at once")
		}
		defer at.Add(-1)
		for range 1000 {
			runtime.Gosched() // others may come
		}
		if done.Add(1); string(job) == "last" {
			cancel()
		}
		return job, nil
	}}
	jobs := []worker.Job{{Input: []byte("one")}, {Input: []byte("two")}}
	ended := make(chan []worker.Result)
	for range 8 {
		go func() { ended <- l.Do(t.Context(), jobs) }()
	}
	for range 8 {
		if diff := cmp.Diff([]worker.Result{{Output: []byte("one")}, {Output: []byte("two")}}, <-ended); diff != "" {
			t.Error(diff)
		}
	}
	all := l.Do(ctx, []worker.Job{{Input: []byte("last")}, {Input: []byte("none")}, {Input: []byte("none")}})
	if all[0].Err != nil || !errors.Is(all[1].Err, context.Canceled) || !errors.Is(all[2].Err, context.Canceled) || done.Load() != 17 {
		t.Errorf("%d are done, and then there are %v", done.Load(), all)
	}
}
