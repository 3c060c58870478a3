// Package memfs has what is opened of file systems that have their files in memory. Times
// are the zero time, so that no output depends on them.
package memfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrFolder is why a folder cannot be read like a file.
var ErrFolder = errors.New("is a folder")

// Info is a file or a folder, as fs.FileInfo and as fs.DirEntry.
type Info struct {
	name string
	size int64
	mode fs.FileMode
}

// NewInfo describes a file or a folder.
func NewInfo(name string, size int64, mode fs.FileMode) Info { return Info{name, size, mode} }

// Name implements fs.FileInfo, as the methods below do it or fs.DirEntry.
func (i Info) Name() string { return i.name }

// Size is the size in bytes.
func (i Info) Size() int64 { return i.size }

// Mode is the type and the permissions.
func (i Info) Mode() fs.FileMode { return i.mode }

// ModTime is the zero time.
func (Info) ModTime() time.Time { return time.Time{} }

// IsDir reports a folder.
func (i Info) IsDir() bool { return i.mode.IsDir() }

// Sys is nil.
func (Info) Sys() any { return nil }

// Type is the mode without permissions.
func (i Info) Type() fs.FileMode { return i.mode.Type() }

// Info returns itself.
func (i Info) Info() (fs.FileInfo, error) { return i, nil }

// OpenFile opens a file with its content, of which Info may not know the size.
func OpenFile(i Info, data []byte) fs.File {
	i.size = int64(len(data))
	return &file{bytes.NewReader(data), i}
}

type file struct {
	*bytes.Reader

	info Info
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (*file) Close() error                 { return nil }

// OpenFolder opens a folder with its entries.
func OpenFolder(i Info, entries []fs.DirEntry) fs.ReadDirFile { return &folder{i, entries} }

type folder struct {
	info Info
	rest []fs.DirEntry
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (*folder) Close() error                 { return nil }

func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: ErrFolder}
}

// ReadDir returns the next n entries; all that are left if n is not positive.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.rest)
	} else if len(f.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.rest))
	entries := f.rest[:n:n]
	f.rest = f.rest[n:]
	return entries, nil
}
