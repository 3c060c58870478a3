// Package built says which files of a source a Kustomize root is built from, and where paths of a source lead.
package built

import (
	"maps"
	"path"
	"slices"

	"github.com/waybill-dev/waybill/sources"
	"github.com/waybill-dev/waybill/sources/files"
)

// File is one that a Kustomize root is built from.
type File struct {
	Path   string
	Digest string // the id of its content in Git; empty: it could not be read
}

// From returns what the Kustomize roots of a snapshot are built from, by the file of each one's kustomization. Kustomizations are those
// files by their folders, as roots are; reads is what the kustomization of a folder may use, files and folders.
func From(roots []string, s sources.Snapshot, kustomizations map[string]string, reads map[string][]string) map[string][]File {
	if len(roots) == 0 {
		return nil
	}
	digests := make(map[string]string, len(s.Files()))
	for _, f := range s.Files() {
		digests[f.Path] = f.Digest
	}
	next := func(p string) []string {
		if file, is := kustomizations[p]; is {
			return append([]string{file}, reads[p]...)
		}
		return reads[p]
	}
	all := make(map[string][]File, len(roots))
	for _, root := range roots {
		var inputs []File
		for _, p := range slices.Sorted(maps.Keys(Reach(next, root))) {
			digest, is := digests[p]
			if !is {
				continue // a folder, or what is not there
			}
			if digest == "" { // it is edited, or in a directory that is in no repository
				digest = digestOf(s, p)
				digests[p] = digest
			}
			inputs = append(inputs, File{p, digest})
		}
		all[kustomizations[root]] = inputs
	}
	return all
}

// Reach returns where paths lead, themselves among it: next says where each one does. The folder of all is the empty path.
func Reach(next func(p string) []string, from ...string) map[string]bool {
	seen := map[string]bool{}
	var add func(p string)
	add = func(p string) {
		if p = path.Clean(p); p == "." {
			p = ""
		}
		if seen[p] {
			return
		}
		seen[p] = true
		for _, to := range next(p) {
			add(to)
		}
	}
	for _, p := range from {
		add(p)
	}
	return seen
}

// digestOf is the digest of a file that a store does not know.
func digestOf(s sources.Snapshot, file string) string {
	data, err := s.ReadFile(file)
	if err != nil {
		return ""
	}
	return files.NewBlob(data).ID().String()
}
