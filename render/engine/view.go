package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// View arranges the files of fsys by copies, in their order, as source-watcher copies them: a later
// one replaces what an earlier one put at the same path.
func View(fsys fs.FS, copies []Copy) (map[string]string, error) {
	arranged := copied{}
	for _, c := range copies {
		if err := arranged.copy(fsys, c); err != nil {
			return nil, fmt.Errorf("copying %s: %w", c.From, err)
		}
	}
	return arranged, nil
}

// copied is where files are copied from, by where they go.
type copied map[string]string

func (a copied) copy(fsys fs.FS, c Copy) error {
	if !c.isPattern() {
		from := path.Clean(c.From)
		info, err := fs.Stat(fsys, from)
		switch {
		case errors.Is(err, fs.ErrNotExist) && c.Optional:
			return nil
		case err != nil:
			return err
		case info.IsDir():
			return a.add(fsys, c, from, path.Join(c.To, path.Base(from)))
		case c.To == "" || strings.HasSuffix(c.To, "/") || a.isFolder(c.To):
			return a.add(fsys, c, from, path.Join(c.To, path.Base(from)))
		}
		return a.add(fsys, c, from, path.Clean(c.To))
	}
	matches, err := fs.Glob(fsys, c.From) // ** is as * there: what it matches is copied with all that is in it
	if err == nil && len(matches) == 0 && !c.Optional {
		err = errors.New("nothing is there")
	}
	for _, m := range matches {
		if err == nil {
			err = a.add(fsys, c, m, path.Join(c.To, strings.TrimPrefix(m, c.contents())))
		}
	}
	return err
}

// isFolder reports that something goes below a path.
func (a copied) isFolder(to string) bool {
	for p := range a {
		if strings.HasPrefix(p, path.Clean(to)+"/") {
			return true
		}
	}
	return false
}

// add has a file, or all that is in a folder, go to a path.
func (a copied) add(fsys fs.FS, c Copy, from, to string) error {
	return fs.WalkDir(fsys, from, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case c.excludes(p) && e.IsDir():
			return fs.SkipDir
		case !c.excludes(p) && !e.IsDir():
			a[path.Join(to, strings.TrimPrefix("/"+p, "/"+strings.TrimPrefix(from, ".")))] = p
		}
		return nil
	})
}

// Roots returns the folder before the first wildcard, and where it goes.
func (c Copy) Roots() (from, to string) {
	from = static(c.From)
	switch {
	case !c.isPattern():
		return from, path.Join(c.To, path.Base(from))
	case c.contents() != "":
		return from, path.Clean(c.To)
	}
	return from, path.Join(c.To, from)
}

func (c Copy) isPattern() bool { return strings.ContainsAny(c.From, "*?[]") }

// contents is the folder, with a slash, of a pattern for all that is in one; empty for any other.
func (c Copy) contents() string {
	dir, ok := strings.CutSuffix(c.From, "/**")
	if !ok || strings.ContainsAny(dir, "*?[]") {
		return ""
	}
	return dir + "/"
}

// excludes reports whether a file or folder is left out, by its path, its path in the folder that is
// copied, or its name.
func (c Copy) excludes(p string) bool {
	within := strings.TrimPrefix(p, static(c.From)+"/")
	return slices.ContainsFunc(c.Exclude, func(x string) bool {
		return matches(x, p) || matches(x, within) || !strings.Contains(x, "/") && matches(x, path.Base(p))
	})
}

// static is the part of a pattern before its first wildcard: a folder, or the whole
// of a pattern without one.
func static(pattern string) string {
	names := strings.Split(pattern, "/")
	n := slices.IndexFunc(names, func(name string) bool { return strings.ContainsAny(name, "*?[") })
	if n < 0 {
		return path.Clean(pattern)
	}
	return path.Clean(strings.Join(names[:n], "/"))
}

// matches reports whether a pattern matches a whole path. Its segments match as
// path.Match says; ** stands for any number of them.
func matches(pattern, p string) bool {
	return matchSegments(strings.Split(pattern, "/"), strings.Split(p, "/"))
}

func matchSegments(pattern, names []string) bool {
	switch {
	case len(pattern) == 0:
		return len(names) == 0
	case pattern[0] == "**":
		for i := range len(names) + 1 {
			if matchSegments(pattern[1:], names[i:]) {
				return true
			}
		}
		return false
	case len(names) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], names[0])
	return err == nil && ok && matchSegments(pattern[1:], names[1:])
}
