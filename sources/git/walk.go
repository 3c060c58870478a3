package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/dir"
	"github.com/waybill-dev/waybill/sources/files"
	"github.com/waybill-dev/waybill/sources/git/internal/attr"
	"github.com/waybill-dev/waybill/sources/git/internal/index"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// The files of a folder that say something of the others.
const (
	ignoreFile     = ".gitignore"
	attributesFile = ".gitattributes"
)

// walker lists a folder of a work tree.
type walker struct {
	directories
	settings
	*indexed

	into    *workTree
	own     *attr.File // the repository's attributes, which count most
	letters ignore.Letters
	there   map[string]bool // paths that are to be absent and are not
	names   map[string]int  // where case does not matter: of what is listed
}

// folder is a folder of the work tree and what files of it and around it say.
type folder struct {
	name       string // from the root of the work tree; empty for that
	root       *os.Root
	ignores    []*ignore.File
	attributes []*attr.File
	ignored    bool // what is not tracked in it does not count
}

// list lists it.
func (k *walker) list() error {
	k.there, k.names = map[string]bool{}, map[string]int{}
	if k.is("core", "ignorecase", false) {
		k.letters = ignore.Folded
	}
	f, err := k.outermost()
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(k.subdir, "/") {
		if name == "" {
			break
		}
		below, err := k.enter(f, name)
		f.root.Close()
		if err != nil {
			return err
		}
		if f = below; f.ignored && !k.has(k.subdir) {
			f.root.Close()
			return ErrNoWorkTree
		}
	}
	defer f.root.Close()
	if err := k.walk(f); err != nil {
		return err
	}
	return k.absent()
}

// outermost is the root of the work tree, before its own files were read.
func (k *walker) outermost() (folder, error) {
	root, err := os.OpenRoot(k.root)
	if err != nil {
		return folder{}, err
	}
	f := folder{root: root}
	for _, data := range [][]byte{k.userData("excludesfile", "ignore", k.root), k.infoFile("exclude")} {
		f.ignores = append(f.ignores, ignore.ParseFile("", data, k.letters))
	}
	if a := attr.Parse("", k.userData("attributesfile", "attributes", k.root), k.letters); a != nil {
		f.attributes = append(f.attributes, a)
	}
	k.own = attr.Parse("", k.infoFile("attributes"), k.letters)
	return f, k.learn(&f)
}

// infoFile reads a file that the repository has beside those of its folders.
func (k *walker) infoFile(name string) []byte {
	data, err := os.ReadFile(filepath.Join(k.common, "info", name)) //nolint:gosec // a path of the repository that was opened
	if err != nil {
		return nil
	}
	return data
}

// enter opens a folder.
func (k *walker) enter(around folder, name string) (folder, error) {
	f := around
	f.name = join(around.name, name)
	if e, ok := k.find(f.name); ok && e.Mode == files.ModeSubmodule {
		return f, fmt.Errorf("%s is a submodule that is not checked out; git submodule update --init does that", f.name)
	}
	f.ignored = around.ignored || ignore.Ignored(around.ignores, f.name, ignore.Folder)
	var err error
	if f.root, err = around.root.OpenRoot(name); err != nil {
		return f, fmt.Errorf("%s: %w", f.name, err)
	}
	return f, k.learn(&f)
}

// learn reads what a folder's own files say.
func (k *walker) learn(f *folder) error {
	data, err := k.special(f, ignoreFile)
	if err != nil {
		return err
	}
	if len(data) > 0 && !f.ignored {
		f.ignores = append(slices.Clip(f.ignores), ignore.ParseFile(f.name, data, k.letters))
	}
	if data, err = k.special(f, attributesFile); err != nil {
		return err
	}
	if a := attr.Parse(f.name, data, k.letters); a != nil {
		f.attributes = append(slices.Clip(f.attributes), a)
	}
	return nil
}

