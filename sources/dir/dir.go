// Package dir takes a snapshot of a directory as it stands, for looking at a
// source before it is committed. What is published comes from commits only.
package dir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waybill-dev/waybill/sources"
)

type snapshot struct {
	root  *os.Root
	name  string
	files []sources.File
}

// Snapshot lists the files below path. Links are listed as links and never
// followed; .git folders are left out.
func Snapshot(path string) (sources.Snapshot, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("reading the source: %s is no directory", path)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	s := &snapshot{root: root, name: path}
	if err := fs.WalkDir(root.FS(), ".", s.visit); err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	slices.SortFunc(s.files, func(a, b sources.File) int { return strings.Compare(a.Path, b.Path) })
	return s, nil
}

func (s *snapshot) visit(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if d.IsDir() {
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		return nil
	}
	f := sources.File{Path: path}
	switch mode := d.Type(); {
	case mode&fs.ModeSymlink != 0:
		f.Kind = sources.Symlink
	case mode.IsRegular():
		info, err := d.Info()
		if err != nil {
			return err
		}
		f.Size = info.Size()
	default:
		return nil // sockets, devices and pipes hold no manifests
	}
	s.files = append(s.files, f)
	return nil
}

func (s *snapshot) Revision() sources.Revision {
	abs, err := filepath.Abs(s.name)
	if err != nil {
		abs = s.name
	}
	return sources.Revision{Repo: abs}
}

func (s *snapshot) Files() []sources.File { return s.files }

func (s *snapshot) ReadFile(path string) ([]byte, error) { return s.root.ReadFile(filepath.FromSlash(path)) }
