package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill-dev/waybill/render/object"
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

// digests fills in what the broken parts hold now.
func (l *loader) digests() {
	for i := range l.src.Broken {
		b := &l.src.Broken[i]
		h := sha256.New()
		for _, f := range l.snapshot.Files() {
			if b.Ref == (object.Ref{}) && b.covers(f.Path) || b.Dir && f.Path == b.Path {
				fmt.Fprintf(h, "%q %d %s\n", f.Path, f.Kind, f.Digest)
			}
		}
		b.Digest = hex.EncodeToString(h.Sum(nil)[:8])
	}
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
	return b.covers(o.Pos().File)
}

// covers reports whether a file belongs to the part.
func (b Broken) covers(file string) bool {
	switch {
	case b.Dir:
		return b.Path == "." || strings.HasPrefix(file, b.Path+"/")
	case b.Path == "":
		return false
	}
	return file == b.Path
}
