package renderer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"

	"github.com/waybill-dev/waybill/sources"
)

// absent is the digest of a path where there is nothing.
const absent = "-"

// index tells what is at a path of a snapshot, without reading it.
type index struct {
	files   map[string]string // the digest of a file; "" where the snapshot knows none
	folders map[string][]string
}

func newIndex(s sources.Snapshot) *index {
	x := &index{files: map[string]string{}, folders: map[string][]string{".": nil}}
	for _, f := range s.Files() {
		x.files[f.Path] = f.Digest
		x.add(f.Path, fmt.Sprint(f.Kind))
	}
	return x
}

// add lists a path in its folder, and the folder in the one above it.
func (x *index) add(p, kind string) {
	dir := path.Dir(p)
	_, known := x.folders[dir]
	x.folders[dir] = append(x.folders[dir], path.Base(p)+"\x00"+kind)
	if !known {
		x.add(dir, "folder")
	}
}

// digest returns what identifies a file by content and a folder by the names in it;
// false if the snapshot does not know.
func (x *index) digest(p string) (string, bool) {
	if d, ok := x.files[p]; ok {
		return d, d != ""
	}
	names, ok := x.folders[p]
	if !ok {
		return absent, true
	}
	h := sha256.New()
	for _, n := range slices.Sorted(slices.Values(names)) {
		fmt.Fprintf(h, "%s\n", n)
	}
	return hex.EncodeToString(h.Sum(nil)), true
}
