package git

import (
	"context"
	"errors"
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
	if err := r.kind.obtain(ctx, id); err != nil {
		return nil, err
	}
	c, err := r.store.commit(id)
	if err != nil {
		return nil, fmt.Errorf("reading %s of %s: %w", rev, r.shown, err)
	}
	subject, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\n"), "\n")
	s := &snapshot{store: r.store, revision: sources.Revision{
		Repo: r.Source(), Path: cleanFolder(subdir), Ref: rev, Commit: id.String(), When: c.Committer.When, Subject: subject, Message: c.Message,
	}}
	if err := s.list(ctx, r, files.ID(c.TreeHash)); err != nil {
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

type snapshot struct {
	store    *store
	revision sources.Revision
	files    []sources.File // in byte order, which is Git's order of whole paths
	ids      []files.ID     // of files
}

// list lists the folder of the revision, below a tree.
func (s *snapshot) list(ctx context.Context, r *Repo, tree files.ID) error {
	_, _ = r.folder(ctx, tree, 0) // it remembers what it reads; what it cannot read is no error here
	l := newLister(r)
	root, err := l.at(tree, s.revision.Path)
	if err != nil {
		return err
	}
	m, err := l.folder(ctx, root, maxDepth)
	if err != nil {
		return err
	}
	if m.why != "" {
		return errors.New(m.why)
	}
	if n := len(m.files) + len(m.folders); n > maxPaths {
		return &LimitError{What: "paths in one folder", Limit: maxPaths, Got: int64(n)}
	}
	if _, err := l.fit("", m, maxPaths); err != nil {
		return err
	}
	slices.SortFunc(l.listed, func(a, b listed) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range l.listed {
		s.files, s.ids = append(s.files, f.File), append(s.ids, f.id)
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
		return nil, fmt.Errorf("reading %s: it is a link, a submodule or not in the repository, and only regular files are read", path)
	}
	data, err := s.store.bytes(plumbing.BlobObject, s.ids[i], maxFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return data, nil
}
