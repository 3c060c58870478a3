package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/dir"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/attr"
)

// ErrNoWorkTree says that a directory is in no repository, or that the repository which it
// is in ignores all of it.
var ErrNoWorkTree = errors.New("it is in no work tree of Git")

// WorkTree lists a folder of a work tree as Git would commit it: the tracked files that are
// there, and those that are not tracked and that nothing ignores. What is tracked and is not
// to be in the work tree is read from the index, and so is what is to be taken for
// unchanged. Line ends are those that Git would store. Where a filter changes content, or an
// encoding, a file that did not change since Git looked at it is read as it is stored, and
// another one as it stands: no filter is run.
//
// Links are listed and not followed, and neither are submodules and repositories inside.
// Files are read when they are asked for: one that was changed meanwhile is read as it is
// then. The revision has only Repo, the absolute path.
func WorkTree(at string, env Environment) (sources.Snapshot, error) {
	abs, err := filepath.Abs(at)
	if err != nil {
		return nil, fmt.Errorf("reading directory %s: %w", at, err)
	}
	s, err := workTreeAt(abs, env)
	if err != nil {
		return nil, fmt.Errorf("reading directory %s: %w", at, err)
	}
	return s, nil
}

func workTreeAt(abs string, env Environment) (sources.Snapshot, error) {
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	d, err := discover(resolved)
	if errors.Is(err, errNoRepository) {
		return nil, ErrNoWorkTree
	}
	if err != nil {
		return nil, err
	}
	if d.git == d.root {
		return nil, errors.New("it is a repository without a work tree; say which commit with --rev")
	}
	set, err := readSettings(d, env)
	if err != nil {
		return nil, err
	}
	w := &workTree{at: abs, store: openStore(d.git, d.common)}
	known, err := readIndex(d, set, w.store)
	if err != nil {
		return nil, fmt.Errorf("reading the index of %s: %w", d.root, err)
	}
	k := &walker{directories: d, settings: set, indexed: known, into: w}
	if err := k.list(); err != nil {
		return nil, err
	}
	if w.root, err = os.OpenRoot(abs); err != nil {
		return nil, err
	}
	w.sort()
	return w, nil
}

// workTree is a folder of a work tree.
type workTree struct {
	at    string
	root  *os.Root
	store *store
	paths []workFile
	files []sources.File // of paths
}

// workFile is a file and how it is read.
type workFile struct {
	sources.File

	name   string     // on the disk, where it is another one
	stored files.ID   // the blob that is read instead; zero for none
	lines  attr.Lines // what becomes of its line ends
	blob   files.ID   // that is tracked; zero for none
	clean  bool       // it did not change since then
}

// sort puts the files into their order.
func (w *workTree) sort() {
	slices.SortFunc(w.paths, func(a, b workFile) int { return strings.Compare(a.Path, b.Path) })
	w.files = make([]sources.File, len(w.paths))
	for i := range w.paths {
		w.files[i] = w.paths[i].File
	}
}

// Revision implements sources.Snapshot.
func (w *workTree) Revision() sources.Revision { return sources.Revision{Repo: w.at} }

// Files implements sources.Snapshot.
func (w *workTree) Files() []sources.File { return w.files }

// ReadFile implements sources.Snapshot.
func (w *workTree) ReadFile(name string) ([]byte, error) {
	i, ok := slices.BinarySearchFunc(w.paths, name, func(f workFile, n string) int { return strings.Compare(f.Path, n) })
	switch {
	case !ok:
		return nil, fmt.Errorf("reading %s: %w", name, fs.ErrNotExist)
	case w.paths[i].Kind != sources.Regular:
		return nil, fmt.Errorf("reading %s: it is a link or a submodule, and only regular files are read", name)
	}
	data, err := w.read(&w.paths[i])
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return data, nil
}

func (w *workTree) read(f *workFile) ([]byte, error) {
	if !f.stored.IsZero() {
		return w.store.bytes(plumbing.BlobObject, f.stored, maxFile)
	}
	data, err := dir.Read(w.root, orElse(f.name, f.Path))
	if err != nil || f.lines == attr.Keep || !bytes.Contains(data, []byte("\r\n")) {
		return data, err
	}
	before := func() ([]byte, error) {
		if f.blob.IsZero() {
			return nil, nil
		}
		return w.store.bytes(plumbing.BlobObject, f.blob, maxFile)
	}
	switch {
	case files.Sum("blob", data) == f.blob:
		return data, nil
	case f.clean:
		return before()
	}
	return f.lines.Stored(data, before)
}

// beneath returns a path of the repository as one below a folder of it.
func beneath(folder, name string) string {
	if folder == "" {
		return name
	}
	return name[len(folder)+1:]
}

// join is path.Join where the folder may be the root.
func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return path.Clean(folder) + "/" + name
}
