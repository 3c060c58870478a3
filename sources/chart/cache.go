package chart

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cache keeps archives on disk, each in a file that has its digest for a name. A file
// appears whole, by a rename, and is checked whenever it is read, so that processes may
// share the folder and nothing that happens to it changes a result.
type cache struct {
	root *os.Root
	max  int64            // bytes
	now  func() time.Time // nil: use is not recorded
}

const (
	archiveSuffix = ".tgz"
	partSuffix    = ".part"
	staleAfter    = time.Hour // from which a part belongs to nobody
)

func openCache(dir string, limit int64, now func() time.Time) (*cache, error) {
	if err := os.MkdirAll(filepath.Clean(dir), 0o700); err != nil {
		return nil, fmt.Errorf("making the chart cache: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the chart cache: %w", err)
	}
	if limit <= 0 {
		limit = defaultDir
	}
	return &cache{root: root, max: limit, now: now}, nil
}

// fileOf returns the name of the file for a digest, sha256:<hex>.
func fileOf(digest string) string { return strings.Replace(digest, ":", "-", 1) + archiveSuffix }

// archive returns what is kept under a digest. A file with other bytes is removed.
func (c *cache) archive(digestWanted string) ([]byte, bool) {
	name := fileOf(digestWanted)
	f, err := c.root.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	data, err := readAll(f, maxArchive)
	if err != nil || digest(data) != digestWanted {
		_ = c.root.Remove(name)
		return nil, false
	}
	if c.now != nil {
		t := c.now()
		_ = c.root.Chtimes(name, t, t) // only the order of removal depends on it
	}
	return data, true
}

// keep puts an archive in. What goes wrong costs a download later.
func (c *cache) keep(digest string, archive []byte) {
	name := fileOf(digest)
	if info, err := c.root.Stat(name); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(archive)) {
		return
	}
	part, err := c.write(name, archive)
	if err == nil {
		err = c.root.Rename(part, name)
	}
	if err != nil {
		_ = c.root.Remove(part)
		return
	}
	c.shrink(name)
}

// write puts the bytes into a part of its own, on disk to stay, and returns its name.
func (c *cache) write(name string, data []byte) (string, error) {
	part := name + "." + rand.Text() + partSuffix
	f, err := c.root.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return part, err
	}
	_, err = f.Write(data)
	return part, errors.Join(err, f.Close())
}

// shrink removes the archives that were not used for the longest time until the rest
// fits, but not the one that was just written, and parts that were left behind.
func (c *cache) shrink(written string) {
	newest, err := c.root.Stat(written)
	if err != nil {
		return
	}
	var kept []fs.FileInfo
	var total int64
	for _, info := range c.files() {
		switch {
		case strings.HasSuffix(info.Name(), partSuffix):
			if newest.ModTime().Sub(info.ModTime()) > staleAfter {
				_ = c.root.Remove(info.Name())
			}
		case strings.HasSuffix(info.Name(), archiveSuffix):
			kept = append(kept, info)
			total += info.Size()
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range kept {
		if total <= c.max {
			return
		}
		if info.Name() != written {
			_ = c.root.Remove(info.Name())
			total -= info.Size()
		}
	}
}

// files lists the regular files of the folder that are still there.
func (c *cache) files() []fs.FileInfo {
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return nil
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			infos = append(infos, info)
		}
	}
	return infos
}
