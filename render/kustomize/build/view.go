package build

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// errReadOnly answers whatever would write.
var errReadOnly = errors.New("the source is read-only")

// view is what kustomize sees: the files of fsys below "/", with those of over in
// front of them. It cannot be written to through kustomize's interface.
type view struct {
	fsys fs.FS
	over map[string][]byte // by path inside fsys
}

var _ filesys.FileSystem = (*view)(nil)

// put lays data in front of whatever name holds. It reports false where other data
// was put there before.
func (v *view) put(name string, data []byte) bool {
	if old, ok := v.over[name]; ok {
		return bytes.Equal(old, data)
	}
	v.over[name] = data
	return true
}

// inside returns the path inside fsys of a path that kustomize uses.
func inside(p string) string {
	if p = strings.TrimPrefix(path.Clean("/"+p), "/"); p == "" {
		return "."
	}
	return p
}

// kindOf tells a file from a folder. What is neither is an error.
func (v *view) kindOf(name string) (isDir bool, err error) {
	if _, ok := v.over[name]; ok {
		return false, nil
	}
	info, err := fs.Stat(v.fsys, name)
	switch {
	case err != nil:
		return false, err
	case info.IsDir():
		return true, nil
	case info.Mode().IsRegular():
		return false, nil
	default:
		return false, errSpecial
	}
}

func (v *view) isFile(name string) bool {
	isDir, err := v.kindOf(name)
	return err == nil && !isDir
}

// ReadFile reads a file.
func (v *view) ReadFile(p string) ([]byte, error) {
	if data, ok := v.over[inside(p)]; ok {
		return bytes.Clone(data), nil
	}
	return fs.ReadFile(v.fsys, inside(p))
}

// IsDir reports whether p is a folder.
func (v *view) IsDir(p string) bool {
	isDir, err := v.kindOf(inside(p))
	return err == nil && isDir
}

// Exists reports whether p is a file or a folder.
func (v *view) Exists(p string) bool {
	_, err := v.kindOf(inside(p))
	return err == nil
}

// CleanedAbs splits an existing path into its folder and file; a folder has no file.
func (v *view) CleanedAbs(p string) (filesys.ConfirmedDir, string, error) {
	clean := path.Clean("/" + p)
	isDir, err := v.kindOf(inside(p))
	switch {
	case err != nil:
		return "", "", err
	case isDir:
		return filesys.ConfirmedDir(clean), "", nil
	default:
		return filesys.ConfirmedDir(path.Dir(clean)), path.Base(clean), nil
	}
}

// The rest of the interface is for commands that edit kustomizations; a build asks
// for none of it.

// Create refuses to make a file.
func (*view) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir refuses to make a folder.
func (*view) Mkdir(string) error { return errReadOnly }

// MkdirAll refuses to make folders.
func (*view) MkdirAll(string) error { return errReadOnly }

// RemoveAll refuses to remove anything.
func (*view) RemoveAll(string) error { return errReadOnly }

// WriteFile refuses to write.
func (*view) WriteFile(string, []byte) error { return errReadOnly }

// Open refuses to open a file for reading and writing.
func (*view) Open(string) (filesys.File, error) { return nil, errReadOnly }

// ReadDir refuses to list a folder.
func (*view) ReadDir(string) ([]string, error) { return nil, errReadOnly }

// Glob matches nothing.
func (*view) Glob(string) ([]string, error) { return nil, errReadOnly }

// Walk refuses to walk.
func (*view) Walk(string, filepath.WalkFunc) error { return errReadOnly }