// special reads a file that says something of others: that of the work tree, or the tracked
// one where there is none. A link is none.
func (k *walker) special(f *folder, name string) ([]byte, error) {
	info, err := f.root.Lstat(name)
	switch {
	case err == nil && info.Mode().IsRegular():
		return dir.Read(f.root, name)
	case err == nil:
		return nil, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	e, ok := k.find(join(f.name, name))
	if !ok || e.ID.IsZero() || !isFile(e.Mode) || name == ignoreFile && !e.Skip {
		return nil, nil
	}
	return k.into.store.bytes(plumbing.BlobObject, e.ID, maxFile)
}

func isFile(m files.Mode) bool { return m != files.ModeSymlink && m != files.ModeSubmodule }

// walk lists a folder and what is in it.
func (k *walker) walk(f folder) error {
	if strings.Count(beneath(k.subdir, join(f.name, "x")), "/") > maxDepth {
		k.add(workFile{File: sources.File{Path: f.name, Kind: sources.Unreadable, Folder: true, Why: fmt.Sprintf("it is in more than %d folders", maxDepth)}})
		return nil
	}
	self, err := f.root.Open(".")
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	entries, err := self.ReadDir(-1)
	self.Close()
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	for _, e := range entries {
		name := join(f.name, e.Name())
		switch kind := e.Type(); {
		case e.Name() == ".git", k.letters == ignore.Folded && strings.EqualFold(e.Name(), ".git"):
		case kind.IsDir():
			err = k.folder(f, e.Name())
		case kind.IsRegular(), kind&fs.ModeSymlink != 0:
			err = k.file(f, name, e.Name())
		}
		if err != nil {
			return err
		}
		if len(k.into.paths) > maxPaths {
			return fmt.Errorf("more than %d files; give a smaller directory", maxPaths)
		}
	}
	return nil
}

// folder lists what is in a folder, unless that is another repository or ignored.
func (k *walker) folder(around folder, name string) error {
	full := join(around.name, name)
	if e, ok := k.find(full); ok && e.Mode == files.ModeSubmodule {
		if !k.asIndexed(e) {
			k.add(workFile{File: sources.File{Path: full, Kind: sources.Submodule, Digest: e.ID.String()}})
		}
		return nil
	}
	if !k.has(full) {
		if around.ignored || ignore.Ignored(around.ignores, full, ignore.Folder) {
			return nil
		}
		if isRepository(filepath.Join(k.root, filepath.FromSlash(full))) {
			k.add(workFile{File: sources.File{Path: full, Kind: sources.Submodule}})
			return nil
		}
	}
	f, err := k.enter(around, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was there a moment ago
	}
	if err != nil {
		return err
	}
	defer f.root.Close()
	return k.walk(f)
}

// isRepository reports whether a folder is the work tree of another repository.
func isRepository(at string) bool {
	git := filepath.Join(at, ".git")
	if link, err := gitFile(git); err == nil && link != "" {
		git = link
	}
	return isGitDir(git)
}

// file lists a file or a link.
func (k *walker) file(f folder, name, base string) error {
	e, ok := k.find(name)
	switch {
	case ok && k.asIndexed(e):
		return nil
	case !ok && (f.ignored || ignore.Ignored(f.ignores, name, ignore.NoFolder)):
		return nil
	}
	info, err := f.root.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was there a moment ago
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	w := workFile{File: sources.File{Path: name, Size: info.Size()}}
	if ok {
		k.there[e.Path] = true
		if e.Path != name {
			w.Path, w.name = e.Path, name
		}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0, ok && e.Mode == files.ModeSymlink && !k.is("core", "symlinks", true):
		w.Kind, w.Size, w.Target = sources.Symlink, 0, linkTarget(f.root, base, info)
	case !info.Mode().IsRegular():
		return nil
	default:
		if err := k.convert(&w, f, e, info); err != nil {
			return err
		}
	}
	k.add(w)
	return nil
}

// linkTarget returns where a link leads, which may be in a file where links cannot be made;
// empty where that cannot be told.
func linkTarget(root *os.Root, base string, info fs.FileInfo) string {
	if info.Mode().IsRegular() {
		data, err := dir.Read(root, base)
		if err != nil {
			return ""
		}
		return string(data)
	}
	target, err := root.Readlink(base)
	if err != nil {
		return ""
	}
	return target
}

// convert says how the content of a file becomes what Git stores.
func (k *walker) convert(w *workFile, f folder, e *index.Entry, info fs.FileInfo) error {
	auto := k.value("autocrlf")
	autocrlf := auto == "input" || k.is("core", "autocrlf", false)
	if len(f.attributes) == 0 && k.own == nil && !autocrlf {
		return nil
	}
	all := f.attributes
	if k.own != nil {
		all = append(slices.Clip(all), k.own)
	}
	a := attr.Of(all, w.Path)
	w.lines = a.Lines(autocrlf)
	if e != nil && isFile(e.Mode) && e.Stage == 0 {
		w.blob, w.clean = e.ID, isClean(e, info)
	}
	if !w.clean || w.blob.IsZero() || !k.filters(a.Filter()) && !a.Rewritten() {
		return nil
	}
	size, err := k.into.store.size(w.blob)
	if err != nil {
		return fmt.Errorf("%s: %w", w.Path, err)
	}
	w.stored, w.Size, w.Digest = w.blob, size, w.blob.String()
	return nil
}

// isClean reports whether a file is as Git saw it last.
func isClean(e *index.Entry, info fs.FileInfo) bool {
	at := info.ModTime()
	return e.Size == uint32(info.Size()) && //nolint:gosec // as Git has it
		e.Sec == uint32(at.Unix()) && (e.Nsec == 0 || e.Nsec == uint32(at.Nanosecond())) //nolint:gosec // as Git has it
}

// asIndexed reports whether a tracked path counts as the index has it, whatever the work
// tree has. What a sparse checkout leaves out counts if it is there all the same.
func (k *walker) asIndexed(e *index.Entry) bool {
	return e.Unchanged || e.Skip && !k.is("core", "sparsecheckout", false)
}

// absent lists what is tracked and not in the work tree, but is not removed.
func (k *walker) absent() error {
	for _, e := range k.below(k.subdir) {
		if e.Stage != 0 || !k.asIndexed(&e) && (!e.Skip || k.there[e.Path]) {
			continue
		}
		w := workFile{File: sources.File{Path: e.Path, Digest: e.ID.String()}}
		switch e.Mode {
		case files.ModeSymlink:
			w.Kind = sources.Symlink
			if target, err := k.into.store.bytes(plumbing.BlobObject, e.ID, maxFile); err == nil {
				w.Target = string(target)
			}
		case files.ModeSubmodule:
			w.Kind = sources.Submodule
		default:
			var err error
			if w.Size, err = k.into.store.size(e.ID); errors.Is(err, ErrMissing) {
				w.Kind, w.Why = sources.Unreadable, err.Error()
			} else if err != nil {
				return fmt.Errorf("%s: %w", e.Path, err)
			}
			w.stored = e.ID
		}
		k.add(w)
	}
	return nil
}

// add lists a path, which is one of the repository. Of two that differ by case alone, the
// one that is written as it is tracked counts.
func (k *walker) add(w workFile) {
	if w.name != "" {
		w.name = beneath(k.subdir, w.name)
	}
	w.Path = beneath(k.subdir, w.Path)
	if k.letters == ignore.Folded {
		if i, ok := k.names[w.Path]; ok {
			if w.name == "" {
				k.into.paths[i] = w
			}
			return
		}
		k.names[w.Path] = len(k.into.paths)
	}
	k.into.paths = append(k.into.paths, w)
}
