package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/waybill-dev/waybill/sources/memfs"
)

// entry is one line of a folder's listing.
type entry struct {
	Name string
	Mode fs.FileMode // the type only
}

// found is what is at a path. On the wire it is a line of JSON, followed by the
// content if it is a file.
type found struct {
	Kind    Kind
	Entries []entry `json:",omitempty"` // of a folder, sorted by name
	content []byte
}

// encode writes f for the wire.
func (f found) encode() ([]byte, error) {
	line, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encoding a listing: %w", err)
	}
	return slices.Concat(line, []byte("\n"), f.content), nil
}

// decodeFound reads what encode wrote.
func decodeFound(data []byte) (found, error) {
	line, content, _ := bytes.Cut(data, []byte("\n"))
	f := found{content: content}
	if err := json.Unmarshal(line, &f); err != nil {
		return found{}, fmt.Errorf("decoding a listing: %w", err)
	}
	return f, nil
}

// remote is the file system of a job as its handler sees it: each path is asked for
// once.
type remote struct {
	find func(name string) (found, error)

	mu   sync.Mutex
	seen map[string]found
}

func newRemote(find func(name string) (found, error)) *remote {
	return &remote{find: find, seen: map[string]found{}}
}

// asking returns how a child asks its parent what is at a path.
func asking(in io.Reader, out io.Writer) func(name string) (found, error) {
	return func(name string) (found, error) {
		if err := writeFrame(out, kindAsk, []byte(name)); err != nil {
			return found{}, err
		}
		_, data, err := readFrame(in, map[kind]int64{kindFound: maxFrame})
		if err != nil {
			return found{}, err
		}
		return decodeFound(data)
	}
}

// look says what is at a path.
func (r *remote) look(op, name string) (found, error) {
	if !fs.ValidPath(name) {
		return found{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	f, err := r.ask(name)
	switch {
	case err != nil:
	case f.Kind == Absent:
		err = fs.ErrNotExist
	case f.Kind == Refused:
		err = fs.ErrInvalid
	}
	if err != nil {
		return found{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return f, nil
}

func (r *remote) ask(name string) (found, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.seen[name]; ok {
		return f, nil
	}
	f, err := r.find(name)
	if err == nil {
		r.seen[name] = f
	}
	return f, err
}

// Open implements fs.FS.
func (r *remote) Open(name string) (fs.File, error) {
	f, err := r.look("open", name)
	if err != nil {
		return nil, err
	}
	if f.Kind == Folder {
		return memfs.OpenFolder(f.info(name), r.entries(name, f)), nil
	}
	return memfs.OpenFile(f.info(name), f.content), nil
}

// ReadFile implements fs.ReadFileFS.
func (r *remote) ReadFile(name string) ([]byte, error) {
	f, err := r.look("read", name)
	if err == nil && f.Kind != File {
		err = &fs.PathError{Op: "read", Path: name, Err: memfs.ErrFolder}
	}
	return bytes.Clone(f.content), err
}

// ReadDir implements fs.ReadDirFS.
func (r *remote) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := r.look("readdir", name)
	if err == nil && f.Kind != Folder {
		err = &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a folder")}
	}
	return r.entries(name, f), err
}

// Stat implements fs.StatFS.
func (r *remote) Stat(name string) (fs.FileInfo, error) {
	f, err := r.look("stat", name)
	if err != nil {
		return nil, err
	}
	return f.info(name), nil
}

func (r *remote) entries(dir string, f found) []fs.DirEntry {
	var list []fs.DirEntry
	for _, e := range f.Entries {
		list = append(list, dirEntry{entry: e, path: path.Join(dir, e.Name), files: r})
	}
	return list
}

// info describes what is at a path. Times are the zero time, and permissions the same
// for all, so that no output depends on them.
func (f found) info(name string) memfs.Info {
	if f.Kind == Folder {
		return memfs.NewInfo(path.Base(name), 0, fs.ModeDir|0o755)
	}
	return memfs.NewInfo(path.Base(name), int64(len(f.content)), 0o644)
}

// dirEntry is an fs.DirEntry that asks for its size when it must.
type dirEntry struct {
	entry

	path  string
	files *remote
}

func (e dirEntry) Name() string               { return e.entry.Name }
func (e dirEntry) IsDir() bool                { return e.Mode.IsDir() }
func (e dirEntry) Type() fs.FileMode          { return e.Mode.Type() }
func (e dirEntry) Info() (fs.FileInfo, error) { return e.files.Stat(e.path) }
