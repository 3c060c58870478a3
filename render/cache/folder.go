package cache

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Folder is a folder on disk that holds values by key, as long as they are together no
// more than so many bytes: what was written longest ago goes. Losing it, or any of it, costs
// time only, so that nothing it does fails: a value that cannot be read is not there. Its
// files are for their owner alone, since values may hold secrets. It is safe for
// concurrent use, by several processes, too.
type Folder struct {
	dir  string
	most int64

	mu   sync.Mutex
	used int64 // bytes, as far as this process knows; negative before it looked
}

// OpenFolder returns the cache in a folder, which it makes, of at most so many bytes.
func OpenFolder(dir string, most int64) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the cache: %w", err)
	}
	return &Folder{dir: dir, most: most, used: -1}, nil
}

// file is where the value of a key is. Keys may be anything.
func (f *Folder) file(key string) string {
	return filepath.Join(f.dir, hex.EncodeToString([]byte(key))+".json")
}

// Get returns the value of a key.
func (f *Folder) Get(key string) ([]byte, bool) {
	data, err := os.ReadFile(f.file(key))
	return data, err == nil
}

// Put remembers a value from now on, and makes room for it. Now is the time.
func (f *Folder) Put(key string, data []byte, now time.Time) {
	if int64(len(data)) > f.most/2 {
		return // it would push out everything else
	}
	temp, err := os.CreateTemp(f.dir, ".new-*")
	if err != nil {
		return
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Chtimes(temp.Name(), now, now)
	}
	if err == nil {
		err = os.Rename(temp.Name(), f.file(key))
	}
	if err != nil {
		os.Remove(temp.Name())
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.used >= 0 {
		f.used += int64(len(data))
	}
	if f.used < 0 || f.used > f.most {
		f.used = f.prune()
	}
}

// prune removes the oldest values until the rest leave a tenth of the room, and returns
// how many bytes they have.
func (f *Folder) prune() int64 {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return 0
	}
	var all []fs.FileInfo
	var used int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
			used += info.Size()
		}
	}
	if used <= f.most {
		return used
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for _, info := range all {
		if used <= f.most-f.most/10 {
			break
		}
		if os.Remove(filepath.Join(f.dir, info.Name())) == nil {
			used -= info.Size()
		}
	}
	return used
}
