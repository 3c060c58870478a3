// Package built says which files of a source a Kustomize root is built from.
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
	all := make(map[string][]File, len(roots))
	for _, root := range roots {
		var inputs []File
		for _, p := range reached(root, kustomizations, reads) {
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

// reached are the files and folders that a root leads to, in the order of paths.
func reached(root string, kustomizations map[string]string, reads map[string][]string) []string {
	seen := map[string]bool{}
	var add func(p string)
	add = func(p string) {
		if p == "." {
			p = ""
		}
		if seen[p] {
			return
		}
		seen[p] = true
		if file, is := kustomizations[p]; is {
			add(file)
		}
		for _, read := range reads[p] {
			add(path.Clean(read))
		}
	}
	add(root)
	return slices.Sorted(maps.Keys(seen))
}

// digestOf is the digest of a file that a store does not know.
func digestOf(s sources.Snapshot, file string) string {
	data, err := s.ReadFile(file)
	if err != nil {
		return ""
	}
	return files.NewBlob(data).ID().String()
}
