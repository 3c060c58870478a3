package render

import (
	"fmt"
	"slices"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/sources/words"
)

// passOver takes out of Objects what stands where a kustomization says what is read, and is not
// listed. Policies, Clusters and what cannot be read, which may be one, stay.
func (l *loader) passOver(u *uses, reached map[string]bool) {
	if l.with.Unlisted {
		return
	}
	kept := l.src.Objects[:0:0]
	files := map[string]bool{}
	for _, o := range l.src.Objects {
		file := o.Pos().File
		if _, governed := l.governing(file); !governed || IsPolicy(o.Ref()) {
			kept = append(kept, o)
			continue
		}
		l.unlisted = append(l.unlisted, o)
		files[file] = true
	}
	l.src.Objects = kept
	l.mute(files)
	for dir, file := range l.kustomizations {
		if l.isInner(dir) && !reached[dir] && !u.apart[dir] {
			files[file] = true
		}
	}
	l.src.Unlisted = sortedKeys(files)
	l.unread = u.unread
}

// mute takes back what was said of files that are not read, unless they are broken.
func (l *loader) mute(files map[string]bool) {
	broken := map[string]bool{}
	for _, b := range l.src.Broken {
		broken[b.Path] = true
	}
	l.src.Diags = slices.DeleteFunc(l.src.Diags, func(d diag.Diagnostic) bool { return files[d.Pos.File] && !broken[d.Pos.File] })
}

// tellUnlisted names, for each kustomization, what it does not list.
func (l *loader) tellUnlisted() {
	by := map[string][]string{}
	for _, file := range l.src.Unlisted {
		dir, _ := l.governing(file)
		if l.kustomizations[dir] == file { // it is one that is not used itself
			dir, _ = l.governing(dir)
		}
		if _, isUnused := slices.BinarySearch(l.src.Unlisted, l.kustomizations[dir]); !isUnused && !l.unread[dir] {
			by[dir] = append(by[dir], file)
		}
	}
	for _, dir := range sortedKeys(by) {
		l.report(diag.NotListed, diag.Notice, diag.Pos{File: l.kustomizations[dir], Line: 1},
			fmt.Sprintf("%s not listed here, and not read: %s", areFiles(len(by[dir])), words.List(by[dir])),
			"list what is to be delivered, or name it in "+IgnoreFile)
	}
}

func areFiles(n int) string {
	if n == 1 {
		return "1 file with manifests is"
	}
	return fmt.Sprintf("%d files with manifests are", n)
}
