package twin

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// Texts is a snapshot of nothing but files, by path. It has no revision.
type Texts map[string]string

// Revision implements sources.Snapshot.
func (Texts) Revision() sources.Revision { return sources.Revision{} }

// Files implements sources.Snapshot.
func (t Texts) Files() []sources.File {
	all := make([]sources.File, 0, len(t))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		all = append(all, sources.File{Path: name, Size: int64(len(t[name])), Digest: files.Sum("blob", []byte(t[name])).String()})
	}
	return all
}

// ReadFile implements sources.Snapshot.
func (t Texts) ReadFile(path string) ([]byte, error) {
	text, ok := t[path]
	if !ok {
		return nil, fmt.Errorf("reading %s: %w", path, fs.ErrNotExist)
	}
	return []byte(text), nil
}
