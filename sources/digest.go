package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
)

// absent is the digest of a path where there is nothing.
const absent = "-"

// Digests returns what tells, of each path of a snapshot, whether it is as it was, without
// reading it: equal digests of a file mean equal content, those of a folder equal names in
// it, and that nothing is there is a digest, too. It returns false where the snapshot does
// not know.
func Digests(s Snapshot) func(path string) (string, bool) {
	x := digests{files: map[string]string{}, folders: map[string][]string{".": nil}}
	for _, f := range s.Files() {
		x.files[f.Path] = f.Digest
		x.add(f.Path, fmt.Sprint(f.Kind))
	}
	return x.of
}

type digests struct {
	files   map[string]string // "" where the snapshot knows none
	folders map[string][]string
}

// add lists a path in its folder, and the folder in the one above it.
func (x *digests) add(p, kind string) {
	dir := path.Dir(p)
	_, known := x.folders[dir]
	x.folders[dir] = append(x.folders[dir], path.Base(p)+"\x00"+kind)
	if !known {
		x.add(dir, "folder")
	}
}

func (x *digests) of(p string) (string, bool) {
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
