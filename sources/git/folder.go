package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources/files"
)

const (
	// maxPaths is how many paths a tree may have, counted as often as they are reached.
	maxPaths = 200_000
	// maxShared is how many all folders of a commit may have together: clusters may share a branch.
	maxShared = 20 * maxPaths
	// maxDepth is how many folders may be inside each other.
	maxDepth = 64
)

// folders remembers the folders that were read.
type folders struct {
	mu    sync.Mutex
	nodes generations[files.ID, node]
}

// node is a folder and how much is below it.
type node struct {
	folder *files.Folder
	paths  int // that are no folders
	height int // of the folders below
}

func (f *folders) get(id files.ID) (node, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nodes.get(id)
}

// put remembers a folder, or returns the one that somebody else remembered first.
func (f *folders) put(n node) node {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first, ok := f.nodes.get(n.folder.ID()); ok {
		return first
	}
	f.nodes.put(n.folder.ID(), n)
	return n
}

// folder reads a tree object and everything below it that was not read before.
// Depth is how many folders it is in.
func (r *Repo) folder(ctx context.Context, id files.ID, depth int) (node, error) {
	if n, ok := r.folders.get(id); ok {
		return n, r.bounded(n, depth)
	}
	if depth > maxDepth {
		return node{}, &LimitError{What: "folders inside each other", Limit: maxDepth, Got: int64(depth)}
	}
	return r.read(ctx, id, depth, func(n node) error { return r.bounded(n, depth) })
}

// wide reads a tree object whose folders, each within the limits, may have more paths together.
func (r *Repo) wide(ctx context.Context, id files.ID) (*files.Folder, error) {
	if n, ok := r.folders.get(id); ok {
		return n.folder, nil
	}
	n, err := r.read(ctx, id, 0, func(n node) error {
		if n.paths > maxShared {
			return &LimitError{What: "paths in all folders of a tree", Limit: maxShared, Got: int64(n.paths)}
		}
		return nil
	})
	return n.folder, err
}

// read reads a tree object that was not read before, as long as it is bounded, and everything below it.
func (r *Repo) read(ctx context.Context, id files.ID, depth int, bounded func(node) error) (node, error) {
	if err := ctx.Err(); err != nil {
		return node{}, err
	}
	entries, err := r.entries(id)
	if err != nil {
		return node{}, err
	}
	var n node
	for i := range entries {
		e := &entries[i]
		switch e.Mode {
		case files.ModeDir:
			below, err := r.folder(ctx, e.ID, depth+1)
			if err != nil {
				return node{}, within(e.Name, err)
			}
			e.Dir = below.folder
			n.paths += below.paths
			n.height = max(n.height, below.height+1)
		case files.ModeSubmodule:
			n.paths++
		default:
			e.Blob = r.blob(e.ID)
			n.paths++
		}
		if err := bounded(n); err != nil {
			return node{}, err
		}
	}
	n.folder = files.NewFolder(entries)
	if n.folder.ID() != id {
		return node{}, fmt.Errorf("tree %s is not written as Git writes trees; check the repository with git fsck", id)
	}
	return r.folders.put(n), nil
}

// entries reads a tree object, without what its entries stand for.
func (r *Repo) entries(id files.ID) ([]files.Entry, error) {
	data, err := r.store.bytes(plumbing.TreeObject, id, maxMeta)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(data)
	if err != nil {
		return nil, fmt.Errorf("reading tree %s: %w", id, err)
	}
	return entries, nil
}

func (r *Repo) blob(id files.ID) *files.Blob {
	return files.StoredBlob(id, r.store.blob)
}

func (*Repo) bounded(n node, depth int) error {
	if n.paths > maxPaths {
		return &LimitError{What: "paths in a tree", Limit: maxPaths, Got: int64(n.paths)}
	}
	if depth+n.height > maxDepth {
		return &LimitError{What: "folders inside each other", Limit: maxDepth, Got: int64(depth + n.height)}
	}
	return nil
}

// within names the folder in which an error happened, unless it is one of the whole.
func within(name string, err error) error {
	if _, ok := errors.AsType[*LimitError](err); ok {
		return err
	}
	return fmt.Errorf("in folder %q: %w", name, err)
}

// parseTree reads the body of a tree object. It refuses what Git would not write:
// other modes, names that no file can have or that work trees are endangered by, and
// a name that stands twice.
func parseTree(data []byte) ([]files.Entry, error) {
	entries := make([]files.Entry, 0, len(data)/40)
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || len(rest) < len(files.ID{}) {
			return nil, errors.New("it ends in the middle of an entry")
		}
		octal, name, _ := strings.Cut(string(head), " ")
		mode, err := strconv.ParseUint(octal, 8, 32)
		if err != nil {
			return nil, fmt.Errorf("mode %q of %q is no number", octal, name)
		}
		if err := checkEntry(name, files.Mode(mode)); err != nil {
			return nil, err
		}
		entries = append(entries, files.Entry{Name: name, Mode: files.Mode(mode), ID: files.ID(rest[:len(files.ID{})])})
		data = rest[len(files.ID{}):]
	}
	return entries, checkUnique(entries)
}

// groupWritable is a mode of files that old versions of Git wrote.
const groupWritable files.Mode = 0o100664

func checkEntry(name string, mode files.Mode) error {
	switch mode {
	case files.ModeDir, files.ModeRegular, files.ModeExecutable, files.ModeSymlink, files.ModeSubmodule, groupWritable:
	default:
		return fmt.Errorf("mode %o of %q is none that Git knows", mode, name)
	}
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("name %q cannot be a file's", name)
	}
	if len(name) >= len(".git") && (name[0] == '.' || name[0] == 'g' || name[0] == 'G') {
		switch strings.ToLower(strings.TrimRight(name, ". ")) {
		case ".git", "git~1":
			return fmt.Errorf("name %q stands for Git's own folder on some file systems", name)
		}
	}
	return nil
}

func checkUnique(entries []files.Entry) error {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return fmt.Errorf("name %q stands twice", names[i])
		}
	}
	return nil
}
