package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/render/built"
	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources"
)

// Broken is a part of a source that could not be read: a file or, where Dir is
// set, all below it, which is all of the source for "."; or one object of it, where Ref
// is set.
type Broken struct {
	Path string
	Dir  bool
	Ref  object.Ref
	// Cluster is the cluster that the object of Ref is bound to by its directory; empty
	// for one of the whole source.
	Cluster string
	// Digest is equal for equal content of Path: what is in it is not new then.
	Digest string
}

// digests fills in what the broken parts hold now, as far as it can be known: their own
// files, what is behind a link and, of a Kustomize root, all that it builds from.
func (l *loader) digests() {
	if len(l.src.Broken) == 0 {
		return
	}
	all := slices.SortedFunc(slices.Values(l.snapshot.Files()), func(a, b sources.File) int { return strings.Compare(a.Path, b.Path) })
	targets := map[string]string{}
	for _, f := range all {
		if f.Target != "" && !path.IsAbs(f.Target) {
			targets[f.Path] = path.Join(path.Dir(f.Path), f.Target)
		}
	}
	for i := range l.src.Broken {
		b := &l.src.Broken[i]
		if b.Ref != (object.Ref{}) {
			continue
		}
		reach := l.reachOf(b.Path, targets)
		h := sha256.New()
		for _, f := range all {
			if b.Covers(f.Path) || isBelow(f.Path, reach) {
				fmt.Fprintf(h, "%q %d %s\n", f.Path, f.Kind, f.Digest)
			}
		}
		b.Digest = hex.EncodeToString(h.Sum(nil)[:8])
	}
}

// reachOf returns the paths that a part reads besides its own: where links lead, and what
// kustomizations use.
func (l *loader) reachOf(part string, targets map[string]string) map[string]bool {
	next := func(p string) []string {
		if to, is := targets[p]; is {
			return append([]string{to}, l.reads[p]...)
		}
		return l.reads[p]
	}
	from := []string{part}
	if l.kustomizations[folderOf(part)] == part {
		from = append(from, folderOf(part))
	}
	return built.Reach(next, from...)
}

// isBelow reports a path that is one of some, or below one. The empty path is all of the
// source.
func isBelow(p string, paths map[string]bool) bool {
	for ; p != "." && p != ""; p = path.Dir(p) {
		if paths[p] {
			return true
		}
	}
	return paths[""]
}

// String names the part as it is remembered between plans.
func (b Broken) String() string {
	switch {
	case b.Cluster != "":
		return "cluster " + b.Cluster + "/" + b.Ref.String()
	case b.Ref != object.Ref{}:
		return b.Ref.String()
	case b.Dir:
		return quoted(b.Path) + "/"
	}
	return quoted(b.Path)
}

// quoted returns a path as it can be written in JSON, which has no bytes that are no
// UTF-8: in quotes then, and so is one that begins with a quote.
func quoted(path string) string {
	if utf8.ValidString(path) && !strings.HasPrefix(path, `"`) {
		return path
	}
	return strconv.Quote(path)
}

// Holds reports whether an object belongs to the part, if it is one of the cluster of the
// part or, where that is empty, of the whole source.
func (b Broken) Holds(o *object.Object) bool {
	if b.Ref != (object.Ref{}) {
		return o.Ref() == b.Ref
	}
	return b.Covers(o.Pos().File)
}

// Covers reports whether a file belongs to the part.
func (b Broken) Covers(file string) bool {
	switch {
	case b.Dir:
		return b.Path == "." || strings.HasPrefix(file, b.Path+"/")
	case b.Path == "":
		return false
	}
	return file == b.Path
}
