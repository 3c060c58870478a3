package sources

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources/memfs"
)

// ErrSpecial is the reason why a symbolic link or a submodule cannot be opened:
// nothing here follows a link out of what was read.
var ErrSpecial = errors.New("a symbolic link or a submodule is not followed")

// ErrUnreadable is the reason why a file that is listed as Unreadable cannot be opened.
var ErrUnreadable = errors.New("it cannot be read")

// FS returns the files of a snapshot as a file system. It implements fs.ReadFileFS,
// fs.ReadDirFS and fs.StatFS. A symbolic link or a submodule is listed with its
// type and cannot be opened: the error is ErrSpecial. So is what is unreadable, as an
// irregular file; the error is ErrUnreadable. It is safe for concurrent use.
func FS(s Snapshot) fs.FS {
	t := newFileSystem(s.ReadFile)
	for _, f := range s.Files() {
		t.add(f)
	}
	return t.sorted()
}

// Tree returns a file system of the given files, by slash-separated paths. A path
// that is not valid (see fs.ValidPath) is left out.
func Tree(files map[string][]byte) fs.FS {
	t := newFileSystem(func(p string) ([]byte, error) { return bytes.Clone(files[p]), nil })
	for p, data := range files {
		if fs.ValidPath(p) && p != "." {
			t.add(File{Path: p, Size: int64(len(data))})
		}
	}
	return t.sorted()
}

// Arranged returns a file system in which files of another stand at other paths: the
// one at the path to is read from arrangement[to]. Paths that are not valid are left
// out.
func Arranged(from fs.FS, arrangement map[string]string) fs.FS {
	t := newFileSystem(func(p string) ([]byte, error) { return fs.ReadFile(from, arrangement[p]) })
	for to := range arrangement {
		if fs.ValidPath(to) && to != "." {
			t.add(File{Path: to})
		}
	}
	return t.sorted()
}

// Mounted returns a file system that is made of others: at says which of them has a path,
// and by which path.
func Mounted(at func(name string) (fs.FS, string, error)) fs.FS { return &mounted{at} }

type mounted struct {
	at func(name string) (fs.FS, string, error)
}

// Open implements fs.FS.
func (m *mounted) Open(name string) (fs.File, error) {
	files, name, err := m.at(name)
	if err != nil {
		return nil, err
	}
	return files.Open(name)
}

// ReadFile implements fs.ReadFileFS.
func (m *mounted) ReadFile(name string) ([]byte, error) {
	files, name, err := m.at(name)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(files, name)
}

// ReadDir implements fs.ReadDirFS.
func (m *mounted) ReadDir(name string) ([]fs.DirEntry, error) {
	files, name, err := m.at(name)
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(files, name)
}

// Stat implements fs.StatFS.
func (m *mounted) Stat(name string) (fs.FileInfo, error) {
	files, name, err := m.at(name)
	if err != nil {
		return nil, err
	}
	return fs.Stat(files, name)
}

// fileSystem is an index of files and of the folders they imply.
type fileSystem struct {
	read  func(path string) ([]byte, error)
	nodes map[string]memfs.Info
	dirs  map[string][]fs.DirEntry
}

func newFileSystem(read func(string) ([]byte, error)) *fileSystem {
	root := memfs.NewInfo(".", 0, fs.ModeDir|0o555)
	return &fileSystem{read: read, nodes: map[string]memfs.Info{".": root}, dirs: map[string][]fs.DirEntry{".": nil}}
}

func (t *fileSystem) add(f File) {
	kind := fs.FileMode(0)
	switch f.Kind {
	case Symlink, Submodule:
		kind = fs.ModeSymlink
	case Unreadable:
		kind = fs.ModeIrregular
	case Regular:
	}
	t.put(f.Path, memfs.NewInfo(path.Base(f.Path), f.Size, kind|0o444))
}

// put adds a node, and the folders above it.
func (t *fileSystem) put(p string, i memfs.Info) {
	if _, ok := t.nodes[p]; ok {
		return
	}
	t.nodes[p] = i
	dir := path.Dir(p)
	if _, ok := t.nodes[dir]; !ok {
		t.put(dir, memfs.NewInfo(path.Base(dir), 0, fs.ModeDir|0o555))
	}
	t.dirs[dir] = append(t.dirs[dir], i)
}

func (t *fileSystem) sorted() *fileSystem {
	for _, entries := range t.dirs {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t
}

func (t *fileSystem) node(op, name string) (memfs.Info, error) {
	if !fs.ValidPath(name) {
		return memfs.Info{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	i, ok := t.nodes[name]
	if !ok {
		return memfs.Info{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return i, nil
}

// Stat describes a file, a folder or a link.
func (t *fileSystem) Stat(name string) (fs.FileInfo, error) {
	i, err := t.node("stat", name)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// ReadFile returns the content of a regular file.
func (t *fileSystem) ReadFile(name string) ([]byte, error) {
	i, err := t.node("open", name)
	switch {
	case err != nil:
		return nil, err
	case i.IsDir():
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
	case i.Mode()&fs.ModeIrregular != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrUnreadable}
	case !i.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrSpecial}
	}
	data, err := t.read(name)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// ReadDir lists a folder in the order of names.
func (t *fileSystem) ReadDir(name string) ([]fs.DirEntry, error) {
	i, err := t.node("open", name)
	if err != nil {
		return nil, err
	}
	if !i.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	return slices.Clone(t.dirs[name]), nil
}

// Open opens a file or a folder for reading.
func (t *fileSystem) Open(name string) (fs.File, error) {
	i, err := t.node("open", name)
	if err != nil {
		return nil, err
	}
	if i.IsDir() {
		return memfs.OpenFolder(i, t.dirs[name]), nil
	}
	data, err := t.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return memfs.OpenFile(i, data), nil
}
