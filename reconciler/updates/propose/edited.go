package propose

import (
	"slices"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// edited is a snapshot in which files have another content.
type edited struct {
	sources.Snapshot

	contents map[string][]byte
	files    []sources.File
}

// newEdited returns a snapshot in which files that it has have another content.
func newEdited(s sources.Snapshot, contents map[string][]byte) sources.Snapshot {
	e := edited{Snapshot: s, contents: contents, files: slices.Clone(s.Files())}
	for i := range e.files {
		if data, is := contents[e.files[i].Path]; is {
			e.files[i].Size, e.files[i].Digest = int64(len(data)), files.Sum("blob", data).String()
		}
	}
	return e
}

// Revision implements sources.Snapshot. No commit has these files.
func (e edited) Revision() sources.Revision {
	r := e.Snapshot.Revision()
	return sources.Revision{Repo: r.Repo, Path: r.Path}
}

// Files implements sources.Snapshot.
func (e edited) Files() []sources.File { return e.files }

// ReadFile implements sources.Snapshot.
func (e edited) ReadFile(path string) ([]byte, error) {
	if data, is := e.contents[path]; is {
		return slices.Clone(data), nil
	}
	return e.Snapshot.ReadFile(path)
}
