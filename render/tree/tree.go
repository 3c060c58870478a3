// Package tree lays out the files of one cluster, as they stand on its branch:
//
//	kustomization.yaml                                   lists every manifest, or parts: Flux syncs "."
//	manifests/<namespace>/<kind>[.<group>]/<name>.yaml   Argo CD syncs "manifests", recursively
//	manifests/_cluster/<kind>[.<group>]/<name>.yaml      cluster-scoped objects
//	flux/part.<n>.yaml, flux/part.<n>/kustomization.yaml above 2,000 objects: a part, which Flux syncs on its own
//	flux/<namespace>/kustomization.yaml                  the form before parts, on branches that have it
//	waybill.metadata                                     JSON; no extension, so that no tool takes it for a manifest
//	waybill.services                                     JSON, likewise: what the cluster exports and imports, if anything
//	hydrator.metadata                                    JSON: the source and its commit, for GitOps Promoter
//	.gitattributes
//
// One object a file. There is never a .json, a List, a duplicate or a YAML file
// that is no object below manifests, because Flux or Argo CD fail on each.
//
// A tree is a files.Folder: immutable, addressed by content, sharing what is
// equal. The package does not say what belongs into a cluster, and writes nothing.
//
// # Cost
//
// A Builder keeps the folders of all trees that it built and returns the one that it has
// for one that is equal, so that clusters which differ in a namespace share the others.
// A layout costs the hash of each of its folders, and the list of its manifests is written
// once more: 1,000 manifests cost as much as their folders' entries, not as their files.
// Clusters that hold the same share one layout, and one tree unless the tree has parts,
// whose children name the cluster: then each costs its children and two folders. The limit is the length of a folder: a namespace with very many objects
// of one kind is one folder, which is hashed anew whenever one of them changes.
//
// # Decisions
//
// The tree of a cluster that is to hold nothing lists no resources. Kustomize
// refuses such a kustomization, so Flux reports an error and keeps what it has
// applied, where an empty folder would make it delete everything.
//
// A part, or a folder of the form before, stays once it is there, because a Flux object
// may name it: a path that is gone is an error, and what was applied from it would stay
// for ever. When it has nothing left its kustomization builds to nothing, which Flux
// accepts and prunes by; that the objects may go, the plan's guard has decided.
package tree

import (
	"bytes"
	"strings"

	"github.com/waybill-dev/waybill/render/object"
	"github.com/waybill-dev/waybill/sources/files"
)

// MetadataFile marks what Waybill wrote: a cluster's branch, or a cluster's folder.
const MetadataFile = "waybill.metadata"

// ServicesFile says which services others import from a cluster, and which it imports. It is laid out with the plan, for a
// layout of manifests does not know it.
const ServicesFile = "waybill.services"

const (
	hydratorFile      = "hydrator.metadata"
	kustomizationFile = "kustomization.yaml"
	attributesFile    = ".gitattributes"
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
	sops       map[files.ID]bool // of manifests: whether SOPS encrypted them
	places     map[object.Ref]place
}

// place is where a manifest stands in every tree.
type place struct{ folder, name, path string }

func (b *Builder) place(r object.Ref) place {
	p, ok := b.places[r]
	if !ok {
		p = place{folder: folderOf(r), name: fileName(r.Name) + ".yaml"}
		p.path = p.folder + "/" + p.name
		b.places[r] = p
	}
	return p
}

// NewBuilder returns a Builder that knows no folder yet.
func NewBuilder() *Builder {
	return &Builder{
		folders:    map[files.ID]*files.Folder{},
		blobs:      map[files.ID]*files.Blob{},
		attributes: files.NewBlob([]byte("* linguist-generated\n")),
		sops:       map[files.ID]bool{},
		places:     map[object.Ref]place{},
	}
}

// kustomization is the root kustomization that lists paths.
func (b *Builder) kustomization(paths []string) files.Entry {
	return files.FileEntry(kustomizationFile, b.blob(kustomization(paths, "")))
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

// Layout is what clusters that hold the same manifests have in common, whatever syncs them.
type Layout struct {
	builder  *Builder
	list     []Manifest
	folder   *files.Folder // of the manifests; nil where there are none
	paths    []string      // in the order of the manifests
	listings map[division]listing
}

// LayOut lays out manifests, which are sorted by Ref and hold no Ref twice. The layout keeps
// the list.
func (b *Builder) LayOut(manifests []Manifest) *Layout {
	dirs, paths := b.layOut(manifests)
	l := &Layout{builder: b, list: manifests, paths: paths, listings: map[division]listing{}}
	if len(dirs) > 0 {
		l.folder = b.manifestFolder(dirs)
	}
	return l
}

// Tree returns the tree of a cluster that holds the manifests. It lacks waybill.metadata and
// hydrator.metadata, which depend on the commit and which WithMetadata adds. It fails if the
// tree before it cannot be read.
func (l *Layout) Tree(f Flux) (*files.Folder, error) {
	b := l.builder
	entries := []files.Entry{files.FileEntry(attributesFile, b.attributes)}
	if l.folder != nil {
		entries = append(entries, files.DirEntry(ManifestDir, l.folder))
	}
	folders := f.folders()
	if len(folders) == 0 && f.mayDivide(len(l.paths)) {
		listed, err := l.listing(f)
		if err != nil {
			return nil, err
		}
		if len(listed.parts) > 0 {
			f.Sync.Encrypted = f.Sync.Encrypted || listed.encrypted
			entries = append(entries, files.DirEntry(fluxDir, b.partsFolder(f.Sync, listed.parts)))
		}
		return b.share(files.NewFolder(append(entries, listed.root))), nil
	}
	if len(folders) > 0 {
		entries = append(entries, files.DirEntry(fluxDir, b.fluxFolders(l.paths, folders)))
	}
	return b.share(files.NewFolder(append(entries, b.kustomization(l.paths)))), nil
}

// layOut returns what goes into each folder, by namespace folder and kind folder, and the
// paths in the order of the manifests.
func (b *Builder) layOut(manifests []Manifest) (dirs map[string]map[string][]files.Entry, paths []string) {
	paths = make([]string, 0, len(manifests))
	dirs = map[string]map[string][]files.Entry{}
	for i := 0; i < len(manifests); {
		folder := b.place(manifests[i].Ref).folder
		_, rest, _ := strings.Cut(folder, "/")
		namespace, kind, _ := strings.Cut(rest, "/")
		var entries []files.Entry
		group := manifests[i].Ref
		for ; i < len(manifests) && sameFolder(manifests[i].Ref, group); i++ {
			p := b.place(manifests[i].Ref)
			entries = append(entries, files.FileEntry(p.name, manifests[i].Blob))
			paths = append(paths, p.path)
		}
		if dirs[namespace] == nil {
			dirs[namespace] = map[string][]files.Entry{}
		}
		dirs[namespace][kind] = append(dirs[namespace][kind], entries...)
	}
	return dirs, paths
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
