// Package tree lays out the files of one cluster, as they stand on its branch:
//
//	kustomization.yaml                                   lists every manifest: Flux syncs "."
//	manifests/<namespace>/<kind>[.<group>]/<name>.yaml   Argo CD syncs "manifests", recursively
//	manifests/_cluster/<kind>[.<group>]/<name>.yaml      cluster-scoped objects
//	flux/<namespace>/kustomization.yaml                  only over 500 objects: Flux by namespace
//	waybill.metadata                                     JSON; no extension, so that no tool takes it for a manifest
//	.gitattributes
//
// One object a file. There is never a .json, a List, a duplicate or a YAML file
// that is no object below manifests, because Flux or Argo CD fail on each.
//
// A tree is a files.Folder: immutable, addressed by content, sharing what is
// equal. The package does not say what belongs into a cluster, and writes nothing.
//
// # Decisions
//
// The tree of a cluster that is to hold nothing lists no resources. Kustomize
// refuses such a kustomization, so Flux reports an error and keeps what it has
// applied, where an empty folder would make it delete everything.
package tree

import (
	"bytes"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// maxPerKustomization is the most objects that Flux is given in one kustomization:
// the time to build one grows with the square of its objects.
const maxPerKustomization = 500

const (
	kustomizationFile = "kustomization.yaml"
	metadataFile      = "waybill.metadata"
	attributesFile    = ".gitattributes"
	fluxDir           = "flux"
)

// Manifest is one object of a tree: its name and its file.
type Manifest struct {
	Ref  object.Ref
	Blob *files.Blob
}

// Builder builds trees that share their equal folders. It is not safe for
// concurrent use.
type Builder struct {
	folders    map[files.ID]*files.Folder
	blobs      map[files.ID]*files.Blob
	attributes *files.Blob
}

// NewBuilder returns a Builder that knows no folder yet.
func NewBuilder() *Builder {
	return &Builder{
		folders:    map[files.ID]*files.Folder{},
		blobs:      map[files.ID]*files.Blob{},
		attributes: files.NewBlob([]byte("* linguist-generated\n")),
	}
}

// share returns the folder that was built first of those equal to f.
func (b *Builder) share(f *files.Folder) *files.Folder {
	if known, ok := b.folders[f.ID()]; ok {
		return known
	}
	b.folders[f.ID()] = f
	return f
}

func (b *Builder) blob(data []byte) *files.Blob {
	f := files.NewBlob(data)
	if known, ok := b.blobs[f.ID()]; ok {
		return known
	}
	b.blobs[f.ID()] = f
	return f
}

// Build returns the tree that holds the manifests, which are sorted by Ref and
// hold no Ref twice. It lacks waybill.metadata, which depends on the commit and
// which WithMetadata adds.
func (b *Builder) Build(manifests []Manifest) *files.Folder {
	root := map[string]files.Entry{}
	paths := make([]string, 0, len(manifests))
	dirs := map[string]map[string][]files.Entry{} // namespace folder, kind folder
	for i := 0; i < len(manifests); {
		folder := folderOf(manifests[i].Ref)
		_, rest, _ := strings.Cut(folder, "/")
		namespace, kind, _ := strings.Cut(rest, "/")
		var entries []files.Entry
		group := manifests[i].Ref
		for ; i < len(manifests) && sameFolder(manifests[i].Ref, group); i++ {
			name := fileName(manifests[i].Ref.Name) + ".yaml"
			entries = append(entries, files.FileEntry(name, manifests[i].Blob))
			paths = append(paths, folder+"/"+name)
		}
		if dirs[namespace] == nil {
			dirs[namespace] = map[string][]files.Entry{}
		}
		dirs[namespace][kind] = append(dirs[namespace][kind], entries...)
	}
	if len(dirs) > 0 {
		root[ManifestDir] = files.DirEntry(ManifestDir, b.manifestFolder(dirs))
	}
	root[kustomizationFile] = files.FileEntry(kustomizationFile, b.blob(kustomization(paths, "")))
	root[attributesFile] = files.FileEntry(attributesFile, b.attributes)
	if len(manifests) > maxPerKustomization {
		root[fluxDir] = files.DirEntry(fluxDir, b.fluxFolder(paths))
	}
	entries := make([]files.Entry, 0, len(root))
	for _, e := range root {
		entries = append(entries, e)
	}
	return b.share(files.NewFolder(entries))
}

func sameFolder(a, b object.Ref) bool {
	return a.Namespace == b.Namespace && a.Group == b.Group && a.Kind == b.Kind
}

func (b *Builder) manifestFolder(dirs map[string]map[string][]files.Entry) *files.Folder {
	var namespaces []files.Entry
	for namespace, kinds := range dirs {
		var folders []files.Entry
		for kind, entries := range kinds {
			folders = append(folders, files.DirEntry(kind, b.share(files.NewFolder(entries))))
		}
		namespaces = append(namespaces, files.DirEntry(namespace, b.share(files.NewFolder(folders))))
	}
	return b.share(files.NewFolder(namespaces))
}

// fluxFolder holds a kustomization for each namespace folder of paths.
func (b *Builder) fluxFolder(paths []string) *files.Folder {
	var entries []files.Entry
	for start := 0; start < len(paths); {
		namespace := strings.Split(paths[start], "/")[1]
		end := start
		for end < len(paths) && strings.Split(paths[end], "/")[1] == namespace {
			end++
		}
		file := files.FileEntry(kustomizationFile, b.blob(kustomization(paths[start:end], "../../")))
		entries = append(entries, files.DirEntry(namespace, b.share(files.NewFolder([]files.Entry{file}))))
		start = end
	}
	return b.share(files.NewFolder(entries))
}

// kustomization lists paths, each behind prefix. The text is fixed to the byte:
// Listed reads it back.
func kustomization(paths []string, prefix string) []byte {
	var buf bytes.Buffer
	buf.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	if len(paths) == 0 {
		buf.WriteString("resources: []\n")
		return buf.Bytes()
	}
	buf.WriteString("resources:\n")
	for _, p := range paths {
		buf.WriteString("- " + prefix + p + "\n")
	}
	return buf.Bytes()
}

// listed reads back the paths that kustomization wrote.
func listed(data []byte) []string {
	var paths []string
	for line := range strings.Lines(string(data)) {
		if p, ok := strings.CutPrefix(line, "- "); ok {
			paths = append(paths, strings.TrimSuffix(p, "\n"))
		}
	}
	return paths
}
