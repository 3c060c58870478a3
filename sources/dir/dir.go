// Package dir reads a directory as it stands, for people who try things out before
// they commit. It promises not to leave the directory: links are listed and not
// followed, also where one takes the place of a folder between listing and reading.
// It passes over .git and what is neither a file, a folder nor a link. It does not
// know which files are new, changed or ignored; in a work tree of Git, git.WorkTree does.
package dir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources"
)

// The bounds are those of a commit; see package git.
const (
	maxPaths = 200_000
	maxDepth = 64
	maxFile  = 16<<20 + 1 // bytes that are read
)

// Snapshot lists the directory at a path. Its revision has only Repo, the absolute
// path. Files have sizes and no digests, and are read when they are asked for: one
// that was changed meanwhile is read as it is then.
func Snapshot(at string) (sources.Snapshot, error) {
	abs, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("reading directory %s: %w", at, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("reading directory %s: %w", at, err)
	}
	s := &snapshot{root: root, at: abs}
	if err := fs.WalkDir(root.FS(), ".", s.visit); err != nil {
		root.Close()
		return nil, fmt.Errorf("reading directory %s: %w", at, err)
	}
	slices.SortFunc(s.files, func(a, b sources.File) int { return strings.Compare(a.Path, b.Path) })
	return s, nil
}

type snapshot struct {
	root  *os.Root
	at    string
	files []sources.File
}

// visit lists one path.
func (s *snapshot) visit(name string, e fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if path.Base(name) == ".git" { // a folder, or the file that stands for one
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	f := sources.File{Path: name}
	switch {
	case e.IsDir():
		if strings.Count(name, "/") >= maxDepth {
			s.files = append(s.files, sources.File{Path: name, Kind: sources.Unreadable, Folder: true, Why: fmt.Sprintf("it is in more than %d folders", maxDepth)})
			return fs.SkipDir
		}
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		f.Kind = sources.Symlink
		if target, err := s.root.Readlink(name); err == nil {
			f.Target = target
		}
	case e.Type().IsRegular():
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was there a moment ago
		}
		if err != nil {
			return err
		}
		f.Size = info.Size()
	default:
		return nil
	}
	if len(s.files) == maxPaths {
		return fmt.Errorf("more than %d files; give a smaller directory", maxPaths)
	}
	s.files = append(s.files, f)
	return nil
}

// Revision implements sources.Snapshot.
func (s *snapshot) Revision() sources.Revision { return sources.Revision{Repo: s.at} }

// Files implements sources.Snapshot.
func (s *snapshot) Files() []sources.File { return s.files }

// ReadFile implements sources.Snapshot.
func (s *snapshot) ReadFile(name string) ([]byte, error) {
	i, ok := slices.BinarySearchFunc(s.files, name, func(f sources.File, n string) int { return strings.Compare(f.Path, n) })
	switch {
	case !ok:
		return nil, fmt.Errorf("reading %s: %w", name, fs.ErrNotExist)
	case s.files[i].Kind != sources.Regular:
		return nil, fmt.Errorf("reading %s: it is a link, and only regular files are read", name)
	}
	data, err := Read(s.root, name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return data, nil
}

// Read returns the content of a file, which may not be larger than the bound of a commit.
func Read(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("more than the limit of %d bytes", maxFile)
	}
	return data, nil
}
