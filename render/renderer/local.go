package renderer

import (
	"context"
	"fmt"
	"io/fs"
	"sync"

	"github.com/waybill-dev/waybill/render/engine"
)

// Local runs jobs in this process, one after the other, with no walls around them. It
// is for sources that are trusted, and for tests.
type Local struct {
	mu sync.Mutex // the engines share what is global in kustomize
}

// Do implements Runner.
func (l *Local) Do(ctx context.Context, tasks []Task) []Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	outcomes := make([]Outcome, len(tasks))
	for i, t := range tasks {
		if outcomes[i].Err = ctx.Err(); outcomes[i].Err == nil {
			outcomes[i] = alone(t)
		}
	}
	return outcomes
}

func alone(t Task) (o Outcome) {
	files := &recorder{files: t.Files, seen: map[string]bool{}}
	defer func() {
		o.Reads = files.paths
		if p := recover(); p != nil {
			o.Err = fmt.Errorf("rendering %s: the engine panicked: %v", t.Name, p)
		}
	}()
	o.Output, o.Err = engine.Run(t.Job, files)
	return o
}

// recorder notes the paths that are asked for.
type recorder struct {
	files fs.FS
	seen  map[string]bool
	paths []string
}

func (r *recorder) note(name string) {
	if !r.seen[name] {
		r.seen[name] = true
		r.paths = append(r.paths, name)
	}
}

// Open implements fs.FS.
func (r *recorder) Open(name string) (fs.File, error) {
	r.note(name)
	return r.files.Open(name) //nolint:wrapcheck // a file system gives its own errors
}

// ReadFile implements fs.ReadFileFS.
func (r *recorder) ReadFile(name string) ([]byte, error) {
	r.note(name)
	return fs.ReadFile(r.files, name) //nolint:wrapcheck // as above
}

// ReadDir implements fs.ReadDirFS.
func (r *recorder) ReadDir(name string) ([]fs.DirEntry, error) {
	r.note(name)
	return fs.ReadDir(r.files, name) //nolint:wrapcheck // as above
}

// Stat implements fs.StatFS.
func (r *recorder) Stat(name string) (fs.FileInfo, error) {
	r.note(name)
	return fs.Stat(r.files, name) //nolint:wrapcheck // as above
}
