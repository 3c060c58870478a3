// Package gitdir is the folder of a repository as go-git is to see it.
package gitdir

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
)

// New returns the files of a Git directory.
//
// There is no pack without an index: somebody may be writing one, or was killed at it, and go-git would then find nothing
// at all. Indexes are read through a buffer: go-git asks for the 256 numbers that each begins with one by one, and a
// repository has an index for each publication since it was last packed.
func New(dir string) billy.Filesystem { return folder{osfs.New(dir)} }

type folder struct{ billy.Filesystem }

// ReadDir implements billy.Filesystem.
func (f folder) ReadDir(dir string) ([]os.FileInfo, error) {
	if dir != f.Join("objects", "pack") {
		return f.Filesystem.ReadDir(dir)
	}
	entries, err := os.ReadDir(filepath.Join(f.Root(), dir))
	if err != nil {
		return nil, err
	}
	var packs []os.FileInfo
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ".pack")
		if !ok {
			continue
		}
		_, found := slices.BinarySearchFunc(entries, base+".idx", func(e os.DirEntry, n string) int { return strings.Compare(e.Name(), n) })
		info, err := e.Info()
		if found && err == nil { // an error: it was there a moment ago
			packs = append(packs, info)
		}
	}
	return packs, nil
}

// Open implements billy.Filesystem.
func (f folder) Open(name string) (billy.File, error) {
	file, err := f.Filesystem.Open(name)
	if err != nil || filepath.Ext(name) != ".idx" {
		return file, err
	}
	return &index{File: file, stat: func() (fs.FileInfo, error) { return f.Stat(name) }, r: bufio.NewReader(file)}, nil
}

// index is an open index.
type index struct {
	billy.File
	stat func() (fs.FileInfo, error)
	r    *bufio.Reader
}

// Read implements billy.File.
func (i *index) Read(p []byte) (int, error) { return i.r.Read(p) }

// Seek implements billy.File.
func (i *index) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekCurrent {
		offset -= int64(i.r.Buffered())
	}
	at, err := i.File.Seek(offset, whence)
	i.r.Reset(i.File)
	return at, err
}

// Stat says how long the index is: go-git then refuses one that claims more objects than it has bytes for, before it makes room for them.
func (i *index) Stat() (fs.FileInfo, error) { return i.stat() }
