package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// lister lists the files of a commit of which some cannot be read. They are listed as what
// they are: unreadable, and so are folders that are too deep, that are not in the
// repository, that are not written as Git writes them, or that hold more than there is room
// for. Of the folders in a folder the smaller ones are read first; if only one does not fit,
// what is in it is looked at likewise.
type lister struct {
	repo   *Repo
	seen   map[measure]*measured
	listed []listed
	absent bool // a blob is not in the repository, so that others may be absent, too
}

type listed struct {
	sources.File

	id files.ID
}

// measure is a folder, and how many folders it may hold inside each other.
type measure struct {
	id   files.ID
	left int
}

// measured is a folder and how much is in it.
type measured struct {
	name    string // where it is listed
	id      files.ID
	why     string // it cannot be read; empty if it can
	files   []files.Entry
	folders []*measured
	paths   int // at most maxPaths and one
}

func newLister(r *Repo) *lister { return &lister{repo: r, seen: map[measure]*measured{}} }

// folder measures a folder and what is in it.
func (l *lister) folder(ctx context.Context, id files.ID, left int) (*measured, error) {
	if m, ok := l.seen[measure{id, left}]; ok {
		return m, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m := &measured{id: id, paths: 1}
	l.seen[measure{id, left}] = m
	if left < 0 {
		m.why = fmt.Sprintf("it is in more than %d folders", maxDepth)
		return m, nil
	}
	entries, why, err := l.entries(id)
	if m.why = why; err != nil || why != "" {
		return m, err
	}
	m.paths = 0
	for _, e := range entries {
		if e.Mode != files.ModeDir {
			m.files = append(m.files, e)
			m.paths = min(m.paths+1, maxPaths+1)
			continue
		}
		below, err := l.folder(ctx, e.ID, left-1)
		if err != nil {
			return nil, err
		}
		named := *below
		named.name = e.Name
		m.folders = append(m.folders, &named)
		m.paths = min(m.paths+max(1, below.paths), maxPaths+1)
	}
	return m, nil
}

// at finds the folder at a path below a tree.
func (l *lister) at(tree files.ID, path string) (files.ID, error) {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			break
		}
		entries, why, err := l.entries(tree)
		if err == nil && why != "" {
			err = errors.New(why)
		}
		if err != nil {
			return files.ID{}, err
		}
		i := slices.IndexFunc(entries, func(e files.Entry) bool { return e.Name == name })
		if i < 0 {
			return files.ID{}, fmt.Errorf("there is no folder %q in this commit", path)
		}
		if entries[i].Mode != files.ModeDir {
			return files.ID{}, fmt.Errorf("%q is not a folder in this commit", path)
		}
		tree = entries[i].ID
	}
	return tree, nil
}

// entries reads a folder, or says why it cannot be read.
func (l *lister) entries(id files.ID) (entries []files.Entry, why string, err error) {
	if n, ok := l.repo.folders.get(id); ok {
		return n.folder.Entries(), "", nil
	}
	data, err := l.repo.store.bytes(plumbing.TreeObject, id, maxMeta)
	if err == nil {
		if entries, err = parseTree(data); err != nil {
			return nil, fmt.Sprintf("tree %s: %v; check the repository with git fsck", id, err), nil
		}
		if files.NewFolder(slices.Clone(entries)).ID() != id {
			return nil, fmt.Sprintf("tree %s is not written as Git writes trees; check the repository with git fsck", id), nil
		}
		return entries, "", nil
	}
	if _, large := errors.AsType[*LimitError](err); large || errors.Is(err, ErrMissing) {
		return nil, err.Error(), nil
	}
	return nil, "", err
}

// fit lists what is in a folder as far as there is room for so many paths, and returns how
// many it listed.
func (l *lister) fit(prefix string, m *measured, room int) (used int, err error) {
	for _, e := range m.files {
		if err := l.file(prefix+e.Name, e); err != nil {
			return used, err
		}
		used++
	}
	folders := slices.SortedFunc(slices.Values(m.folders), func(a, b *measured) int {
		return cmp.Or(cmp.Compare(a.paths, b.paths), cmp.Compare(a.name, b.name))
	})
	refused := false
	for i, f := range folders {
		rest := len(folders) - i - 1
		here := room - used - rest // what is not read is listed as well
		path := prefix + f.name
		var n int
		switch only := rest == 0 && !refused; {
		case f.why != "":
			n = l.unreadable(path, f, f.why)
		case f.paths <= here, only && len(f.files)+len(f.folders) <= here:
			n, err = l.fit(path+"/", f, here)
		default:
			refused = true
			n = l.unreadable(path, f, fmt.Sprintf("there is no room for its %s paths; a source may have %d", count(f.paths), maxPaths))
		}
		if used += n; err != nil {
			return used, err
		}
	}
	return used, nil
}

func count(paths int) string {
	if paths > maxPaths {
		return fmt.Sprintf("over %d", maxPaths)
	}
	return strconv.Itoa(paths)
}

// unreadable lists a folder for all that is in it.
func (l *lister) unreadable(path string, m *measured, why string) int {
	l.listed = append(l.listed, listed{sources.File{Path: path, Kind: sources.Unreadable, Folder: true, Why: why, Digest: m.id.String()}, m.id})
	return 1
}

// file lists what is no folder.
func (l *lister) file(path string, e files.Entry) error {
	f := sources.File{Path: path, Digest: e.ID.String()}
	switch e.Mode {
	case files.ModeSymlink:
		f.Kind = sources.Symlink
		if target, err := l.repo.store.bytes(plumbing.BlobObject, e.ID, maxFile); err == nil {
			f.Target = string(target)
		} // else nobody knows what is behind it, as behind any link
	case files.ModeSubmodule:
		f.Kind = sources.Submodule
	default:
		size, err := l.size(e.ID)
		if errors.Is(err, ErrMissing) {
			f.Kind, f.Why = sources.Unreadable, err.Error()
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f.Size = size
	}
	l.listed = append(l.listed, listed{f, e.ID})
	return nil
}

// size returns the size of a blob. Where one is absent no other is waited for.
func (l *lister) size(id files.ID) (int64, error) {
	if l.absent && !l.repo.store.has(id) {
		return 0, fmt.Errorf("blob %s: %w", id, ErrMissing)
	}
	size, err := l.repo.store.size(id)
	l.absent = l.absent || errors.Is(err, ErrMissing)
	return size, err
}
