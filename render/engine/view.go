package engine

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// view arranges the files of fsys by copies, in their order: a later one replaces
// what an earlier one put at the same path. Below the folder that a pattern names
// before its first wildcard, files keep their paths.
func view(fsys fs.FS, copies []Copy) (map[string]string, error) {
	arranged := map[string]string{}
	for _, c := range copies {
		base := static(c.From)
		err := fs.WalkDir(fsys, base, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			excluded := slices.ContainsFunc(c.Exclude, func(x string) bool { return matches(x, p) || matches(x, path.Base(p)) })
			if excluded || !matches(c.From, p) && !strings.HasPrefix(p, c.From+"/") {
				return nil
			}
			arranged[c.place(base, p)] = p
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("copying %s: %w", c.From, err)
		}
	}
	return arranged, nil
}

// place is where the file p, below base, goes.
func (c Copy) place(base, p string) string {
	if base == p { // one file by its name
		if strings.HasSuffix(c.To, "/") || c.To == "" {
			return path.Join(c.To, path.Base(p))
		}
		return path.Clean(c.To)
	}
	return path.Join(c.To, strings.TrimPrefix(p, base+"/"))
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
