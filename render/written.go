package render

import (
	"fmt"
	"path"

	"github.com/waybill-dev/waybill/render/diag"
	"github.com/waybill-dev/waybill/render/tree"
	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/ignore"
)

// findWritten notes the folders that Waybill wrote: those with a waybill.metadata,
// whatever it says. What is in them was rendered from this source or from another,
// and is never read as one. The root is no such folder here: whoever takes a cluster's
// branch for a source wants to hear of it from what publishes.
func (l *loader) findWritten() {
	l.written = map[string]bool{}
	first := ""
	for _, f := range l.snapshot.Files() {
		dir, name := path.Split(f.Path)
		if name != tree.MetadataFile || dir == "" || f.Kind != sources.Regular && f.Kind != sources.Unreadable || hidden(f.Path) || l.ignored.Matches(f.Path, ignore.NoFolder) {
			continue
		}
		l.written[path.Clean(dir)] = true
		if first == "" || f.Path < first {
			first = f.Path
		}
	}
	if len(l.written) == 0 {
		return
	}
	which := "the folder holds what Waybill wrote, and is not read"
	if n := len(l.written); n > 1 {
		which = fmt.Sprintf("the folder and %d more hold what Waybill wrote, and are not read", n-1)
	}
	l.report(diag.Written, diag.Notice, diag.Pos{File: first}, which, "write it outside of the source, or name it in "+IgnoreFile)
}

// isWritten reports whether a file is in a folder that Waybill wrote.
func (l *loader) isWritten(file string) bool {
	for dir := path.Dir(file); len(l.written) > 0 && dir != "."; dir = path.Dir(dir) {
		if l.written[dir] {
			return true
		}
	}
	return false
}
