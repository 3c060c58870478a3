package render

import (
	"maps"
	"path"
)

// learn notes the folders that Clusters are bound to, as far as files of the source say so, before
// anything of it is built.
func (l *loader) learn() error {
	if l.with.Unlisted {
		return nil
	}
	bound, err := l.directories(l.src.Objects, l.with.Inherited)
	for dir := range bound {
		l.bound[dir] = true
	}
	return err
}

// learned returns what is known of bound folders once everything is built, if a Cluster that a
// Kustomize root holds is bound to one that was not known of; nil otherwise.
func (l *loader) learned() (map[string]bool, error) {
	bound, err := l.directories(l.src.Objects, l.inherited)
	if err != nil || l.with.Unlisted {
		return nil, err
	}
	all := maps.Clone(l.bound)
	for dir := range bound {
		all[dir] = true
	}
	if len(all) == len(l.bound) {
		return nil, nil
	}
	return all, nil
}

// boundAt returns the innermost bound folder that a path is, or is in; empty for none.
func (l *loader) boundAt(p string) string {
	if len(l.bound) == 0 {
		return ""
	}
	for ; p != "." && p != ""; p = path.Dir(p) {
		if l.bound[p] {
			return p
		}
	}
	return ""
}

// mayTake reports whether what stands at a path may take what stands at another one in, so that it
// does not count by itself: nothing takes anything out of a bound folder that is not its own.
func (l *loader) mayTake(from, other string) bool {
	bound := l.boundAt(other)
	return bound == "" || bound == l.boundAt(from)
}

// isInner reports a kustomization in a bound folder that is within the folder of another one there:
// it is no root, as for Flux and for kubectl, which build the outer one.
func (l *loader) isInner(dir string) bool {
	bound := l.boundAt(dir)
	for bound != "" && dir != bound {
		if dir = folderOf(dir); l.kustomizations[dir] != "" {
			return true
		}
	}
	return false
}

// governing returns the folder of the kustomization that says whether a file is read; false if
// there is none. One at the top of the source says so of the files beside it alone.
func (l *loader) governing(file string) (dir string, is bool) {
	bound := l.boundAt(file)
	for dir = folderOf(file); dir != ""; dir = folderOf(dir) {
		if l.kustomizations[dir] != "" {
			return dir, true
		}
		if dir == bound {
			return "", false
		}
	}
	return "", l.kustomizations[""] != "" && folderOf(file) == ""
}
