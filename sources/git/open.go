package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/config"

	"github.com/waybill-dev/waybill/sources/git/internal/refs"
)

// Repo is an open repository. It is safe for concurrent use.
type Repo struct {
	shown  string // location without credentials
	subdir string
	clone  clone // of a repository on disk
	kind   kind
	store  *store
	refs   refs.Store // of the repository on disk: the one opened, or the cache
	sign   Signer     // of what is published; nil: it is not signed

	folders folders
	known   known
}

// Open opens a repository on disk, or prepares the cache of one behind a URL. It
// sends nothing: a URL that leads nowhere is found by what asks first. Repositories
// in a format that is not supported are refused.
func Open(_ context.Context, o Options) (*Repo, error) {
	r, err := openAt(o)
	if err == nil {
		r.sign = o.Sign
	}
	return r, err
}

func openAt(o Options) (*Repo, error) {
	path, isFile, err := filePath(o.Location)
	switch {
	case err != nil:
		return nil, fmt.Errorf("opening repository %s: %w", shownLocation(o.Location), err)
	case !isFile && IsURL(o.Location):
		return openURL(o)
	case !isFile:
		path = o.Location
	}
	d, err := discover(path)
	if err != nil {
		return nil, fmt.Errorf("opening repository %s: %w", path, err)
	}
	if isFile && d.root != filepath.Clean(path) {
		return nil, fmt.Errorf("opening repository %s: it is a folder of the repository %s; give a folder by its path", path, d.root)
	}
	cfg, err := readConfig(d.common)
	if err != nil {
		return nil, fmt.Errorf("opening repository %s: %w", path, err)
	}
	r := &Repo{
		shown: d.root, subdir: d.subdir, refs: refs.At(d.common), store: openStore(d.git, d.common), clone: readClone(cfg, d.git != d.root),
	}
	disk := &onDisk{repo: r, prefix: refs.Heads, head: refs.At(d.git), bare: cfg.Core.IsBare}
	r.kind = disk
	if !modified(filepath.Join(d.common, "shallow")).IsZero() {
		r.kind = &shallow{onDisk: disk}
	}
	return r, nil
}

// Name is the location without credentials: a URL, or the absolute path of the work
// tree or of the bare repository.
func (r *Repo) Name() string { return r.shown }

// Subdir is the folder of the repository that the location is, slash-separated and
// relative to the root of the work tree; empty for the root, for a bare repository
// and for a URL.
func (r *Repo) Subdir() string { return r.subdir }

// directories is where the parts of a repository on disk are.
type directories struct {
	git    string // HEAD
	common string // refs, objects, config
	root   string // work tree, or the bare repository
	subdir string
}

var errNoRepository = errors.New("neither it nor a folder above it is a Git repository; run git init, or give the path or URL of one")

// discover finds the repository that a path is or is in, as Git does: upwards, the
// first folder that has a .git or looks like one.
func discover(path string) (directories, error) {
	start, err := filepath.Abs(path)
	if err != nil {
		return directories{}, err
	}
	if info, err := os.Stat(start); err != nil {
		return directories{}, err
	} else if !info.IsDir() {
		return directories{}, errors.New("it is a file, not a directory")
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		d := directories{git: filepath.Join(dir, ".git"), root: dir}
		if link, err := gitFile(d.git); err != nil {
			return directories{}, err
		} else if link != "" {
			d.git = link
		}
		switch {
		case isGitDir(d.git):
			rel, err := filepath.Rel(dir, start)
			if err != nil {
				return directories{}, err
			}
			if d.subdir = filepath.ToSlash(rel); rel == "." {
				d.subdir = ""
			}
		case isGitDir(dir):
			d.git = dir
		case dir == filepath.Dir(dir):
			return directories{}, errNoRepository
		default:
			continue
		}
		d.common = commonDir(d.git)
		return d, nil
	}
}

// gitFile follows a .git that is a file, as in linked work trees and submodules;
// empty if it is none.
func gitFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return "", nil // there is no such file, which is no error
	}
	data, err := os.ReadFile(path) //nolint:gosec // a path of the repository that was opened
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s does not begin with \"gitdir: \"", path)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return target, nil
}

// isGitDir reports whether a folder has what every repository has.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	common := commonDir(dir)
	for _, name := range []string{"objects", "refs"} {
		if _, err := os.Stat(filepath.Join(common, name)); err != nil {
			return false
		}
	}
	return true
}

// commonDir returns the folder that a linked work tree shares with the others.
func commonDir(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "commondir")) //nolint:gosec // a path of the repository that was opened
	if err != nil {
		return dir
	}
	common := strings.TrimSpace(string(data))
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	return common
}

// readConfig reads a repository's config and refuses formats that are not Git's
// usual one.
func readConfig(dir string) (*config.Config, error) {
	f, err := os.Open(filepath.Join(dir, "config")) //nolint:gosec // a path of the repository that was opened
	if errors.Is(err, fs.ErrNotExist) {
		return config.NewConfig(), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cfg, err := config.ReadConfig(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	extensions := cfg.Raw.Section("extensions")
	if format := extensions.Option("objectformat"); format != "" && format != "sha1" {
		return nil, fmt.Errorf("its object format is %s; want sha1", format)
	}
	if storage := extensions.Option("refstorage"); storage != "" && storage != "files" {
		return nil, fmt.Errorf("its refs are stored as %s; want files (git refs migrate --ref-format=files)", storage)
	}
	return cfg, nil
}
