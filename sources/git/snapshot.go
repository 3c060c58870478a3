package git

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// Snapshot reads the commit that rev stands for (see Resolve), below the folder
// subdir, which is slash-separated; "" and "." are the root. The digest of a file is
// its blob id. A file over 16 MiB is listed with its size, and reading it gives a
// LimitError.
func (r *Repo) Snapshot(ctx context.Context, rev, subdir string) (sources.Snapshot, error) {
	id, err := r.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	h, err := r.Commit(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", rev, r.shown, err)
	}
	subject, _, _ := strings.Cut(strings.TrimLeft(h.Message, "\n"), "\n")
	s := &snapshot{store: r.store, revision: sources.Revision{
		Repo: r.Source(), Path: cleanFolder(subdir), Ref: rev, Commit: id.String(), When: h.When, Subject: subject, Message: h.Message,
	}}
	root, err := folderAt(h.Tree, subdir)
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", rev, r.shown, err)
	}
	if err := s.list(root); err != nil {
		return nil, fmt.Errorf("listing files at %s of %s: %w", rev, r.shown, err)
	}
	return s, nil
}

// cleanFolder returns the path of a folder without slashes around it; "" is the root.
func cleanFolder(path string) string {
	if path = strings.Trim(path, "/"); path == "." {
		return ""
	}
	return path
}

// folderAt finds a folder by its path.
func folderAt(root *files.Folder, path string) (*files.Folder, error) {
	if path = cleanFolder(path); path == "" {
		return root, nil
	}
	e, ok := root.Lookup(path)
	if !ok {
		return nil, fmt.Errorf("there is no folder %q in this commit", path)
	}
	if e.Dir == nil {
		return nil, fmt.Errorf("%q is not a folder in this commit", path)
	}
	return e.Dir, nil
}

type snapshot struct {
	store    *store
	revision sources.Revision
	files    []sources.File // in byte order, which is Git's order of whole paths
	ids      []files.ID     // of files
}

func (s *snapshot) list(root *files.Folder) error {
	for path, e := range root.All() {
		f := sources.File{Path: path, Digest: e.ID.String()}
		switch e.Mode {
		case files.ModeSymlink:
			f.Kind = sources.Symlink
			if target, err := s.store.bytes(plumbing.BlobObject, e.ID, maxFile); err == nil {
				f.Target = string(target)
			} // else nobody knows what is behind it, as behind any link
		case files.ModeSubmodule:
			f.Kind = sources.Submodule
		default:
			size, err := s.store.size(e.ID)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			f.Size = size
		}
		s.files = append(s.files, f)
		s.ids = append(s.ids, e.ID)
	}
	return nil
}

// Revision implements sources.Snapshot.
func (s *snapshot) Revision() sources.Revision { return s.revision }

// Files implements sources.Snapshot.
func (s *snapshot) Files() []sources.File { return s.files }

// ReadFile implements sources.Snapshot.
func (s *snapshot) ReadFile(path string) ([]byte, error) {
	i, ok := slices.BinarySearchFunc(s.files, path, func(f sources.File, p string) int { return strings.Compare(f.Path, p) })
	switch {
	case !ok:
		return nil, fmt.Errorf("reading %s: %w", path, fs.ErrNotExist)
	case s.files[i].Kind != sources.Regular:
		return nil, fmt.Errorf("reading %s: it is a link or a submodule, and only regular files are read", path)
	}
	data, err := s.store.bytes(plumbing.BlobObject, s.ids[i], maxFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}
