package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/index"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// indexed is the index of a work tree.
type indexed struct {
	entries []index.Entry // in the order of their paths
	paths   map[string]int
	// Where the case of letters does not matter: paths, and folders, by what they fold to.
	folded  map[string]string
	folders map[string]bool
}

// readIndex reads it. Folders that stand for what is below them are read from the store.
func readIndex(d directories, set settings, s *store) (*indexed, error) {
	data, err := os.ReadFile(filepath.Join(d.git, "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var entries []index.Entry
	if err == nil {
		if entries, err = index.Decode(data, set.hash()); err != nil {
			return nil, err
		}
	}
	t := &indexed{}
	for _, e := range entries {
		if e.Mode != files.ModeDir {
			t.entries = append(t.entries, e)
			continue
		}
		if err := t.expand(s, strings.TrimSuffix(e.Path, "/"), e.ID, 0); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(t.entries, func(a, b index.Entry) int { return strings.Compare(a.Path, b.Path) })
	t.paths = make(map[string]int, len(t.entries))
	for i, e := range t.entries {
		t.paths[e.Path] = i
	}
	if set.is("core", "ignorecase", false) {
		t.fold()
	}
	return t, nil
}

// expand adds what is below a folder that is not in the work tree.
func (t *indexed) expand(s *store, folder string, id files.ID, depth int) error {
	if depth > maxDepth {
		return &LimitError{What: "folders inside each other", Limit: maxDepth, Got: int64(depth)}
	}
	data, err := s.bytes(plumbing.TreeObject, id, maxMeta)
	if err != nil {
		return err
	}
	entries, err := parseTree(data)
	if err != nil {
		return fmt.Errorf("reading tree %s: %w", id, err)
	}
	for _, e := range entries {
		name := folder + "/" + e.Name
		if e.Mode != files.ModeDir {
			t.entries = append(t.entries, index.Entry{Path: name, Mode: e.Mode, ID: e.ID, Skip: true})
		} else if err := t.expand(s, name, e.ID, depth+1); err != nil {
			return err
		}
		if len(t.entries) > maxPaths {
			return &LimitError{What: "paths in a tree", Limit: maxPaths, Got: int64(len(t.entries))}
		}
	}
	return nil
}

func (t *indexed) fold() {
	t.folded, t.folders = make(map[string]string, len(t.entries)), map[string]bool{}
	for _, e := range t.entries {
		t.folded[ignore.Fold(e.Path)] = e.Path
		for dir := path.Dir(e.Path); dir != "." && !t.folders[ignore.Fold(dir)]; dir = path.Dir(dir) {
			t.folders[ignore.Fold(dir)] = true
		}
	}
}

// find returns what is known of a path, which may be written in other letters.
func (t *indexed) find(name string) (*index.Entry, bool) {
	i, ok := t.paths[name]
	if !ok && t.folded != nil {
		i, ok = t.paths[t.folded[ignore.Fold(name)]]
	}
	if !ok {
		return nil, false
	}
	return &t.entries[i], true
}

// below returns what is tracked in a folder.
func (t *indexed) below(folder string) []index.Entry {
	if folder == "" {
		return t.entries
	}
	from := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].Path >= folder+"/" })
	to := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].Path >= folder+"0" }) // which comes after the slash
	return t.entries[from:to]
}

// has reports whether anything is tracked in a folder.
func (t *indexed) has(folder string) bool {
	return len(t.below(folder)) > 0 || t.folders[ignore.Fold(folder)]
}
