// Package private reads files with keys: those that nobody but their owner can read, and that are not in the source.
package private

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/waybill-dev/waybill/sources/git"
)

// most is how many bytes a file with keys has at most: an endless one is none.
const most = 64 << 10

// Outside refuses a file, which a flag names, that is among those of the source at a path.
func Outside(flag, file, path string) error {
	inside, err := isInside(file, path)
	if inside {
		err = fmt.Errorf("%s is among the files of the source, from where it is one git add to Git; put it elsewhere", file)
	}
	if err != nil {
		return fmt.Errorf("reading --%s: %w", flag, err)
	}
	return nil
}

// Read reads the file that a flag names, which nobody but its owner can read.
func Read(flag, file string) (secret []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reading --%s: %w", flag, err)
		}
	}()
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", file)
	case isOpenToOthers(info):
		return nil, fmt.Errorf("others than its owner can read %s, which has mode %04o; make it readable for you alone: chmod 600 %s", file, info.Mode().Perm(), file)
	case info.Size() > most:
		return nil, fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// isInside reports whether a file is in the work tree around a path. The source may be
// no repository, and then is the folder itself; a URL has no work tree.
func isInside(file, path string) (bool, error) {
	if git.IsURL(path) {
		return false, nil
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	for dir := root; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			root = dir
			break
		}
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return false, nil // what opens the source says what is wrong with it
	}
	if file, err = filepath.Abs(file); err != nil {
		return false, err
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return false, err
	}
	rel, err := filepath.Rel(root, file)
	return err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(filepath.ToSlash(rel), ".git/"), nil
}
